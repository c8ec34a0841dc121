"""Exact inclusion probabilities of perturbed leaders.

With h_a as in `kernels.leaders` and T_a = U_a · h_a, arm a is picked when fewer than `budget`
others lie below T_a, and P(T_b < z) = min(1, z / h_b). So

    q_a = (1 / h_a) ∫_0^{h_a} P(fewer than budget of the others lie below z) dz.

Between consecutive h the integrand is a polynomial in z; it vanishes behind the budget-th
smallest h of the others, so pieces end there, and Gauss-Legendre is exact up to rounding.
"""

from __future__ import annotations

import math

import numpy as np

from pickbest.game import FloatArray, IntArray
from pickbest.kernels.compiled import kernel

MOST_NODES = 16
NODES = np.zeros((MOST_NODES + 1, MOST_NODES))
NODE_WEIGHTS = np.zeros((MOST_NODES + 1, MOST_NODES))
for _count in range(1, MOST_NODES + 1):
    _x, _w = np.polynomial.legendre.leggauss(_count)
    NODES[_count, :_count] = 0.5 * (_x + 1.0)
    NODE_WEIGHTS[_count, :_count] = 0.5 * _w

# A panel spans at most this much expected count: 16 nodes then leave less than 1e-15.
PANEL = 8.0


@kernel
def inclusion_probabilities(spread: FloatArray, arms: IntArray, out: FloatArray) -> None:
    """out[j] = P(arm arms[j] is picked), for the picked arms of one replicate.

    spread holds h (infinite for arms that cannot be picked); arms are distinct, and their
    number is the budget.
    """
    n_arms = spread.shape[0]
    budget = arms.shape[0]
    edges = np.full(budget, np.inf)
    for a in range(n_arms):
        value = spread[a]
        if value < edges[budget - 1]:
            j = budget - 1
            while j > 0 and value < edges[j - 1]:
                edges[j] = edges[j - 1]
                j -= 1
            edges[j] = value
    picked = np.zeros(n_arms, np.bool_)
    for j in range(budget):
        picked[arms[j]] = True
        out[j] = 0.0

    counts = np.empty(budget)
    prefix = np.empty((budget + 1, budget))
    suffix = np.empty((budget + 1, budget))
    # Beyond this expected count, P(fewer than budget below) < 1e-20.
    negligible = budget + 10.0 * math.sqrt(budget) + 40.0

    left = 0.0
    for piece in range(budget):
        right = edges[piece]
        if not right > left:
            continue
        slope = 0.0
        certain = 0
        for a in range(n_arms):
            if spread[a] <= left:
                certain += 1
            elif spread[a] < np.inf:
                slope += 1.0 / spread[a]
        end = right
        if certain + slope * left >= negligible:
            break
        if certain + slope * right > negligible:
            end = (negligible - certain) / slope
        panels = 1
        nodes = (n_arms - certain + 1) // 2
        if nodes > MOST_NODES:
            nodes = MOST_NODES
            panels = max(1, math.ceil(slope * (end - left) / PANEL))
        nodes = max(nodes, 1)
        width = (end - left) / panels
        for panel in range(panels):
            for node in range(nodes):
                z = left + width * (panel + NODES[nodes, node])
                share = width * NODE_WEIGHTS[nodes, node]
                _count_below(spread, picked, z, counts)
                _leave_one_out(spread, arms, z, counts, prefix, suffix)
                for j in range(budget):
                    own = spread[arms[j]]
                    if own > left:
                        fewer = 0.0
                        tail = 0.0
                        for i in range(budget):
                            tail += suffix[j + 1, i]
                            fewer += prefix[j, budget - 1 - i] * tail
                        out[j] += share * fewer / own
        left = right
    for j in range(budget):
        own = spread[arms[j]]
        out[j] = 1.0 if own == 0.0 else min(1.0, out[j])


@kernel
def _count_below(spread: FloatArray, picked: np.ndarray, z: float, counts: FloatArray) -> None:
    """counts[i] = P(exactly i of the arms that were not picked lie below z), i < budget."""
    budget = counts.shape[0]
    counts[0] = 1.0
    for i in range(1, budget):
        counts[i] = 0.0
    for a in range(spread.shape[0]):
        if not picked[a] and spread[a] < np.inf:
            _add_arm(counts, counts, min(1.0, z / spread[a]))


@kernel
def _leave_one_out(
    spread: FloatArray,
    arms: IntArray,
    z: float,
    counts: FloatArray,
    prefix: FloatArray,
    suffix: FloatArray,
) -> None:
    """prefix[j]: counts with the first j picked arms; suffix[j]: of picked arms j, j+1, …"""
    budget = arms.shape[0]
    for i in range(budget):
        prefix[0, i] = counts[i]
        suffix[budget, i] = 1.0 if i == 0 else 0.0
    for j in range(budget):
        own = spread[arms[j]]
        _add_arm(prefix[j], prefix[j + 1], 1.0 if own == 0.0 else min(1.0, z / own))
    for j in range(budget - 1, 0, -1):
        own = spread[arms[j]]
        _add_arm(suffix[j + 1], suffix[j], 1.0 if own == 0.0 else min(1.0, z / own))


@kernel
def _add_arm(counts: FloatArray, out: FloatArray, below: float) -> None:
    """Add one arm that lies below z with probability `below` to the truncated counts."""
    above = 1.0 - below
    for i in range(counts.shape[0] - 1, 0, -1):
        out[i] = counts[i] * above + counts[i - 1] * below
    out[0] = counts[0] * above
