"""Very many arms: FPML's picks and their exact weights, from sums over groups of arms.

As in `kernels.integrals`, an arm lies below a level z with probability min(1, w z), independently;
here w = e^(ε (base - C)). Arms stand in small groups of 64, and these in large groups of 64. Each
group keeps its largest weight and the power sums of its weights. So a group whose arms are all
light (w z ≤ LIGHT) is passed in one step:

- Draws: the jumps of a Poisson process pass over whole groups. It meets a light arm with a little
  more than the probability w z, and an arm that it meets is kept with the quotient of the two.
- Weights: light arms enter the integrals through their power sums, the others one by one.

The level is such that fewer arms than the budget lie below it with negligible probability only.
The base keeps it near 1. It moves seldom, and then all weights are computed anew. Draws look below
a lower level first: where too few arms are found there, one pass over all arms finds the others.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from pickbest.core import FloatArray, IntArray, PickbestError
from pickbest.core.states import derived
from pickbest.kernels.compiled import allocating, borrowing, compiled, exp_or_inf, kernel
from pickbest.kernels.heap import EMPTY, keep_smallest, sort_kept
from pickbest.kernels.inclusion import add_powers
from pickbest.kernels.integrals import (
    HEAVIEST,
    LIGHT,
    NONE,
    POWERS,
    enough_below,
    insert_edge,
    integrate,
)
from pickbest.kernels.leaders import SMALLEST
from pickbest.kernels.random import STEP, uniform_at

GROUP = 64
# All weights are computed anew where the level leaves 1 / RANGE to RANGE.
RANGE = 8.0
# Heavier arms are light at none of these levels: no sum holds them, so none overflows.
HEAVY = RANGE * LIGHT
# A light arm is met at w z times this rate: then it is met with at least the probability w z.
MET = -math.log1p(-LIGHT) / LIGHT


class Groups(NamedTuple):
    """What is kept of every row, (rows, …); all of it follows from the costs and the past.

    base: see the head of this module. level: (2,) of the weights, and of the draws.
    weights: (n_arms,) w.
    heaviest, sums: (groups,) and (groups, POWERS) of the small groups, then of the large ones.
    """

    base: Annotated[FloatArray, derived()]
    level: Annotated[FloatArray, derived()]
    weights: Annotated[FloatArray, derived(-1)]
    heaviest: Annotated[FloatArray, derived()]
    sums: Annotated[FloatArray, derived()]

    def check(self) -> None:
        """Refuse what no game leads to: sums of a file must be those of its weights."""
        again = self._replace(heaviest=self.heaviest.copy(), sums=self.sums.copy())
        sum_groups.suited(self.weights.size)(again)
        sound = (
            np.array_equal(again.heaviest, self.heaviest)
            and np.array_equal(again.sums, self.sums)
            and np.all((self.weights >= 0.0) & (self.weights <= HEAVIEST))
            and np.all((self.level[:, 0] >= 1.0 / RANGE) & (self.level[:, 0] <= RANGE))
            and np.all((self.level[:, 1] > 0.0) & (self.level[:, 1] <= self.level[:, 0]))
        )
        if not sound:
            raise PickbestError("the saved groups are not those of the saved weights")


class DrawWork(NamedTuple):
    """Scratch: noisy, mine, edges: (budget,); sums: (POWERS,); heavy, others: (n_arms,)."""

    noisy: FloatArray
    mine: FloatArray
    edges: FloatArray
    sums: FloatArray
    heavy: IntArray
    others: FloatArray


def empty_groups(rows: int, n_arms: int) -> Groups:
    """Room for `fill_groups`."""
    small = -(-n_arms // GROUP)
    groups = small + -(-small // GROUP)
    return Groups(
        np.zeros(rows),
        np.zeros((rows, 2)),
        np.zeros((rows, n_arms)),
        np.zeros((rows, groups)),
        np.zeros((rows, groups, POWERS)),
    )


@allocating
def new_draw_work(n_arms: int, budget: int) -> DrawWork:
    return DrawWork(
        np.empty(budget),
        np.empty(budget),
        np.empty(budget),
        np.empty(POWERS),
        np.empty(n_arms, np.int64),
        np.empty(n_arms),
    )


@kernel
def small_groups(n_arms: int) -> int:
    """How many small groups there are."""
    return (n_arms + GROUP - 1) // GROUP


# Keeping groups in step ---------------------------------------------------------------------


@compiled
def fill_groups(costs: FloatArray, rate: float, groups: Groups, budget: int) -> None:
    """Groups of cumulative costs; rate: ε."""
    work, arms = new_draw_work(costs.shape[1], budget), np.empty(budget, np.int64)
    for row in range(costs.shape[0]):
        fill_row(costs, rate, groups, row, work, arms)


@borrowing
def sum_groups(groups: Groups) -> None:
    """What the groups keep of their weights."""
    for row in range(groups.weights.shape[0]):
        _sum_row(groups, row)


@kernel
def _sum_row(groups: Groups, row: int) -> None:
    small = small_groups(groups.weights.shape[1])
    for group in range(small):
        _sum_small(groups, row, group)
    for group in range(small, groups.heaviest.shape[1]):
        _sum_large(groups, row, group)


@kernel
def fill_row(
    costs: FloatArray, rate: float, groups: Groups, row: int, work: DrawWork, arms: IntArray
) -> None:
    """Compute a row anew: relative to its budget-th lowest cost, and then so that the level is 1.

    arms: scratch of length budget.
    """
    found = EMPTY
    for arm in range(costs.shape[1]):
        found = keep_smallest(work.noisy, arms, found, costs[row, arm], arm)
    groups.base[row] = work.noisy[0]
    for _ in range(2):
        for arm in range(costs.shape[1]):
            _weigh(costs, rate, groups, row, arm)
        _sum_row(groups, row)
        shift = math.log(find_level(groups, row, work.edges)) / rate
        groups.base[row] += shift
    groups.base[row] -= shift


@kernel
def arms_moved(
    costs: FloatArray, rate: float, groups: Groups, row: int, arms: IntArray, work: DrawWork
) -> None:
    """Keep the groups in step with the costs of these arms, which have changed."""
    for j in range(arms.shape[0]):
        arm = arms[j]
        _weigh(costs, rate, groups, row, arm)
        _sum_small(groups, row, arm // GROUP)
        _sum_large(groups, row, small_groups(costs.shape[1]) + arm // GROUP // GROUP)
    level = find_level(groups, row, work.edges)
    if not 1.0 / RANGE <= level <= RANGE:
        fill_row(costs, rate, groups, row, work, work.heavy[: arms.shape[0]])


@kernel
def _weigh(costs: FloatArray, rate: float, groups: Groups, row: int, arm: int) -> None:
    weight = exp_or_inf(rate * (groups.base[row] - costs[row, arm]))
    groups.weights[row, arm] = min(weight, HEAVIEST)


@kernel
def _sum_small(groups: Groups, row: int, group: int) -> None:
    weights, sums = groups.weights[row], groups.sums[row, group]
    heaviest = 0.0
    for k in range(POWERS):
        sums[k] = 0.0
    for arm in range(group * GROUP, min((group + 1) * GROUP, weights.shape[0])):
        heaviest = max(heaviest, weights[arm])
        if weights[arm] <= HEAVY:
            add_powers(weights[arm], sums)
    groups.heaviest[row, group] = heaviest


@kernel
def _sum_large(groups: Groups, row: int, group: int) -> None:
    small = small_groups(groups.weights.shape[1])
    first, sums = (group - small) * GROUP, groups.sums[row, group]
    heaviest = 0.0
    for k in range(POWERS):
        sums[k] = 0.0
    for part in range(first, min(first + GROUP, small)):
        heaviest = max(heaviest, groups.heaviest[row, part])
        for k in range(POWERS):
            sums[k] += groups.sums[row, part, k]
    groups.heaviest[row, group] = heaviest


@kernel
def find_level(groups: Groups, row: int, edges: FloatArray) -> float:
    """Where enough arms are expected below, or the budget-th smallest 1 / w if that is less.

    Infinite where fewer arms than the budget have a weight. edges: scratch of length budget.
    """
    budget, levels = edges.shape[0], groups.level[row]
    enough, few = enough_below(budget), budget + 6.0 * math.sqrt(budget) + 6.0
    levels[0], certain_before = 0.0, -1
    while True:
        certain, rest = _below(groups, row, levels[0], edges)
        if certain >= budget:
            levels[0] = levels[1] = edges[budget - 1]
        elif certain == certain_before:
            levels[1] = min((few - certain) / rest, levels[0])
        elif rest > 0.0:
            certain_before = certain
            levels[0] = (enough - certain) / rest
            continue
        else:
            levels[0] = levels[1] = np.inf
        return float(levels[0])


@kernel
def _below(groups: Groups, row: int, level: float, edges: FloatArray) -> tuple[int, float]:
    """(how many arms are certain to lie below the level, the sum of the weights of the others).

    edges: filled with the smallest 1 / w of those that are certain, ascending.
    """
    weights, heaviest, sums = groups.weights[row], groups.heaviest[row], groups.sums[row]
    small, limit = small_groups(weights.shape[0]), HEAVY
    if level > 0.0:
        limit = min(HEAVY, 1.0 / level)
    certain, rest, n_edges = 0, 0.0, NONE
    for large in range(small, heaviest.shape[0]):
        if heaviest[large] <= limit:
            rest += sums[large, 0]
            continue
        first = (large - small) * GROUP
        for group in range(first, min(first + GROUP, small)):
            if heaviest[group] <= limit:
                rest += sums[group, 0]
                continue
            for arm in range(group * GROUP, min((group + 1) * GROUP, weights.shape[0])):
                if weights[arm] * level > 1.0:
                    certain += 1
                    n_edges = insert_edge(edges, n_edges, 1.0 / weights[arm])
                else:
                    rest += weights[arm]
    return certain, rest


# Picks --------------------------------------------------------------------------------------


@kernel
def draw_arms(
    groups: Groups, row: int, key: np.uint64, arms: IntArray, work: DrawWork
) -> tuple[int, float]:
    """Fill arms with those of the smallest U / w, ascending.

    Fills work.heavy with the arms that are not light, and work.sums with the power sums of the
    light arms' w. Returns how many are heavy, and the largest weight of a light one.
    """
    weights, heaviest = groups.weights[row], groups.heaviest[row]
    small, limit = small_groups(weights.shape[0]), LIGHT / groups.level[row, 0]
    level = groups.level[row, 1]
    rate = MET * level
    n_heavy, most, found = 0, 0.0, EMPTY
    for k in range(POWERS):
        work.sums[k] = 0.0
    counter = key + STEP
    jump = -math.log(uniform_at(counter))
    for large in range(small, heaviest.shape[0]):
        light = heaviest[large] <= limit
        if light:
            most = max(most, heaviest[large])
            _add_sums(groups.sums[row, large], work.sums)
            if jump >= rate * groups.sums[row, large, 0]:
                jump -= rate * groups.sums[row, large, 0]
                continue
        first = (large - small) * GROUP
        for group in range(first, min(first + GROUP, small)):
            counted = light
            if heaviest[group] <= limit:
                if not counted:
                    most = max(most, heaviest[group])
                    _add_sums(groups.sums[row, group], work.sums)
                    counted = True
                if jump >= rate * groups.sums[row, group, 0]:
                    jump -= rate * groups.sums[row, group, 0]
                    continue
            for arm in range(group * GROUP, min((group + 1) * GROUP, weights.shape[0])):
                weight = weights[arm]
                if weight > limit:
                    work.heavy[n_heavy] = arm
                    n_heavy += 1
                    counter += STEP
                    value = uniform_at(counter) / weight
                    if value < level:
                        found = keep_smallest(work.noisy, arms, found, value, arm)
                    continue
                if not counted:
                    most = max(most, weight)
                    add_powers(weight, work.sums)
                if jump >= rate * weight:
                    jump -= rate * weight
                    continue
                counter += STEP
                value = uniform_at(counter) * -math.expm1(-rate * weight) / weight
                if value < level:
                    found = keep_smallest(work.noisy, arms, found, value, arm)
                counter += STEP
                jump = -math.log(uniform_at(counter))
    if found < arms.shape[0]:
        counter = _draw_above(weights, level, counter, arms, found, work.noisy)
    sort_kept(work.noisy, arms)
    return n_heavy, most


@kernel
def _draw_above(
    weights: FloatArray,
    level: float,
    counter: np.uint64,
    arms: IntArray,
    found: int,
    noisy: FloatArray,
) -> np.uint64:
    """Offer all arms whose U / w is not below the level: it is uniform from there to 1 / w."""
    for arm in range(weights.shape[0]):
        known = False
        for j in range(found):
            known = known or arms[j] == arm
        if not known:
            counter += STEP
            beyond = max(1.0 / max(weights[arm], SMALLEST) - level, 0.0)
            value = level + uniform_at(counter) * beyond
            found = keep_smallest(noisy, arms, found, value, arm)
    return counter


@kernel
def _add_sums(part: FloatArray, sums: FloatArray) -> None:
    for k in range(POWERS):
        sums[k] += part[k]


@allocating
def weigh_arms(
    groups: Groups,
    row: int,
    arms: IntArray,
    drawn: tuple[int, float],
    work: DrawWork,
    out: FloatArray,
) -> None:
    """out[j] = P(arm arms[j] is picked); drawn: what `draw_arms` returned for these arms.

    Weights are scaled so that the range of integration ends at 1.
    """
    weights, level, (n_heavy, most) = groups.weights[row], groups.level[row, 0], drawn
    budget = arms.shape[0]
    if budget == weights.shape[0]:
        for j in range(budget):
            out[j] = 1.0
        return
    n_edges, n_others = NONE, NONE
    for i in range(n_heavy):
        weight = min(weights[work.heavy[i]] * level, HEAVIEST)
        if weight > 1.0:
            n_edges = insert_edge(work.edges, n_edges, 1.0 / weight)
        work.others[n_others] = weight
        n_others += 1
        for j in range(budget):
            if arms[j] == work.heavy[i]:
                n_others -= 1
    power = 1.0
    for k in range(POWERS):
        power *= level
        work.sums[k] *= power
    for j in range(budget):
        mine = min(weights[arms[j]] * level, HEAVIEST)
        work.mine[j] = mine
        power = 1.0 if mine <= LIGHT else 0.0
        for k in range(POWERS):
            power *= mine
            work.sums[k] -= power
    integrate(work.mine, work.others, n_others, work.sums, most * level, work.edges, n_edges, out)
