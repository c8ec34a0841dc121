"""Schedules in hindsight: greedy, the best one, and how good any could be.

The value of a schedule is its total over the rounds of one replicate. OPT(B') is the value of the
best fixed schedule of length at most B'.
"""

from dataclasses import dataclass

import numpy as np

from pickbest.core import FloatArray, IntArray, check_count
from pickbest.hindsight import best_subset
from pickbest.submodular.jobs.tables import Combine, TableJobs

TOLERANCE = 1e-9
# A search may read so many entries of the table: a few seconds. One for a subset may take longer.
MOST_WORK, MOST_SECONDS = 3e9, 60.0


@dataclass(frozen=True)
class GreedySchedule:
    """A greedy schedule, with what Lemma 11 needs to know of it.

    arms: in the order in which they were added.
    value: total over the rounds.
    durations: of the arms.
    errors: by how much each step's gain per unit of time fell short of the best action's; 0
        unless that one no longer fitted into the budget.
    """

    arms: tuple[int, ...]
    value: float
    durations: tuple[int, ...]
    errors: tuple[float, ...]


@dataclass(frozen=True)
class BestSchedule:
    """The best schedule found, and how much better another could be.

    bound: no schedule of this length is worth more. proven: whether `value` reaches it.
    """

    arms: tuple[int, ...]
    value: float
    bound: float
    proven: bool


def greedy_schedule(jobs: TableJobs, budget: int) -> GreedySchedule:
    """Actions added one at a time, each with the largest gain per unit of time that fits.

    It ends when nothing fits or nothing gains; the first of equals is taken.

    >>> from pickbest.submodular.jobs import best_of
    >>> greedy_schedule(best_of([[0.5, 0.25, 0.0], [0.5, 0.0, 1.0]]), budget=2)
    GreedySchedule(arms=(0, 2), value=1.5, durations=(1, 1), errors=(0.0, 0.0))
    """
    total = Total(jobs)
    summary, left = total.start, check_count("budget", budget)
    arms: list[int] = []
    errors: list[float] = []
    while left > 0:
        density = total.gains(summary) / jobs.durations
        fitting = np.where(jobs.durations <= left, density, -1.0)
        arm = int(fitting.argmax())
        if fitting[arm] <= 0.0:
            break
        arms.append(arm)
        errors.append(float(density.max() - density[arm]))
        left -= int(jobs.durations[arm])
        summary = total.extend(summary, arm)
    spans = tuple(int(jobs.durations[arm]) for arm in arms)
    return GreedySchedule(tuple(arms), total.value(summary), spans, tuple(errors))


def best_schedule(jobs: TableJobs, budget: int) -> BestSchedule:
    """OPT(budget) and a schedule that reaches it; else the best that is found soon, with a bound.

    Where arms combine by their maximum and all take one unit of time, it is the best subset of
    arms in hindsight. Other jobs are searched.

    >>> from pickbest.submodular.jobs import best_of
    >>> best_schedule(best_of([[0.5, 0.75, 0.0], [0.5, 0.0, 0.75]]), budget=2)
    BestSchedule(arms=(1, 2), value=1.5, bound=1.5, proven=True)
    """
    check_count("budget", budget)
    total = Total(jobs)
    if jobs.combine is Combine.MAX and np.all(jobs.durations == 1):
        largest = float(total.weights.max())
        lacking = (total.weights / largest)[:, None] * (1.0 - total.job.entries[0])
        found = best_subset(lacking, min(budget, jobs.n_arms), time_limit=MOST_SECONDS)
        arms, value = found.arms, total.value_of(found.arms)
        least = found.cost if found.bound is None else found.bound
        bound = value + largest * (found.cost - least)
    else:
        arms, finished = _search(total, budget, greedy_schedule(jobs, budget).arms)
        value = total.value_of(arms)
        bound = value if finished else max(value, _upper_bound(total, budget))
    return BestSchedule(arms, value, bound, value >= bound - TOLERANCE * max(1.0, bound))


