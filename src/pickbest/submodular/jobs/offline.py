"""Schedules in hindsight: greedy, the best one, and how good any could be.

The value of a schedule is its total over the rounds of one replicate, f = f_1 + … + f_T, itself a
job (`Total`). OPT(B') is the value of the best fixed schedule of length at most B'.
"""

from dataclasses import dataclass

import numpy as np

from pickbest.core import FloatArray, IntArray, check_count
from pickbest.submodular.jobs.actions import durations_of
from pickbest.submodular.jobs.milp import best_by_program
from pickbest.submodular.jobs.rounds import Jobs, RoundJobs
from pickbest.submodular.jobs.tables import Combine, TableJobs, TableRound

TOLERANCE = 1e-9
# So few schedules are searched here; more of them by the MILP solver, where it applies.
FEW_SCHEDULES = 20_000
# Where it does not, a search may read this many entries (a few seconds) before it gives up.
MOST_WORK = 3e9


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


def greedy_schedule(jobs: Jobs, budget: int, replicate: int = 0) -> GreedySchedule:
    """Actions added one at a time, each with the largest gain per unit of time that fits.

    It ends when nothing fits or nothing gains; the first of equals is taken.

    >>> from pickbest.submodular.jobs import best_of
    >>> greedy_schedule(best_of([[0.5, 0.25, 0.0], [0.5, 0.0, 1.0]]), budget=2)
    GreedySchedule(arms=(0, 2), value=1.5, durations=(1, 1), errors=(0.0, 0.0))
    """
    return _greedy(total_of(jobs, replicate), check_count("budget", budget))


def best_schedule(
    jobs: Jobs, budget: int, replicate: int = 0, time_limit: float | None = None
) -> BestSchedule:
    """OPT(budget) and a schedule that reaches it: by search where there are few schedules, by
    MILP for the families that are one; else the best that is found soon, with an upper bound.

    time_limit: seconds for the MILP solver. Functions are searched without assuming that they
    are jobs, if there are few schedules; the bound for more of them is one for jobs.

    >>> from pickbest.submodular.jobs import best_of
    >>> best_schedule(best_of([[0.5, 0.75, 0.0], [0.5, 0.0, 0.75]]), budget=2)
    BestSchedule(arms=(1, 2), value=1.5, bound=1.5, proven=True)
    """
    total = total_of(jobs, replicate)
    start = _greedy(total, check_count("budget", budget))
    arms, value, bound = start.arms, start.value, _upper_bound(total, budget)
    if _count(total, budget) <= FEW_SCHEDULES:
        arms, value, _ = _search(total, budget, start, np.inf)
        bound = value
    elif isinstance(jobs, TableJobs) and jobs.combine is Combine.MAX:
        found = best_by_program(jobs, budget, replicate, time_limit)
        if found is not None:
            bound = min(bound, found[2])
            arms, value = max((arms, value), found[:2], key=lambda one: one[1])
    elif isinstance(jobs, TableJobs):
        visits = MOST_WORK / jobs.as_replicates(replicate).entries.size
        arms, value, finished = _search(total, budget, start, visits)
        bound = value if finished else bound
    bound = max(bound, value)
    return BestSchedule(arms, value, bound, value >= bound - TOLERANCE * max(1.0, bound))


def schedule_bound(jobs: Jobs, budget: int, replicate: int = 0) -> float:
    """An upper bound on OPT(budget): for any schedule S, f(S) + the largest gains over S.

    The least of these over the prefixes of a greedy schedule that is twice as long.
    """
    return _upper_bound(total_of(jobs, replicate), check_count("budget", budget))


@dataclass(frozen=True)
class TableTotal:
    """Rounds stand where replicates do in a game: one compiled call for all of them.

    ordered: whether the order of actions may matter. repeats: whether an action may add something
    when it is taken again.
    """

    every: TableRound
    rows: int
    scale: float
    durations: IntArray
    ordered = False

    @property
    def repeats(self) -> bool:
        return self.every.combine is Combine.MISS

    def start(self, longest: int) -> FloatArray:
        return self.every.start(self.rows, longest)

    def gains(self, summary: FloatArray) -> FloatArray:
        gains: FloatArray = self.scale * self.every.gains(summary).sum(axis=0)
        return gains

    def extend(self, summary: FloatArray, arm: int) -> FloatArray:
        rows = len(summary)
        return self.every.extend(summary, np.full(rows, arm), np.ones(rows, np.bool_))

    def value(self, summary: FloatArray) -> float:
        return self.scale * float(self.every.values(summary).sum())


