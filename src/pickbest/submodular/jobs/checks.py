"""Is a function a job? Monotonicity, submodularity and Assumption 1, with counterexamples.

Each property is tested in its one-step form, which implies the paper's by induction: insert
one action anywhere (Assumption 1, and monotonicity at the ends); put one action before the
last (submodularity).
"""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import product

import numpy as np

from pickbest.core import check_count, check_seed
from pickbest.submodular.jobs.actions import Action, Schedule, check_actions, show
from pickbest.submodular.jobs.rounds import Job, value_of

ROUNDING = 1e-9


@dataclass(frozen=True)
class Violation:
    """A property that a function lacks, and schedules that show it.

    For "monotone" and "assumption 1", `smaller` has one action less than `larger` and is worth
    more. For "submodular", the last action of both adds more to the end of `larger` than to
    that of `smaller`. For "range", `larger` has a value outside [0, 1]. `amount`: by how much.
    """

    rule: str
    smaller: Schedule
    larger: Schedule
    amount: float

    def __str__(self) -> str:
        if self.rule == "range":
            return f"the value of {show(self.larger)} leaves [0, 1] by {self.amount:g}"
        if self.rule == "submodular":
            last = show(self.larger[-1:])
            return (
                f"{last} adds {self.amount:g} more at the end of {show(self.larger)} "
                f"than at the end of {show(self.smaller)}"
            )
        return f"{show(self.larger)} is worth {self.amount:g} less than {show(self.smaller)}"


@dataclass(frozen=True)
class JobReport:
    """What `check_job` found: true where nothing is violated.

    exhaustive: every schedule up to the given length was looked at, not a random sample.
    asked: the number of schedules whose value was asked for.
    """

    violations: tuple[Violation, ...]
    exhaustive: bool
    asked: int

    def __bool__(self) -> bool:
        return not self.violations

    def of(self, rule: str) -> tuple[Violation, ...]:
        """The violations of one rule: range, monotone, assumption 1 or submodular."""
        return tuple(v for v in self.violations if v.rule == rule)

    def __str__(self) -> str:
        how = "every schedule" if self.exhaustive else "a sample"
        if self:
            return f"a job, as far as {self.asked} values show ({how})"
        return "not a job:\n" + "\n".join(f"  {v.rule}: {v}" for v in self.violations)


def check_job(
    job: Job,
    actions: Iterable[Action | Hashable],
    longest: int = 4,
    tries: int = 2_000,
    most_asked: int = 20_000,
    seed: int = 0,
) -> JobReport:
    """Test a function of schedules for everything that the theorems assume of a job.

    longest: schedules have at most this many actions.
    tries: schedules drawn at random where there are more than `most_asked` in all.
    The report has the largest violation of each rule.

    >>> report = check_job(lambda schedule: min(1.0, 0.1 * len(schedule) ** 2), [0, 1], longest=3)
    >>> print(report)
    not a job:
      submodular: ⟨0⟩ adds 0.2 more at the end of ⟨0, 0⟩ than at the end of ⟨0⟩
    """
    chosen = check_actions(actions)
    check_count("longest", longest)
    check_count("tries", tries)
    count = sum(len(chosen) ** k for k in range(longest + 1))
    exhaustive = count <= most_asked
    schedules = _all(chosen, longest) if exhaustive else _drawn(chosen, longest, tries, seed)
    values = cache(partial(value_of, job))
    worst: dict[str, Violation] = {}
    for schedule in schedules:
        for violation in _violations(values, schedule):
            known = worst.get(violation.rule)
            if known is None or violation.amount > known.amount + ROUNDING:
                worst[violation.rule] = violation
    return JobReport(tuple(worst.values()), exhaustive, values.cache_info().currsize)


def _all(actions: Schedule, longest: int) -> Iterator[Schedule]:
    for k in range(longest + 1):
        yield from product(actions, repeat=k)


def _drawn(actions: Schedule, longest: int, tries: int, seed: int) -> Iterator[Schedule]:
    rng = np.random.default_rng(check_seed(seed))
    for _ in range(tries):
        size = int(rng.integers(1, longest + 1))
        yield tuple(actions[a] for a in rng.integers(len(actions), size=size))


def _violations(values: Job, schedule: Schedule) -> Iterator[Violation]:
    """Those in which this schedule is the larger one."""
    value = values(schedule)
    # Not a plain comparison: NaN is outside as well.
    if not 0.0 - ROUNDING <= value <= 1.0 + ROUNDING:
        outside = max(-value, value - 1.0) if np.isfinite(value) else np.inf
        yield Violation("range", schedule, schedule, outside)
    last = len(schedule) - 1
    for place in range(len(schedule)):
        shorter = schedule[:place] + schedule[place + 1 :]
        loss = values(shorter) - value
        if loss > ROUNDING:
            rule = "monotone" if place in (0, last) else "assumption 1"
            yield Violation(rule, shorter, schedule, loss)
    if len(schedule) >= 2:
        # f(S1 + b + a) - f(S1 + b) ≤ f(S1 + a) - f(S1).
        start, end = schedule[:-2], schedule[-1:]
        later = value - values(schedule[:-1])
        excess = later - (values(start + end) - values(start))
        if excess > ROUNDING:
            yield Violation("submodular", start + end, schedule, excess)
