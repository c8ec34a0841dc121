"""The best B arms in hindsight, exactly: branch and bound for the p-median problem."""

import heapq
import math
import time
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core import BoolArray, FloatArray, IntArray, check_budget, check_positive
from pickbest.hindsight.comparators import (
    Subset,
    best_arm,
    check_table,
    greedy_arms,
    proven,
    unproven,
)
from pickbest.hindsight.subset_loops import ascend, best_swap, exhaust, load

TOLERANCE = 1e-9
# Work is counted in entries of the table that are read; 1e9 of them take about 0.1 s.
ENTRIES_AT_ONCE = 1e9
# NumPy tries all subsets where that takes less than compiling: this many take about 10 ms.
ENTRIES_IN_NUMPY = 1e6
ROOT_STEPS, NODE_STEPS = 120, 20
# Another run of steps must close this share of the gap, or settle this share of the arms.
WORTHWHILE_GAIN, WORTHWHILE_SETTLED = 0.2, 0.1
# A subset that costs at most this much more than the best known is improved by swaps.
PROMISING = 1.02
# After these nodes, swaps start once more from the best subset with half its arms replaced.
KICK_AFTER = range(4, 401, 4)
# Open nodes hold at most this many numbers (400 MB) before the search turns depth first.
OPEN_NODE_NUMBERS = 5e7


def best_subset(costs: ArrayLike, budget: int, time_limit: float | None = None) -> Subset:
    """The `budget` arms that pay least together, proven, or the best found in `time_limit`.

    Tries all subsets where that is quick, else branches and bounds with the Lagrangian bound
    of the p-median problem. At the time limit (in seconds) the result has the best subset
    found, a valid bound and proven=False; the seconds in which the first call compiles do not
    count. Tables of alike and independent arms are hard beyond about 100 arms and budget 5;
    structured ones of 1,000 arms take about a second.

    >>> best_subset([[0.5, 0.25, 1.0], [0.5, 1.0, 0.0]], budget=2)
    Subset(arms=(1, 2), cost=0.25, bound=0.25, proven=True)
    """
    table = check_table(costs)
    n_arms = table.shape[1]
    budget = check_budget(budget, n_arms)
    if time_limit is not None:
        check_positive("time_limit", time_limit)
    if budget == 1:
        return best_arm(table)
    if math.comb(n_arms, budget) * budget * len(table) <= ENTRIES_IN_NUMPY:
        subsets = np.array(list(combinations(range(n_arms), budget)))
        return proven(table, subsets[table.T[subsets].min(axis=1).sum(axis=1).argmin()])
    deadline = math.inf
    if time_limit is not None:
        load()
        deadline = time.monotonic() + time_limit
    rows = np.ascontiguousarray(table.T)
    kept = np.flatnonzero(_undominated(rows))
    if kept.size <= budget:
        return proven(table, _fill(kept, budget, n_arms))
    search = _Search(rows[kept], budget, deadline)
    bound = search.run()
    arms = kept[search.arms]
    if bound >= search.cost - search.tolerance:
        return proven(table, arms)
    found = unproven(table, arms)
    rounding = TOLERANCE * max(1.0, found.cost)
    return replace(found, bound=max(0.0, bound - rounding))


def _fill(arms: IntArray, budget: int, n_arms: int) -> list[int]:
    """`arms` and the lowest other indices, `budget` in all."""
    chosen = arms.tolist()
    others = (a for a in range(n_arms) if a not in set(chosen))
    return [*chosen, *(next(others) for _ in range(budget - len(chosen)))]


def _undominated(rows: FloatArray) -> BoolArray:
    """Which arms of a (n_arms, rounds) table are needed: others cost no more in any round.

    Equal arms would double the search at every level.
    """
    needed = np.zeros(len(rows), dtype=np.bool_)
    columns = np.ascontiguousarray(rows.T)
    # Ascending by total cost, an arm comes after those that dominate it.
    for arm in np.argsort(rows.sum(axis=1), kind="stable"):
        cheapest = rows[arm].argmin()
        rivals = np.flatnonzero(needed & (columns[cheapest] <= rows[arm, cheapest]))
        needed[arm] = not (rows[rivals] <= rows[arm]).all(axis=1).any()
    return needed


def _settled(scores: FloatArray, picks: int, gap: float) -> tuple[BoolArray, BoolArray]:
    """Penalty tests: arms that any subset which closes the gap contains, and does not."""
    order = np.argsort(scores, kind="stable")
    last_in, first_out = scores[order[picks - 1]], scores[order[picks]]
    picked = np.zeros(scores.size, dtype=np.bool_)
    picked[order[:picks]] = True
    return picked & (first_out - scores >= gap), ~picked & (scores - last_in >= gap)


@dataclass(frozen=True, slots=True)
class _Node:
    """All subsets that contain the chosen arms and otherwise only free ones."""

    bound: float
    chosen: tuple[int, ...]
    free: IntArray
    prices: FloatArray


