"""The law of the perturbed leaders as a whole: of the first one, of whole subsets, and draws.

With U uniform, -ln U is Exp(1), so the perturbed leaders have the smallest U_a h_a, where
h_a = exp(ε C_a) up to a factor; w = 1 / h. U_a h_a falls below z with probability min(1, z w_a),
independently of the others, so the law of the leaders is an integral over z of a polynomial
between breakpoints, and Gauss-Legendre nodes make it a sum.
"""

import math

import numpy as np

from pickbest.core import FloatArray, IntArray
from pickbest.kernels.compiled import allocating, compiled
from pickbest.kernels.leaders import smallest

# On (0, 1). 24 nodes integrate e^(-37 z) to 1e-13 relative; 32 are exact up to degree 63.
_points, _weights = np.polynomial.legendre.leggauss(24)
SINGLE_POINTS, SINGLE_WEIGHTS = (_points + 1.0) / 2.0, _weights / 2.0
_points, _weights = np.polynomial.legendre.leggauss(32)
SUBSET_POINTS, SUBSET_WEIGHTS = (_points + 1.0) / 2.0, _weights / 2.0
MOST_ARMS = 64

# The integrand is below e^(-37) < 1e-16 where z times the sum of all weights exceeds this.
_NEGLIGIBLE = 37.0
# Pieces that are narrower than this, relative to where they end, are left out.
_TIE = 1e-10
# Factors 1 - z w that are 1 in floating point need not be multiplied.
_TINY = 1e-17


@compiled
def leader_law(costs: FloatArray, epsilon: float, out: FloatArray) -> None:
    """out[a] = P(arm a is the perturbed leader), for any number of arms, in time O(n_arms).

    q_a = w_a ∫_0^1 Π_{c ≠ a} (1 - z w_c) dz with w_a = exp(-ε (C_a - min C)): the product over
    all arms is computed once for each node, and arm a's own factor is divided out.
    """
    n_arms, n_nodes = costs.shape[0], SINGLE_POINTS.shape[0]
    lowest = costs[0]
    for a in range(1, n_arms):
        lowest = min(lowest, costs[a])
    total = 0.0
    for a in range(n_arms):
        out[a] = math.exp(-epsilon * (costs[a] - lowest))
        total += out[a]
    nodes = SINGLE_POINTS * min(1.0, _NEGLIGIBLE / total)
    # All factors are above 1e-4, and about 37 of them at most are far from 1: no underflow.
    none_below = np.ones(n_nodes)
    for a in range(n_arms):
        weight = out[a]
        if weight > _TINY:
            for k in range(n_nodes):
                none_below[k] *= 1.0 - nodes[k] * weight
    none_below *= SINGLE_WEIGHTS
    share_of_tiny = none_below.sum()
    total = 0.0
    for a in range(n_arms):
        weight = out[a]
        share = share_of_tiny
        if weight > _TINY:
            share = 0.0
            for k in range(n_nodes):
                share += none_below[k] / (1.0 - nodes[k] * weight)
        out[a] = weight * share
        total += out[a]
    for a in range(n_arms):
        out[a] /= total


@allocating
def _spread(costs: FloatArray, epsilon: float, budget: int) -> FloatArray:
    """h, where the budget-th smallest is 1: leaders' may underflow, laggards' overflow."""
    arms, spread = np.empty(budget, np.int64), np.empty(costs.shape[0])
    smallest(costs, arms, spread)
    reference = costs[arms[budget - 1]]
    for a in range(costs.shape[0]):
        spread[a] = math.exp(epsilon * (costs[a] - reference))
    return spread


@compiled
def subset_law(costs: FloatArray, epsilon: float, subsets: IntArray, out: FloatArray) -> None:
    """out[k] = P(the perturbed leaders are the arms subsets[k]), for at most MOST_ARMS arms.

    P(S) = ∫ d/dz[Π_{b ∈ S} min(1, z w_b)] Π_{c ∉ S} (1 - z w_c)+ dz over z in (0, 1), where 1
    is the budget-th smallest h. Between breakpoints, the arms with h ≤ z are certain to be in S
    and the others enter S by their odds z w / (1 - z w).
    """
    n_arms, budget = costs.shape[0], subsets.shape[1]
    spread = _spread(costs, epsilon, budget)
    leaders, odds = np.empty(budget, np.int64), np.empty(n_arms)
    smallest(spread, leaders, odds)
    out[:] = 0.0
    start = 0.0
    for leader in leaders:
        edge = spread[leader]
        # Arms that tie up to rounding: nodes between them would fall on the edge itself.
        if edge - start <= _TIE * edge:
            start = edge
            continue
        n_certain = 0
        for a in range(n_arms):
            if spread[a] <= start:
                n_certain += 1
        for k in range(SUBSET_POINTS.shape[0]):
            z = start + (edge - start) * SUBSET_POINTS[k]
            none_below = SUBSET_WEIGHTS[k] * (edge - start) / z
            for a in range(n_arms):
                if spread[a] > start:
                    below = z / spread[a]
                    odds[a] = below / (1.0 - below)
                    none_below *= 1.0 - below
            for s in range(subsets.shape[0]):
                left = n_certain
                chance = none_below
                for j in range(budget):
                    if spread[subsets[s, j]] <= start:
                        left -= 1
                    else:
                        chance *= odds[subsets[s, j]]
                if left == 0 and n_certain < budget:
                    out[s] += (budget - n_certain) * chance
        start = edge
    out /= out.sum()
