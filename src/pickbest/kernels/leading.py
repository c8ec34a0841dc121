"""How likely arms are to be the perturbed leader."""

from __future__ import annotations

import numpy as np

from pickbest.game import FloatArray, IntArray
from pickbest.kernels.compiled import kernel
from pickbest.kernels.inclusion import inclusion_probabilities
from pickbest.kernels.leaders import decayed, fill_spread


@kernel
def chances_to_lead(
    costs: FloatArray,
    learned: IntArray,
    epsilon: float,
    decay: float,
    arms: IntArray,
    chances: FloatArray,
) -> None:
    """chances[r, j] = P(arm arms[r, j] is the first of the perturbed leaders)."""
    best = np.empty(costs.shape[1])
    spread = np.empty(costs.shape[1])
    nobody = np.zeros(0, np.bool_)
    arm = np.empty(1, np.int64)
    for r in range(costs.shape[0]):
        rate = decayed(epsilon, decay, learned[r])
        fill_spread(costs[r], nobody, rate, arm, best, spread)
        for j in range(arms.shape[1]):
            arm[0] = arms[r, j]
            inclusion_probabilities(spread, arm, chances[r, j : j + 1])
