"""What a sequence of jobs can be asked, and any Python function as jobs.

A schedule that is being built is known by its summary, an array (replicates, width) that only
the job understands. Everything else is pure: a summary goes in, numbers or a new one come out.
"""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, runtime_checkable

import numpy as np

from pickbest.core import BoolArray, FloatArray, IntArray, PickbestError, check_count
from pickbest.submodular.jobs.actions import Action, Schedule, check_actions, show

ROUNDING = 1e-9
Job = Callable[[Schedule], float]
# In place of an arm whose gain is not asked for: the gain is 0.
NOTHING = -1


@runtime_checkable
class RoundJobs(Protocol):
    """The jobs of one round, one per replicate."""

    @property
    def label(self) -> str:
        """What errors call the round."""
        ...

    def start(self, replicates: int, longest: int) -> FloatArray:
        """Summaries of empty schedules, which will grow to at most `longest` actions."""
        ...

    def gains(self, summary: FloatArray, arms: IntArray | None = None) -> FloatArray:
        """(replicates, k) gains of appending arms (replicates, k), or each of all arms.

        No schedule is evaluated for the arm NOTHING. A loss counts as no gain: gains are in
        [0, 1] whether or not the job is monotone.
        """
        ...

    def extend(self, summary: FloatArray, arms: IntArray, kept: BoolArray) -> FloatArray:
        """New summaries, with arms (replicates,) appended where they are kept (replicates,)."""
        ...

    def values(self, summary: FloatArray) -> FloatArray:
        """(replicates,) values of the schedules."""
        ...


@runtime_checkable
class Jobs(Protocol):
    """The jobs of a game, round by round. Arm a of a learner is action a."""

    @property
    def actions(self) -> Schedule: ...

    @property
    def rounds(self) -> int: ...

    def round(self, index: int) -> RoundJobs:
        """The jobs of round `index`, counted from 0."""
        ...

    def job(self, index: int, replicate: int = 0) -> Job:
        """One job as a function of schedules, for `check_job` and for reading."""
        ...


class FunctionJobs:
    """function(round, schedule) -> value in [0, 1]; the same for all replicates.

    It must give the same value when it is asked twice, and is asked once a schedule and round.

    >>> jobs = FunctionJobs(lambda t, schedule: min(1.0, 0.4 * len(schedule)), "ab", rounds=1)
    >>> jobs.job(0)((Action("a"), Action("b")))
    0.8
    """

    def __init__(
        self,
        function: Callable[[int, Schedule], float],
        actions: Iterable[Action | Hashable],
        rounds: int,
    ) -> None:
        self.function = function
        self.actions = check_actions(actions)
        self.rounds = check_count("rounds", rounds)

    def round(self, index: int) -> "FunctionRound":
        """The job of round `index`, which remembers the values that it was asked for."""
        if not 0 <= index < self.rounds:
            raise PickbestError(f"round must be between 0 and {self.rounds - 1}, got {index}")
        return FunctionRound(self.job(index), self.actions, f"round {index}")

    def job(self, index: int, replicate: int = 0) -> Job:
        """The function in one round, with its values checked."""
        return partial(checked_value, partial(self.function, index), where=f"round {index}: ")


def value_of(job: Job, schedule: Schedule, where: str = "") -> float:
    """job(schedule), or an error that names the schedule if it fails."""
    try:
        return float(job(schedule))
    except Exception as error:
        raise PickbestError(
            f"{where}the job failed on the schedule {show(schedule)}: "
            f"{type(error).__name__}: {error}"
        ) from error


def checked_value(job: Job, schedule: Schedule, where: str = "") -> float:
    """As `value_of`, or an error if the value leaves [0, 1]."""
    value = value_of(job, schedule, where)
    if not -ROUNDING <= value <= 1.0 + ROUNDING:
        raise PickbestError(
            f"{where}a job must be between 0 and 1, got {value:g} for the schedule {show(schedule)}"
        )
    return min(max(value, 0.0), 1.0)


@dataclass(frozen=True, eq=False)
class FunctionRound:
    """One round's job. A summary is the schedule: its arms, then -1 for places still free."""

    job: Job
    actions: Schedule
    label: str
    _known: dict[Schedule, float] = field(default_factory=dict, repr=False)

    def start(self, replicates: int, longest: int) -> FloatArray:
        return np.full((replicates, longest + 1), -1.0)

    def gains(self, summary: FloatArray, arms: IntArray | None = None) -> FloatArray:
        if arms is None:
            arms = np.broadcast_to(np.arange(len(self.actions)), (len(summary), len(self.actions)))
        gains = np.empty(arms.shape)
        for r, row in enumerate(summary):
            prefix = self._schedule(row)
            before = self._value(prefix)
            for j, arm in enumerate(arms[r]):
                after = before
                if arm != NOTHING:
                    after = self._value((*prefix, self.actions[arm]))
                gains[r, j] = max(after - before, 0.0)
        return gains

    def extend(self, summary: FloatArray, arms: IntArray, kept: BoolArray) -> FloatArray:
        longer = summary.copy()
        place = (summary >= 0.0).sum(axis=1)
        rows = np.flatnonzero(kept)
        longer[rows, place[rows]] = arms[rows]
        return longer

    def values(self, summary: FloatArray) -> FloatArray:
        return np.array([self._value(self._schedule(row)) for row in summary])

    def _schedule(self, row: FloatArray) -> Schedule:
        return tuple(self.actions[int(arm)] for arm in row if arm >= 0.0)

    def _value(self, schedule: Schedule) -> float:
        if schedule not in self._known:
            self._known[schedule] = self.job(schedule)
        return self._known[schedule]
