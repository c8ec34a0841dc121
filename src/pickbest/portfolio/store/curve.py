"""Mean cost over time in bounded memory: sums at every so many finished rounds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

# When there are so many points, every other one is dropped.
MOST_POINTS = 256


class Sum(NamedTuple):
    """A sum of costs, and of how many."""

    total: float = 0.0
    of: int = 0

    @property
    def mean(self) -> float | None:
        return self.total / self.of if self.of else None


@dataclass
class Course:
    """Sums of costs up to some rounds; a part of the fold.

    step: a point is noted every so many finished rounds. rounds: their numbers. paid: what the
    portfolio paid. arms: each arm's sums; those that came later begin with empty ones.
    """

    step: int = 1
    rounds: list[int] = field(default_factory=list)
    paid: list[Sum] = field(default_factory=list)
    arms: dict[str, list[Sum]] = field(default_factory=dict)

    def note(self, finished: int, number: int, paid: Sum, arms: Mapping[str, Sum]) -> None:
        """Take in that a round was finished, as the `finished`-th."""
        if finished % self.step:
            return
        for arm in arms:
            self.arms.setdefault(arm, [Sum()] * len(self.rounds))
        self.rounds.append(number)
        self.paid.append(paid)
        for arm, sums in self.arms.items():
            sums.append(arms[arm])
        if len(self.rounds) == MOST_POINTS:
            self.step *= 2
            self.rounds, self.paid = self.rounds[1::2], self.paid[1::2]
            self.arms = {arm: sums[1::2] for arm, sums in self.arms.items()}


@dataclass(frozen=True)
class Curve:
    """Mean cost up to and including each of some rounds.

    rounds: their numbers. portfolio: what the portfolio paid. arms: each arm's mean over the
    rounds in which its cost was seen; None before the first.
    """

    rounds: list[int] = field(default_factory=list)
    portfolio: list[float | None] = field(default_factory=list)
    arms: dict[str, list[float | None]] = field(default_factory=dict)


def curve_of(course: Course, points: int) -> Curve:
    """The course as means, at about so many points; the last one is always there."""
    step = max(1, -(-len(course.rounds) // points))
    last = len(course.rounds) - 1
    places = [n for n in range(last + 1) if (n + 1) % step == 0 or n == last]
    return Curve(
        [course.rounds[n] for n in places],
        [course.paid[n].mean for n in places],
        {arm: [sums[n].mean for n in places] for arm, sums in course.arms.items()},
    )
