"""Any Python function as jobs, and a check whether it is one."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cache, partial
from itertools import product

import numpy as np

from pickbest.core import PickbestError, check_count
from pickbest.submodular.jobs.actions import Schedule, check_actions, show

ROUNDING = 1e-9
# `check_job` asks for the value of at most this many schedules.
MOST_ASKED = 100_000
Job = Callable[[Schedule], float]


class FunctionJobs:
    """function(round, schedule) -> value in [0, 1]; the same for all replicates.

    It must give the same value when it is asked twice, and is asked once a schedule and round.

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


def asked_value(job: Job, schedule: Schedule, where: str = "") -> float:
    """job(schedule), or an error that names the schedule if it fails."""
    try:
        return float(job(schedule))
    except Exception as error:
        raise PickbestError(
            f"{where}the job failed on the schedule {show(schedule)}: "
            f"{type(error).__name__}: {error}"
        ) from error


def checked_value(job: Job, schedule: Schedule, where: str = "") -> float:
    """As `asked_value`, or an error if the value leaves [0, 1]."""
    value = asked_value(job, schedule, where)
    if not -ROUNDING <= value <= 1.0 + ROUNDING:
        raise PickbestError(
            f"{where}a job must be between 0 and 1, got {value:g} for the schedule {show(schedule)}"
        )
    return min(max(value, 0.0), 1.0)


# Is a function a job? ---------------------------------------------------------------------------


def check_job(job: Job, actions: Iterable[Hashable], longest: int = 4) -> dict[str, str]:
    """What a function lacks of what the theorems assume of a job: {} where it lacks nothing.

    The rules are "range", "monotone", "assumption 1" (an action in the middle never hurts) and
    "submodular"; each rule that is violated comes with a sentence about its worst case. Every
    schedule of up to `longest` actions is asked for. Rules are tested in their one-step form, which
    implies the paper's by induction: insert one action anywhere (Assumption 1, and monotonicity at
    the ends); put one action before the last (submodularity).

    >>> check_job(lambda schedule: min(1.0, 0.1 * len(schedule) ** 2), [0, 1], longest=3)
    {'submodular': '⟨0⟩ adds 0.2 more at the end of ⟨0, 0⟩ than at the end of ⟨0⟩'}
    """
    chosen = check_actions(actions)
    count = sum(len(chosen) ** k for k in range(check_count("longest", longest) + 1))
    if count > MOST_ASKED:
        raise PickbestError(
            f"{len(chosen)} actions make {count:,} schedules of up to {longest}, more than "
            f"{MOST_ASKED:,}: give fewer actions or a smaller longest"
        )
    values = cache(partial(asked_value, job))
    worst: dict[str, tuple[float, str]] = {}
    for length in range(longest + 1):
        for schedule in product(chosen, repeat=length):
            for rule, amount, sentence in _violations(values, schedule):
                if amount > worst.get(rule, (0.0, ""))[0] + ROUNDING:
                    worst[rule] = (amount, sentence)
    return {rule: sentence for rule, (_, sentence) in worst.items()}


def _violations(values: Job, schedule: Schedule) -> Iterator[tuple[str, float, str]]:
    """(rule, amount, sentence) for each rule that this schedule violates by more than rounding."""
    value, last = values(schedule), len(schedule) - 1
    outside = max(-value, value - 1.0) if np.isfinite(value) else np.inf
    yield "range", outside, f"the value of {show(schedule)} leaves [0, 1] by {outside:g}"
    for place in range(len(schedule)):
        shorter = schedule[:place] + schedule[place + 1 :]
        loss = values(shorter) - value
        rule = "monotone" if place in (0, last) else "assumption 1"
        yield rule, loss, f"{show(schedule)} is worth {loss:g} less than {show(shorter)}"
    if last >= 1:
        # f(S1 + b + a) - f(S1 + b) ≤ f(S1 + a) - f(S1).
        start, end = schedule[:-2], schedule[-1:]
        excess = value - values(schedule[:-1]) - (values(start + end) - values(start))
        yield (
            "submodular",
            excess,
            f"{show(end)} adds {excess:g} more at the end of {show(schedule)} "
            f"than at the end of {show(start + end)}",
        )
