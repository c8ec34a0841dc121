"""Schedules in hindsight: greedy, the best one, and how good any could be.

The value of a schedule is its total over the rounds of one replicate, f = f_1 + … + f_T, itself a
job (`Total`). OPT(B') is the value of the best fixed schedule of length at most B'.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pickbest.core import FloatArray, IntArray, check_count
from pickbest.core.errors import load_extra
from pickbest.submodular.jobs.tables import Combine, TableJobs

TOLERANCE = 1e-9
# A search may read so many entries of the table (a few seconds); where the MILP solver can take
# over, far fewer, and it looks at so many schedules at most.
MOST_WORK, FEW_SCHEDULES = 3e9, 20_000.0


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
    return _greedy(total_of(jobs), check_count("budget", budget))


def best_schedule(jobs: TableJobs, budget: int) -> BestSchedule:
    """OPT(budget) and a schedule that reaches it: by search, or by MILP for the families that are
    one; else the best that is found soon, with an upper bound.

    >>> from pickbest.submodular.jobs import best_of
    >>> best_schedule(best_of([[0.5, 0.75, 0.0], [0.5, 0.0, 0.75]]), budget=2)
    BestSchedule(arms=(1, 2), value=1.5, bound=1.5, proven=True)
    """
    total, program = total_of(jobs), jobs.combine is Combine.MAX
    visits = MOST_WORK / jobs.entries.size
    if program:
        visits = min(FEW_SCHEDULES, visits / 30.0)
    start = _greedy(total, check_count("budget", budget))
    arms, value, finished = _search(total, budget, start, visits)
    bound = value if finished else _upper_bound(total, budget)
    if program and not finished:
        best_arms, best_value, proved = best_by_program(jobs, budget)
        bound = min(bound, proved)
        if best_value > value:
            arms, value = best_arms, best_value
    bound = max(bound, value)
    return BestSchedule(arms, value, bound, value >= bound - TOLERANCE * max(1.0, bound))


@dataclass(frozen=True)
class Total:
    """The sum of all rounds, as a job of its own: `scale` times the rounds of `jobs`.

    repeats: whether an action may add something when it is taken again.
    """

    jobs: TableJobs
    scale: float

    @property
    def durations(self) -> IntArray:
        return self.jobs.durations

    @property
    def repeats(self) -> bool:
        return self.jobs.combine is Combine.MISS

    def gains(self, summary: FloatArray) -> FloatArray:
        """(n_arms,) gains of each action."""
        gains: FloatArray = self.scale * self.jobs.gains(summary).sum(axis=0)
        return gains

    def extend(self, summary: FloatArray, arm: int) -> FloatArray:
        return self.jobs.extend(summary, np.full(self.jobs.rounds, arm))

    def value(self, summary: FloatArray) -> float:
        return self.scale * float(self.jobs.worth(summary).sum())


def total_of(jobs: TableJobs) -> Total:
    """Rounds with the same entries are one job with their mean weights, times the rounds."""
    if len(jobs.entries) > 1:
        return Total(jobs, 1.0)
    mean = jobs.weights.mean(axis=0, keepdims=True)
    one = TableJobs(jobs.combine, jobs.entries, mean, jobs.actions, 1)
    return Total(one, float(jobs.rounds))


def _greedy(total: Total, budget: int) -> GreedySchedule:
    summary = total.jobs.start()
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

    summary = total.jobs.start()
    visit((), summary, total.value(summary), budget)
    return best_arms, best_value, visits <= most_visits


def _upper_bound(total: Total, budget: int) -> float:
    """No schedule is worth more: for any schedule S, f(S) + the largest gains over S.

    The least of these over the prefixes of a greedy schedule that is twice as long.
    """
    longest = 2 * budget
    summary, used, lowest = total.jobs.start(), 0, np.inf
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


def best_by_program(jobs: TableJobs, budget: int) -> tuple[tuple[int, ...], float, float]:
    """(arms, value, proved upper bound): the best set of arms whose durations fit into the budget.

    A mixed-integer linear program, solved by HiGHS through SciPy (extra: lp), for every family
    whose arms combine by their maximum. Coverage needs one variable per item, the others one for
    each item and arm that serves it.
    """
    purpose = "the best schedule of this size"
    optimize = load_extra("scipy.optimize", "lp", purpose)
    sparse = load_extra("scipy.sparse", "lp", purpose)
    entries, weights = _items(jobs)
    binary = bool(np.all((entries == 0.0) | (entries == 1.0)))
    item, arm = np.nonzero(entries)
    n_arms, n_items = jobs.n_arms, len(entries)
    served = sparse.csr_array((np.ones(len(item)), (item, arm)), shape=(n_items, n_arms))
    if binary:
        # z_i ≤ Σ_a x_a over the arms that cover item i: a variable per item.
        worth = weights
        rules = sparse.hstack([-served, sparse.eye_array(n_items)]).tocsc()
        limits: list[Any] = [optimize.LinearConstraint(rules, -np.inf, 0.0)]
    else:
        # y_ia ≤ x_a and Σ_a y_ia ≤ 1: item i is served by one open arm.
        worth = weights[item] * entries[item, arm]
        shares = np.arange(len(item))
        size = (len(item), n_arms)
        opened = sparse.csr_array((np.ones(len(item)), (shares, arm)), shape=size)
        only_open = sparse.hstack([-opened, sparse.eye_array(len(item))]).tocsc()
        size = (n_items, len(item))
        once = sparse.csr_array((np.ones(len(item)), (item, shares)), shape=size)
        no_arms = sparse.csr_array((n_items, n_arms))
        limits = [
            optimize.LinearConstraint(only_open, -np.inf, 0.0),
            optimize.LinearConstraint(sparse.hstack([no_arms, once]).tocsc(), -np.inf, 1.0),
        ]
    spent = np.concatenate([jobs.durations, np.zeros(len(worth))])[None]
    limits.append(optimize.LinearConstraint(spent, -np.inf, budget))
    result = optimize.milp(
        np.concatenate([np.zeros(n_arms), -worth]),
        constraints=limits,
        integrality=np.concatenate([np.ones(n_arms), np.zeros(len(worth))]),
        bounds=optimize.Bounds(0, 1),
        options={"mip_rel_gap": 1e-9},
    )
    arms = np.flatnonzero(result.x[:n_arms] > 0.5)
    value = float((weights * entries[:, arms].max(axis=1, initial=0.0)).sum())
    return tuple(arms.tolist()), value, -float(result.mip_dual_bound)


def _items(jobs: TableJobs) -> tuple[FloatArray, FloatArray]:
    """(items, n_arms) entries and their total weights: equal items of all rounds are merged."""
    weights = np.broadcast_to(jobs.weights, (jobs.rounds, jobs.weights.shape[1]))
    if len(jobs.entries) == 1:
        weights = weights.sum(axis=0)
    entries = jobs.entries.reshape(-1, jobs.n_arms)
    merged, place = np.unique(entries, axis=0, return_inverse=True)
    total = np.bincount(place.ravel(), weights.ravel(), len(merged))
    return merged, total.astype(np.float64, copy=False)
