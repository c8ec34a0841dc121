"""Exact inclusion probabilities of perturbed leaders, from every arm's h.

h is that of `kernels.leaders`; `kernels.integrals` has the mathematics, with w = 1 / h.
"""

import numpy as np

from pickbest.core import FloatArray, IntArray
from pickbest.kernels.compiled import allocating, kernel
from pickbest.kernels.integrals import (
    HEAVIEST,
    LIGHT,
    NONE,
    POWERS,
    enough_below,
    insert_edge,
    integrate,
)

# Below this number of arms, power sums cost more than they save.
FEW_ARMS = 40


@allocating
def inclusion_probabilities(spread: FloatArray, arms: IntArray, out: FloatArray) -> None:
    """out[j] = P(arm arms[j] is picked), for the picked arms of one replicate.

    spread holds h (infinite for arms that cannot be picked); arms are distinct, and their
    number is the budget.
    """
    n_arms = spread.shape[0]
    budget = arms.shape[0]
    # One allocation: at a handful of arms, they are a large part of the time.
    scratch = np.empty(2 * budget + POWERS + n_arms)
    edges = scratch[:budget]
    mine = scratch[budget : 2 * budget]
    sums = scratch[2 * budget : 2 * budget + POWERS]
    others = scratch[2 * budget + POWERS :]

    n_edges = NONE
    n_free = 0
    for a in range(n_arms):
        if spread[a] < np.inf:
            n_edges = insert_edge(edges, n_edges, spread[a])
            n_free += 1
    if n_free <= budget or edges[budget - 1] == 0.0:
        for j in range(budget):
            out[j] = 1.0
        return
    end = _end_of_range(spread, edges)
    n_edges = NONE
    while n_edges < budget and 1.0 / _scaled(end, edges[n_edges]) < 1.0:
        edges[n_edges] = 1.0 / _scaled(end, edges[n_edges])
        n_edges += 1

    for a in range(n_arms):
        others[a] = _scaled(end, spread[a])
    for j in range(budget):
        mine[j] = others[arms[j]]
        others[arms[j]] = 0.0
    for k in range(POWERS):
        sums[k] = 0.0
    heaviest = 0.0
    n_others = NONE
    limit = 0.0 if n_arms < FEW_ARMS else LIGHT
    for a in range(n_arms):
        weight = others[a]
        if weight > limit:
            others[n_others] = weight
            n_others += 1
        elif weight > 0.0:
            heaviest = max(heaviest, weight)
            add_powers(weight, sums)
    integrate(mine, others, n_others, sums, heaviest, edges, n_edges, out)


@kernel
def _scaled(end: float, spread: float) -> float:
    """The weight of an arm where the range of integration ends at 1; 0 where h is infinite."""
    weight: float = min(end / spread, HEAVIEST) if spread > 0.0 else HEAVIEST
    return weight


@kernel
def _end_of_range(spread: FloatArray, edges: FloatArray) -> float:
    """Where the integrand has become negligible, or the budget-th smallest h if that is less.

    Only sums of positive terms: a difference would lose light arms next to a heavy one.
    """
    budget = edges.shape[0]
    slope = 0.0
    beyond = -budget
    for a in range(spread.shape[0]):
        if spread[a] <= edges[budget - 1]:
            beyond += 1
        else:
            slope += 1.0 / spread[a]
    slope += beyond / edges[budget - 1]
    target = enough_below(budget)
    end = float(edges[budget - 1])
    for certain in range(budget - 1, -1, -1):
        if edges[certain] == 0.0:
            break
        slope += 1.0 / edges[certain]
        before = edges[certain - 1] if certain > 0 else 0.0
        if (target - certain) / slope < edges[certain]:
            end = max(before, (target - certain) / slope)
    return end


@kernel
def add_powers(weight: float, sums: FloatArray) -> None:
    """sums[k - 1] += weight^k, four independent products at a time."""
    square = weight * weight
    fourth = square * square
    first, second, third, last = weight, square, square * weight, fourth
    for k in range(0, POWERS, 4):
        sums[k] += first
        sums[k + 1] += second
        sums[k + 2] += third
        sums[k + 3] += last
        # Below this, the powers that follow do not change a sum that matters.
        if last < 1e-20:
            break
        first *= fourth
        second *= fourth
        third *= fourth
        last *= fourth
