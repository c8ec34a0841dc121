"""What a sequence of jobs can be asked: the protocol between jobs and those who use them.

A schedule that is being built is known by its summary, an array (replicates, width) that only
the job understands. Everything else is pure: a summary goes in, numbers or a new one come out.
"""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from pickbest.core import BoolArray, FloatArray, IntArray
from pickbest.submodular.jobs.schedules import Schedule

Job = Callable[[Schedule], float]
# In place of an arm whose gain is not asked for: the gain is 0.
NOTHING = -1


@runtime_checkable
class RoundJobs(Protocol):
    """The jobs of one round, one a replicate."""

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