class Total:
    """The sum of all rounds: one job with the items of all of them, `scale` times.

    weights: (items,) those of the sum; the job's own add up to 1.
    """

    def __init__(self, jobs: TableJobs) -> None:
        weights = np.broadcast_to(jobs.weights, (jobs.rounds, jobs.weights.shape[1]))
        if len(jobs.entries) == 1:
            weights = weights.sum(axis=0)
        self.weights = np.maximum(weights.ravel(), np.finfo(np.float64).tiny)
        self.scale = float(self.weights.sum())
        entries = jobs.entries.reshape(1, -1, jobs.n_arms)
        shares = self.weights[None] / self.scale
        self.job = TableJobs(jobs.combine, entries, shares, jobs.actions, 1)
        self.start = self.job.start()
        # Whether an action may add something when it is taken again.
        self.repeats = jobs.combine is Combine.MISS
        self.durations = jobs.durations

    def gains(self, summary: FloatArray) -> FloatArray:
        """(n_arms,) gains of each action."""
        gains: FloatArray = self.scale * self.job.gains(summary)[0]
        return gains

    def extend(self, summary: FloatArray, arm: int) -> FloatArray:
        """The summary with one more action."""
        return self.job.extend(summary, np.array([arm]))

    def value(self, summary: FloatArray) -> float:
        """What a schedule with this summary is worth over all rounds."""
        return self.scale * float(self.job.worth(summary)[0])

    def value_of(self, arms: tuple[int, ...]) -> float:
        """What the schedule of these arms is worth over all rounds."""
        return self.scale * float(self.job.values(arms)[0])


def _search(total: Total, budget: int, first_arms: tuple[int, ...]) -> tuple[tuple[int, ...], bool]:
    """(arms, finished): the best schedule, depth first.

    Branches that cannot beat the best so far are cut.
    """
    best_arms, best_value = first_arms, total.value_of(first_arms)
    most_visits = MOST_WORK / total.job.entries.size
    shortest = int(total.durations.min())
    visits = 0

    def visit(arms: tuple[int, ...], summary: FloatArray, value: float, left: int) -> None:
        nonlocal best_arms, best_value, visits
        visits += 1
        if value > best_value + TOLERANCE:
            best_arms, best_value = arms, value
        if left < shortest or visits > most_visits:
            return
        gains = total.gains(summary)
        # Values are blind to order: arms are tried in ascending order only.
        first = arms[-1] + (not total.repeats) if arms else 0
        hope = value + _most(gains[first:], total.durations[first:], left, total.repeats)
        if hope <= best_value + TOLERANCE:
            return
        for arm in range(first, len(gains)):
            span = int(total.durations[arm])
            # The last action of a schedule adds its gain: no need to look further.
            last = left - span < shortest
            if span <= left and not (last and value + gains[arm] <= best_value + TOLERANCE):
                longer = total.extend(summary, arm)
                visit((*arms, arm), longer, total.value(longer), left - span)

    visit((), total.start, total.value(total.start), budget)
    return best_arms, visits <= most_visits


def _upper_bound(total: Total, budget: int) -> float:
    """No schedule is worth more: for any schedule S, f(S) + the largest gains over S.

    The least of these over the prefixes of a greedy schedule that is twice as long.
    """
    longest = 2 * budget
    summary, used, lowest = total.start, 0, np.inf
    while True:
        gains = total.gains(summary)
        most = _most(gains, total.durations, budget, total.repeats)
        lowest = min(lowest, total.value(summary) + most)
        arm = int((gains / total.durations).argmax())
        used += int(total.durations[arm])
        if used > longest or gains[arm] <= 0.0:
            return float(lowest)
        summary = total.extend(summary, arm)


def _most(gains: FloatArray, durations: IntArray, left: int, repeats: bool) -> float:
    """The most that actions of total length `left` can gain, if gains simply added up."""
    if len(gains) == 0:
        return 0.0
    density = gains / durations
    if repeats:
        return left * float(density.max())
    order = np.argsort(-density, kind="stable")
    spans = durations[order]
    # The last one may be a fraction: an upper bound on the knapsack.
    fitting = np.clip(left - (np.cumsum(spans) - spans), 0, spans)
    return float((density[order] * fitting).sum())
