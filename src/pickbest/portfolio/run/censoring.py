"""What is learned when a run was stopped early and its cost is therefore not known.

A run that was stopped because another arm had answered is censored: its cost lies between a
low and a high bound. Nothing is invented; with stop="first", the user chooses:

- INTERVALS, the default: the learner is told the intervals, and says how likely it wants a round to
  be watched to its end (see `learners.auto.stopped`); `watch`, where it is set, is the most that it
  gets. One that knows no intervals is told the highest.
- WATCH: a coin decides beforehand, with probability `watch` and from the round's own randomness,
  that a round is watched to its end. Only watched rounds are learned, with weights divided by
  `watch`, so every estimate keeps the expectation that it would have if all rounds were seen.
- OPTIMISTIC: the lowest cost that the run could have had.
- PESSIMISTIC: the highest. An arm is then credited for what it adds to the arms beside it, not
  for what another would have delivered anyway.

With stop="deadline" nothing is stopped early, so every cost is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from pickbest.core import check_share, unknown_name
from pickbest.portfolio.runs import Run, RunStatus

# The share of rounds that WATCH watches, unless somebody says another one.
USUAL_WATCH = 0.25


class Stop(StrEnum):
    """When the arms of a round are stopped: at the first acceptable answer, or at the deadline."""

    FIRST = "first"
    DEADLINE = "deadline"


class Censored(StrEnum):
    """What stands in for a cost that is not known."""

    INTERVALS = "intervals"
    WATCH = "watch"
    OPTIMISTIC = "optimistic"
    PESSIMISTIC = "pessimistic"


@dataclass(frozen=True)
class Stopping:
    """When to stop, what to learn then, and how many rounds are watched (INTERVALS: at most)."""

    stop: Stop = Stop.FIRST
    censored: Censored = Censored.INTERVALS
    watch: float | None = None

    def __post_init__(self) -> None:
        if self.watch is not None:
            check_share("watch", self.watch)

    @property
    def watch_share(self) -> float:
        """Of rounds that are watched by the rule WATCH."""
        return USUAL_WATCH if self.watch is None else self.watch

    @property
    def learner_decides(self) -> bool:
        """Whether a round is watched as likely as the learner says."""
        return self.stop is Stop.FIRST and self.censored is Censored.INTERVALS

    @property
    def watch_probability(self) -> float:
        """How likely a round is watched to its end; at most, where the learner decides."""
        if self.stop is Stop.DEADLINE:
            return 1.0
        if self.censored is Censored.INTERVALS:
            return 1.0 if self.watch is None else self.watch
        return self.watch_share if self.censored is Censored.WATCH else 0.0

    @classmethod
    def of(cls, stop: str, censored: str, watch: float | None = None) -> Stopping:
        """From names, as users write them.

        >>> Stopping.of("first", "watch", 0.5).watch_probability
        0.5
        """
        for kind, name, value in ((Stop, "stop", stop), (Censored, "censored", censored)):
            if value not in [choice.value for choice in kind]:
                raise unknown_name(name, value, [choice.value for choice in kind])
        return cls(Stop(stop), Censored(censored), watch)


class Lesson(NamedTuple):
    """What a round teaches, as the journal keeps it: see `store.records.Finished`."""

    learned: tuple[float, ...] | None
    scale: float = 1.0
    highest: tuple[float, ...] = ()
    times: tuple[float, ...] = ()


def lesson(
    runs: Sequence[Run], times: Sequence[float], stopping: Stopping, watched: bool
) -> Lesson:
    """What runs teach, in their order; times: see `core.intervals.Intervals`."""
    low, high = tuple(run.low for run in runs), tuple(run.high for run in runs)
    if stopping.censored is Censored.INTERVALS:
        return Lesson(low, 1.0, high, tuple(times))
    if stopping.stop is Stop.FIRST and stopping.censored is Censored.WATCH:
        # Rounds that happened to be seen whole must not count: their costs are not typical.
        if not watched or any(run.cost is None for run in runs):
            return Lesson(None)
        return Lesson(low, 1.0 / stopping.watch_share)
    return Lesson(low if stopping.censored is Censored.OPTIMISTIC else high)


def times_of(
    runs: Sequence[Run], deadline: float, until: Sequence[float] = ()
) -> tuple[float, ...]:
    """When each run answered or was stopped, as a share of the deadline; 1: it never answers.

    until: where arms took turns; then no arm is known never to answer, but how long each ran.
    """
    return tuple(
        min(run.seconds / deadline, 1.0)
        if until or run.ends_race or run.status is RunStatus.STOPPED
        else 1.0
        for run in runs
    )
