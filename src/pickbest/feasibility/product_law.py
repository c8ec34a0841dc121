"""B independent draws from Hedge's law p: the law over tuples that needs no tuples.

With the slacks in ascending order and S_i = p_i + p_(i+1) + …, the smallest of B draws is the i-th
with probability S_i^B - S_(i+1)^B: expectations and supergradients take O(n log n), and nothing is
sampled. At the rate η_B its regret does not grow with the calls (docs/two-picks.md).
"""

from dataclasses import dataclass

import numpy as np

from pickbest.core import FloatArray, IntArray
from pickbest.feasibility.highs import load


@dataclass(frozen=True)
class ProductLaw:
    """probabilities: (n,), one a constraint, summing to 1. budget: B, the number of draws."""

    probabilities: FloatArray
    budget: int

    def expected_minimum(self, slacks: FloatArray) -> float:
        """E[min over the draws of A_i x - b_i]: what the oracle must make at least 0.

        >>> ProductLaw(np.array([0.5, 0.25, 0.25]), 2).expected_minimum(np.array([1.0, 2.0, -1.0]))
        0.1875
        """
        return float((self.multipliers(slacks) * slacks).sum())

    def multipliers(self, slacks: FloatArray) -> FloatArray:
        """y: P(constraint i is the smallest draw). y · r ≥ E[min r] for all r, with = at slacks."""
        order = np.argsort(slacks, kind="stable")
        y = np.empty(len(slacks))
        y[order] = self.probabilities[order] * self._densities(order)
        return y

    def soft_multipliers(self, slacks: FloatArray, temperature: float) -> FloatArray:
        """The y of the law's core that makes y · slacks + temperature / 2 Σ y_i² / p_i smallest.

        The core is the convex hull of all `multipliers`: y(S) ≤ 1 - (1 - p(S))^B with = for all
        constraints. y_i / p_i is at most B, so the smoothed minimum is less than `softening` ·
        temperature off. In the order of the slacks it is an isotonic regression (Moreau's
        decomposition, as in Blondel, Teboul, Berthet and Djolonga, ICML 2020, for permutations).
        """
        isotonic = load("scipy.optimize", "the ball at a budget above 1").isotonic_regression
        order = np.argsort(slacks, kind="stable")
        p = self.probabilities[order]
        wanted = -slacks[order] / temperature
        pooled = isotonic(wanted - self._densities(order), weights=p, increasing=False).x
        y: FloatArray = np.empty(len(slacks))
        y[order] = p * np.maximum(wanted - pooled, 0.0)
        y /= y.sum()
        return y

    @property
    def softening(self) -> float:
        """The largest 1/2 Σ y_i² / p_i over the core, less its smallest."""
        return (self.budget**2 - 1) / 2.0

    def compact(self) -> tuple[IntArray, "ProductLaw"]:
        """(used, law): the constraints that can be drawn, and the law over them alone."""
        used = np.flatnonzero(self.probabilities)
        return used, ProductLaw(self.probabilities[used], self.budget)

    def _densities(self, order: IntArray) -> FloatArray:
        """(S_i^B - S_(i+1)^B) / p_i as the sum Σ_k S_i^k S_(i+1)^(B-1-k), which loses no digits."""
        here = np.cumsum(self.probabilities[order][::-1])[::-1]
        beyond = np.append(here[1:], 0.0)
        densities = power = np.ones(len(order))
        for _ in range(self.budget - 1):
            power = power * here
            densities = densities * beyond + power
        return densities
