"""FPML with a rate that adapts to what was seen, as AdaHedge's does.

With p the law of the first leader, ĉ the weighted costs and rate η, the round adds
δ = Σ p ĉ (1 - exp(-η ĉ)) to the slack Δ, and the next rate is (1 + ln N) / Δ. docs/learners.md
derives the regret bound 2 Δ from it.
"""

from __future__ import annotations

import math

import numpy as np

from pickbest.core import FloatArray, IntArray, KeyArray
from pickbest.kernels.compiled import kernel
from pickbest.kernels.inclusion import FEW_ARMS, inclusion_probabilities
from pickbest.kernels.integrals import LANES, NODE_WEIGHTS, NODES
from pickbest.kernels.leaders import EXACT, fill_spread, pick_row
from pickbest.kernels.random import round_key

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
def first_probability(spread: FloatArray, least: float, arm: int) -> float:
    """P(the arm is the first leader); least is the smallest of spread.

    w ∫_0^1 Π (1 - z w_b) dz over the other arms b, with w = least / spread: a polynomial in z,
    for which Gauss-Legendre nodes are exact.
    """
    n_arms = spread.shape[0]
    if not spread[arm] < np.inf:
        return 0.0
    if n_arms > FEW_ARMS:
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


@kernel
def learn_row(
    costs: FloatArray,
    slack: float,
    arms: IntArray,
    weights: FloatArray,
    seen: FloatArray,
    spread: FloatArray,
    best: FloatArray,
) -> float:
    """Add a round's weighted costs; returns the new slack. spread and best are scratch."""
    rate = rate_of(costs.shape[0], slack)
    fill_spread(costs, np.zeros(0, np.bool_), rate, arms[:1], best, spread)
    least = spread.min()
    for j in range(arms.shape[0]):
        cost = weights[j] * seen[j]
        if cost > 0.0:
            slack += shortfall(first_probability(spread, least, arms[j]), cost, rate)
            costs[arms[j]] += cost
    return slack


@kernel
def pick_adaptive(
    costs: FloatArray, slack: FloatArray, keys: KeyArray, arms: IntArray, weights: FloatArray
) -> None:
    """The pick of every replicate, with exact weights."""
    n_arms = costs.shape[1]
    best, spread, noisy = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    nobody = np.zeros(0, np.bool_)
    for r in range(costs.shape[0]):
        rate = rate_of(n_arms, slack[r])
        pick_row(
            costs[r],
            nobody,
            rate,
            keys[r],
            EXACT,
            1,
            1.0,
            arms[r],
            weights[r],
            best,
            spread,
            noisy,
        )


@kernel
def learn_adaptive(
    costs: FloatArray, slack: FloatArray, arms: IntArray, weights: FloatArray, seen: FloatArray
) -> None:
    """learn_row for every replicate."""
    best, spread = np.empty(costs.shape[1]), np.empty(costs.shape[1])
    for r in range(costs.shape[0]):
        slack[r] = learn_row(costs[r], slack[r], arms[r], weights[r], seen[r], spread, best)


@kernel
def play_adaptive(
    costs: FloatArray,
    slack: FloatArray,
    table: FloatArray,
    lasting: KeyArray,
    first_round: int,
    budget: int,
    paid: FloatArray,
) -> None:
    """Whole games, equal bit for bit to picking and learning round by round."""
    n_arms = costs.shape[1]
    best, spread, noisy = np.empty(n_arms), np.empty(n_arms), np.empty(n_arms)
    arms, weights, seen = np.empty(budget, np.int64), np.empty(budget), np.empty(budget)
    nobody = np.zeros(0, np.bool_)
    for r in range(costs.shape[0]):
        game = table[r if table.shape[0] > 1 else 0]
        for t in range(game.shape[0]):
            key = round_key(lasting[r], first_round + t)
            rate = rate_of(n_arms, slack[r])
            pick_row(costs[r], nobody, rate, key, EXACT, 1, 1.0, arms, weights, best, spread, noisy)
            lowest = 1.0
            for j in range(budget):
                seen[j] = game[t, arms[j]]
                lowest = min(lowest, seen[j])
            paid[r, t] = lowest
            slack[r] = learn_row(costs[r], slack[r], arms, weights, seen, spread, best)