@dataclass(frozen=True)
class AnyTotal:
    """Round by round, for jobs of any kind."""

    rounds: tuple[RoundJobs, ...]
    durations: IntArray
    ordered = True
    repeats = True

    def start(self, longest: int) -> FloatArray:
        return np.vstack([job.start(1, longest) for job in self.rounds])

    def gains(self, summary: FloatArray) -> FloatArray:
        rows = [job.gains(summary[t : t + 1]) for t, job in enumerate(self.rounds)]
        gains: FloatArray = np.vstack(rows).sum(axis=0)
        return gains

    def extend(self, summary: FloatArray, arm: int) -> FloatArray:
        one, kept = np.array([arm]), np.ones(1, np.bool_)
        rows = [job.extend(summary[t : t + 1], one, kept) for t, job in enumerate(self.rounds)]
        return np.vstack(rows)

    def value(self, summary: FloatArray) -> float:
        return float(sum(job.values(summary[t : t + 1])[0] for t, job in enumerate(self.rounds)))


Total = TableTotal | AnyTotal


def total_of(jobs: Jobs, replicate: int = 0) -> Total:
    """The total of a replicate, in the fastest form that there is."""
    if not isinstance(jobs, TableJobs):
        rounds = tuple(jobs.round(t) for t in range(jobs.rounds))
        return AnyTotal(rounds, durations_of(jobs.actions))
    every = jobs.as_replicates(replicate)
    if len(every.entries) > 1:
        return TableTotal(every, jobs.rounds, 1.0, jobs.durations)
    # The same entries in all rounds: one job with the mean weights, times the rounds.
    mean = TableRound(jobs.combine, every.entries, every.weights.mean(axis=0, keepdims=True))
    return TableTotal(mean, 1, float(jobs.rounds), jobs.durations)


def _greedy(total: Total, budget: int) -> GreedySchedule:
    summary = total.start(budget)
    value, left = total.value(summary), budget
    arms: list[int] = []
    errors: list[float] = []
    while left > 0:
        gains = total.gains(summary)
        density = gains / total.durations
        fitting = np.where(total.durations <= left, density, -1.0)
        arm = int(fitting.argmax())
        if fitting[arm] <= 0.0:
            break
        arms.append(arm)
        errors.append(float(density.max() - density[arm]))
        left -= int(total.durations[arm])
        value += float(gains[arm])
        summary = total.extend(summary, arm)
    spans = tuple(int(total.durations[arm]) for arm in arms)
    return GreedySchedule(tuple(arms), value, spans, tuple(errors))


def _count(total: Total, budget: int) -> int:
    """How many schedules there are to search, of length at most the budget."""
    ways = [1] + [0] * budget
    if total.ordered:
        for size in range(1, budget + 1):
            ways[size] = sum(ways[size - span] for span in total.durations if span <= size)
        return sum(ways)
    for span in map(int, total.durations):
        sizes = range(span, budget + 1) if total.repeats else range(budget, span - 1, -1)
        for size in sizes:
            ways[size] += ways[size - span]
    return sum(ways)


def _search(
    total: Total, budget: int, start: GreedySchedule, most_visits: float
) -> tuple[tuple[int, ...], float, bool]:
    """(arms, value, finished): the best schedule, depth first.

    Branches that cannot beat the best so far are cut.
    """
    best_arms, best_value = start.arms, start.value
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
        first = 0
        if not total.ordered and arms:
            first = arms[-1] if total.repeats else arms[-1] + 1
        hope = value + _most(gains[first:], total.durations[first:], left, total.repeats)
        # A function need not be submodular: its branches are never cut.
        if not total.ordered and hope <= best_value + TOLERANCE:
            return
        for arm in range(first, len(gains)):
            span = int(total.durations[arm])
            # The last action of a schedule adds its gain: no need to look further.
            last = not total.ordered and left - span < shortest
            if span <= left and not (last and value + gains[arm] <= best_value + TOLERANCE):
                longer = total.extend(summary, arm)
                visit((*arms, arm), longer, total.value(longer), left - span)

    summary = total.start(budget)
    visit((), summary, total.value(summary), budget)
    return best_arms, best_value, visits <= most_visits


def _upper_bound(total: Total, budget: int) -> float:
    longest = 2 * budget
    summary, used, lowest = total.start(longest), 0, np.inf
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
    most = 0.0
    for arm in np.argsort(-density, kind="stable"):
        if left <= 0:
            break
        # The last one may be a fraction: an upper bound on the knapsack.
        most += float(density[arm]) * min(int(durations[arm]), left)
        left -= int(durations[arm])
    return most
