"""The first of the perturbed leaders: its exact law, and a rate that adapts to what was seen.

With p that law, ĉ the weighted costs and rate η, a round adds δ = Σ p ĉ (1 - exp(-η ĉ)) to the
slack Δ, and the next rate is (1 + ln N) / Δ, as AdaHedge's. docs/learners.md derives the regret
bound 2 Δ from it.
"""

import math

import numpy as np

from pickbest.core import FloatArray
from pickbest.kernels.compiled import allocating, kernel
from pickbest.kernels.inclusion import FEW_ARMS, inclusion_probabilities
from pickbest.kernels.integrals import LANES, NODE_WEIGHTS, NODES
from pickbest.kernels.leaders import BLOCK

FIRST_RATE = 0.5


@kernel
def first_slack(n_arms: int) -> float:
    """The slack before the first round: that of the first rate."""
    return (1.0 + math.log(n_arms)) / FIRST_RATE


@kernel
def rate_of(n_arms: int, slack: float) -> float:
    """η of the next round. E[the largest of N Exp(1) draws] is at most 1 + ln N."""
    return (1.0 + math.log(n_arms)) / slack


@kernel
def spread_leader(costs: FloatArray, rate: float, spread: FloatArray) -> float:
    """spread[a] = h_a at rate η (see `kernels.leaders`); returns the smallest of them."""
    lowest, least = np.inf, np.inf
    for a in range(costs.shape[0]):
        lowest = min(lowest, rate * costs[a])
    base = np.floor(lowest / BLOCK) * BLOCK
    for a in range(costs.shape[0]):
        spread[a] = math.exp(rate * costs[a] - base)
        least = min(least, spread[a])
    return least


def many_arms(n_arms: int) -> bool | None:
    """What `first_probability` must be told of the number of arms: None where they are few.

    None is a type of its own to the compiler, which then leaves the integrals for many arms
    out: they take longer to compile than all the rest.
    """
    return True if n_arms > FEW_ARMS else None


@allocating
def first_probability(spread: FloatArray, least: float, arm: int, many: bool | None) -> float:
    """P(the arm is the first leader); least is the smallest of spread, many: see `many_arms`.

    w ∫_0^1 Π (1 - z w_b) dz over the other arms b, with w = least / spread: a polynomial in z,
    for which Gauss-Legendre nodes are exact.
    """
    n_arms = spread.shape[0]
    if not spread[arm] < np.inf:
        return 0.0
    if many is not None:
        one, out = np.empty(1, np.int64), np.empty(1)
        one[0] = arm
        inclusion_probabilities(spread, one, out)
        return float(out[0])
    chunks = (n_arms - 1) // (2 * LANES) + 1
    total = 0.0
    for chunk in range(chunks):
        first = chunk * LANES
        a, b, c, d = 1.0, 1.0, 1.0, 1.0
        for other in range(n_arms):
            weight = least / spread[other] if other != arm else 0.0
            a *= 1.0 - NODES[chunks, first] * weight
            b *= 1.0 - NODES[chunks, first + 1] * weight
            c *= 1.0 - NODES[chunks, first + 2] * weight
            d *= 1.0 - NODES[chunks, first + 3] * weight
        total += a * NODE_WEIGHTS[chunks, first] + b * NODE_WEIGHTS[chunks, first + 1]
        total += c * NODE_WEIGHTS[chunks, first + 2] + d * NODE_WEIGHTS[chunks, first + 3]
    return float(min(1.0, total * least / spread[arm]))


@kernel
def shortfall(probability: float, cost: float, rate: float) -> float:
    """What a weighted cost of an arm adds to δ."""
    return probability * cost * -math.expm1(-rate * cost)
