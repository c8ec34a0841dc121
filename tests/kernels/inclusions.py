"""The law of FPML's picks, for tests that hold picks against it."""

from __future__ import annotations

import numpy as np

from pickbest.core import FloatArray, IntArray
from pickbest.kernels.compiled import compiled
from pickbest.kernels.inclusion import inclusion_probabilities
from pickbest.kernels.leaders import fill_spread, spread_far


@compiled
def inclusions_of(
    costs: FloatArray, epsilon: float, budget: int, arms: IntArray, out: FloatArray
) -> None:
    """out[j] = P(FPML with these cumulative costs picks arm arms[j]), of any arms.

    They may be any number, picked or not, and lie any distance behind: 0 is less than 1e-300.
    """
    n_arms = costs.shape[0]
    nobody = np.empty(0, np.bool_)
    group, chances = np.empty(budget, np.int64), np.empty(budget)
    best, spread = np.empty(n_arms), np.empty(n_arms)
    fill_spread(costs, nobody, epsilon, group, best, spread)
    if spread.max() == np.inf:
        # Relative to the last of the leaders, an arm with an infinite h has no chance.
        spread_far(costs, nobody, epsilon, group, best, spread)
    for j in range(arms.shape[0]):
        if spread[arms[j]] == np.inf:
            out[j] = 0.0
            continue
        # Any other arms fill the group: the kernel wants as many as the budget.
        group[0] = arms[j]
        for i in range(1, budget):
            group[i] = i - 1 if i - 1 < arms[j] else i
        inclusion_probabilities(spread, group, chances)
        out[j] = chances[0]
