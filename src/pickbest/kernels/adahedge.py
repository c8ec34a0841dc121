"""AdaHedge (de Rooij, van Erven, Grünwald and Koolen 2014): Hedge that finds its own rate.

The rate is ln N / gap, where gap adds up by how much Hedge's expected cost exceeded its mix
cost, -ln Σ p exp(-rate · cost) / rate, in the rounds so far.
"""

from __future__ import annotations

import math

import numpy as np

from pickbest.core import (
    BoolArray,
    FloatArray,
    IntArray,
    KeyArray,
)
from pickbest.kernels.compiled import kernel
from pickbest.kernels.softmax import pick_one_row

# In place of an infinite rate while there is no gap: only the leaders have weight.
LEAST_GAP = 1e-9
# Weights below exp of this count as 0.
LEAST_LOG = -700.0


@kernel
def adaptive_rate(gap: float, n_arms: int) -> float:
    """ln N / gap, with one arm taken as two."""
    return math.log(max(n_arms, 2)) / max(gap, LEAST_GAP)


@kernel
def mixability_gap(gains: FloatArray, rate: float, costs: FloatArray) -> float:
    """Expected cost minus mix cost of a round, for Hedge with these gains and this rate."""
    highest = gains[0]
    for a in range(1, gains.shape[0]):
        highest = max(highest, gains[a])
    lowest = np.inf
    for a in range(gains.shape[0]):
        # An arm whose weight is 0 is no part of the mix, however little it costs.
        if rate * (gains[a] - highest) > LEAST_LOG and costs[a] < lowest:
            lowest = costs[a]
    total = expected = mixed = 0.0
    for a in range(gains.shape[0]):
        log_share = rate * (gains[a] - highest)
        if log_share > LEAST_LOG:
            share = math.exp(log_share)
            total += share
            expected += share * (costs[a] - lowest)
            mixed += share * math.exp(-rate * (costs[a] - lowest))
    return max(expected / total + math.log(mixed / total) / rate, 0.0)


@kernel
def pick_adaptive(
    gains: FloatArray, gaps: FloatArray, taken: BoolArray, keys: KeyArray, arms: IntArray
) -> None:
    """One arm for every replicate; taken is (replicates, n_arms), or (replicates, 0)."""
    scratch = np.empty(gains.shape[1])
    for r in range(gains.shape[0]):
        rate = adaptive_rate(gaps[r], gains.shape[1])
        arms[r, 0], _ = pick_one_row(gains[r], taken[r], rate, 0.0, 0.0, keys[r], scratch)


@kernel
def learn_adaptive(gains: FloatArray, gaps: FloatArray, costs: FloatArray) -> None:
    """Fold one round of costs (replicates, n_arms) into gains and gaps."""
    for r in range(gains.shape[0]):
        rate = adaptive_rate(gaps[r], gains.shape[1])
        gaps[r] += mixability_gap(gains[r], rate, costs[r])
        for a in range(gains.shape[1]):
            gains[r, a] -= costs[r, a]
