"""How likely arms are to be the perturbed leader."""

from __future__ import annotations

import numpy as np

from pickbest.core import FloatArray, IntArray
from pickbest.kernels.adaptive import first_probability
from pickbest.kernels.compiled import kernel
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
    for r in range(costs.shape[0]):
        rate = decayed(epsilon, decay, learned[r])
        fill_spread(costs[r], nobody, rate, arms[r, :1], best, spread)
        least = spread.min()
        for j in range(arms.shape[1]):
            chances[r, j] = first_probability(spread, least, arms[r, j])
