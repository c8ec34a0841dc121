"""Any Python function as jobs."""

from collections.abc import Callable, Hashable, Iterable
from functools import cache, partial

from pickbest.core import PickbestError, check_count
from pickbest.submodular.jobs.actions import Schedule, check_actions, show

ROUNDING = 1e-9
Job = Callable[[Schedule], float]


class FunctionJobs:
    """function(round, schedule) -> value in [0, 1]; the same for all replicates.

    It must give the same value when it is asked twice, and is asked once a schedule and round. The
    theorems hold if one more action never hurts, wherever it is put in, and if an action adds no
    more at the end of a longer schedule: nothing here checks that.

    >>> from pickbest.submodular.jobs import Action
    >>> jobs = FunctionJobs(lambda t, schedule: min(1.0, 0.4 * len(schedule)), "ab", rounds=1)
    >>> jobs.job(0)((Action("a"), Action("b")))
    0.8
    """

    def __init__(
        self, function: Callable[[int, Schedule], float], actions: Iterable[Hashable], rounds: int
    ) -> None:
        self.function = function
        self.actions = check_actions(actions)
        self.rounds = check_count("rounds", rounds)

    def round(self, index: int) -> "RoundJob":
        """The job of round `index`, counted from 0."""
        check_round(index, self.rounds)
        return RoundJob(self.job(index), f"round {index}")

    def job(self, index: int) -> Job:
        """The function in one round, with its values checked."""
        return partial(checked_value, partial(self.function, index), where=f"round {index}: ")


class RoundJob:
    """The job of one round, which remembers the values that it was asked for."""

    def __init__(self, job: Job, label: str) -> None:
        self.value = cache(job)
        self.label = label


def check_round(index: int, rounds: int) -> None:
    """A round is counted from 0."""
    if not 0 <= index < rounds:
        raise PickbestError(f"round must be between 0 and {rounds - 1}, got {index}")


def checked_value(job: Job, schedule: Schedule, where: str) -> float:
    """job(schedule), or an error that names the schedule if it fails or its value is none."""
    try:
        value = float(job(schedule))
    except Exception as error:
        raise PickbestError(
            f"{where}the job failed on the schedule {show(schedule)}: "
            f"{type(error).__name__}: {error}"
        ) from error
    if not -ROUNDING <= value <= 1.0 + ROUNDING:
        raise PickbestError(
            f"{where}a job must be between 0 and 1, got {value:g} for the schedule {show(schedule)}"
        )
    return min(max(value, 0.0), 1.0)
