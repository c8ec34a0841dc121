"""What is learned when a run was stopped early and its cost is therefore not known.

A run that was stopped because another arm had answered is censored: its cost lies between a
low and a high bound. Nothing is invented; the user chooses what stands in for it:

- stop="deadline": nothing is stopped early, so every cost is known.
- stop="first" with WATCH: a coin decides beforehand, with probability `watch` and from the
  round's own randomness, that a round is watched to its end. Only watched rounds are learned,
  with weights divided by `watch`, so every estimate keeps the expectation that it would have
  if all rounds were seen: unbiased, whatever the arms' runtimes have to do with each other.
- stop="first" with OPTIMISTIC: the lowest cost that the run could have had.
- stop="first" with PESSIMISTIC, the default: the highest. An arm is then credited for what
  it adds to the arms beside it, not for what another would have delivered anyway; on replayed
  runtimes (docs/portfolio.md) this cost least and used the least processor time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pickbest.core import PickbestError, unknown_name
from pickbest.portfolio.runs import Run


class Stop(StrEnum):
    """When the arms of a round are stopped: at the first acceptable answer, or at the deadline."""

    FIRST = "first"
    DEADLINE = "deadline"


class Censored(StrEnum):
    """What stands in for a cost that is not known."""

    WATCH = "watch"
    OPTIMISTIC = "optimistic"
    PESSIMISTIC = "pessimistic"


@dataclass(frozen=True)
class Stopping:
    """When to stop, what to learn then, and how many rounds are watched (for WATCH)."""

    stop: Stop = Stop.FIRST
    censored: Censored = Censored.PESSIMISTIC
    watch: float = 0.25

    def __post_init__(self) -> None:
        if not 0.0 < self.watch <= 1.0:
            raise PickbestError(f"watch must be above 0 and at most 1, got {self.watch!r}")

    @property
    def watch_probability(self) -> float:
        """How likely a round is watched to its end."""
        if self.stop is Stop.DEADLINE:
            return 1.0
        return self.watch if self.censored is Censored.WATCH else 0.0

    @classmethod
    def of(cls, stop: str, censored: str, watch: float) -> Stopping:
        """From names, as users write them.

        >>> Stopping.of("first", "watch", 0.5).watch_probability
        0.5
        """
        for kind, name, value in ((Stop, "stop", stop), (Censored, "censored", censored)):
            if value not in [choice.value for choice in kind]:
                raise unknown_name(name, value, [choice.value for choice in kind])
        return cls(Stop(stop), Censored(censored), watch)


def learned_costs(
    runs: Sequence[Run], stopping: Stopping, watched: bool
) -> tuple[tuple[float, ...] | None, float]:
    """(costs to learn in the order of the runs, or None; factor on the weights)."""
    if stopping.stop is Stop.FIRST and stopping.censored is Censored.WATCH:
        # Rounds that happened to be seen whole must not count: their costs are not typical.
        if not watched or any(run.cost is None for run in runs):
            return None, 1.0
        return tuple(run.cost for run in runs if run.cost is not None), 1.0 / stopping.watch
    optimistic = stopping.censored is Censored.OPTIMISTIC
    return tuple(run.low if optimistic else run.high for run in runs), 1.0