class _Search:
    """Branch and bound on a (n_arms, rounds) table; holds the best subset found.

    Nodes with the lowest bound come first, so that the bound rises from the start; when too
    many are open, depth first.
    """

    def __init__(self, table: FloatArray, budget: int, deadline: float) -> None:
        self.table = table
        self.budget = budget
        self.deadline = deadline
        self.highest = table.max(axis=0)
        self.random = np.random.default_rng(0)
        self.arms = np.array(greedy_arms(table.T, budget))
        self.cost = self._cost(self.arms)
        self._improve(self.arms)

    @property
    def tolerance(self) -> float:
        return TOLERANCE * max(1.0, self.cost)

    def run(self) -> float:
        """Search to the end or the deadline; the bound on every subset's cost."""
        nearest_two = np.partition(self.table[self.arms], 1, axis=0)[:2]
        root = _Node(0.0, (), np.arange(self.table.shape[0]), nearest_two.mean(axis=0))
        most_open = OPEN_NODE_NUMBERS / sum(self.table.shape)
        heap = [(root.bound, 0, root)]
        stack: list[_Node] = []
        serial = expanded = 0
        while heap or stack:
            node = stack.pop() if stack else heapq.heappop(heap)[2]
            if node.bound >= self.cost - self.tolerance:
                continue
            if self._late():
                return min(each.bound for each in (node, *stack, *(entry[2] for entry in heap[:1])))
            for child in self._expand(node, ROOT_STEPS if node is root else NODE_STEPS):
                serial -= 1
                if len(heap) < most_open:
                    heapq.heappush(heap, (child.bound, serial, child))
                else:
                    stack.append(child)
            expanded += 1
            if expanded in KICK_AFTER:
                self._kick()
        return self.cost

    def _expand(self, node: _Node, steps: int) -> tuple[_Node, ...]:
        """Bound a node, settle arms, and split it in two; none if nothing better is in it."""
        bound, chosen, free = node.bound, node.chosen, node.free
        prices = node.prices.copy()
        step = 1.0
        while True:
            picks = self.budget - len(chosen)
            if not 0 < picks < free.size:
                self._offer(np.array([*chosen, *free[:picks]]))
                return ()
            ceiling = np.minimum(self.highest, self.table[list(chosen)].min(axis=0, initial=np.inf))
            if math.comb(free.size, picks) * picks * prices.size <= ENTRIES_AT_ONCE:
                self._exhaust(chosen, free, ceiling)
                return ()
            scores = np.empty(free.size)
            steps = max(1, min(steps, int(ENTRIES_AT_ONCE / 2 / (free.size * prices.size))))
            raised, step = ascend(
                self.table, free, picks, ceiling, prices, self.cost, step, steps, scores
            )
            cheapest = np.argpartition(scores, picks - 1)[:picks]
            self._offer(np.array([*chosen, *free[cheapest]]))
            gap = self.cost - self.tolerance - raised
            if gap <= 0.0:
                return ()
            inside, outside = _settled(scores, picks, gap)
            chosen = (*chosen, *free[inside].tolist())
            open_still = ~(inside | outside)
            free, scores = free[open_still], scores[open_still]
            worthwhile = (
                raised - bound >= WORTHWHILE_GAIN * (self.cost - bound)
                or free.size <= (1.0 - WORTHWHILE_SETTLED) * open_still.size
            )
            bound = max(bound, raised)
            decided = not 0 < self.budget - len(chosen) < free.size
            if not decided and (not worthwhile or self._late()):
                break
        # The cheapest arm: without it the bound rises most, with it the rest is smallest.
        place = int(scores.argmin())
        arm, rest = int(free[place]), np.delete(free, place)
        return _Node(bound, chosen, rest, prices), _Node(bound, (*chosen, arm), rest, prices)

    def _exhaust(self, chosen: tuple[int, ...], free: IntArray, ceiling: FloatArray) -> None:
        found = np.empty(self.budget - len(chosen), dtype=np.int64)
        cost = exhaust(self.table, free, found.size, ceiling, self.cost, found)
        if cost < self.cost:
            self.arms, self.cost = np.array([*chosen, *found]), cost

    def _offer(self, arms: IntArray) -> None:
        # The best subset itself comes back often: it is not worth another try.
        if self.cost != self._cost(arms) < PROMISING * self.cost:
            self._improve(arms)

    def _kick(self) -> None:
        arms = self.random.permutation(self.arms)
        others = np.setdiff1d(np.arange(self.table.shape[0]), arms)
        replaced = min((self.budget + 1) // 2, others.size)
        arms[:replaced] = self.random.choice(others, replaced, replace=False)
        self._improve(arms)

    def _improve(self, arms: IntArray) -> None:
        """Swap single arms while that helps, and keep the result if it is the best."""
        arms = arms.copy()
        while not self._late():
            change, place, arm = best_swap(self.table, arms)
            if change > -self.tolerance:
                break
            arms[place] = arm
        cost = self._cost(arms)
        if cost < self.cost:
            self.arms, self.cost = arms, cost

    def _cost(self, arms: IntArray) -> float:
        return float(self.table[arms].min(axis=0).sum())

    def _late(self) -> bool:
        return time.monotonic() > self.deadline
