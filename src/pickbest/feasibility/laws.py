"""Laws over tuples of constraints: what an oracle is asked about.

`Law` lists its tuples. `ProductLaw` is that of B independent draws from Hedge's law p, and needs
none: with the slacks in ascending order and S_i = p_i + p_(i+1) + …, the smallest of B draws is the
i-th with probability S_i^B - S_(i+1)^B, so expectations and supergradients take O(n log n). At the
rate η_B its regret does not grow with the calls (docs/two-picks.md).
"""

import math
from dataclasses import dataclass

import numpy as np

from pickbest.core import FloatArray, IntArray
from pickbest.feasibility.highs import load


@dataclass(frozen=True)
class Law:
    """A distribution over tuples of constraints.

    tuples: (tuples, budget) indices of constraints. probabilities: (tuples,), summing to 1.
    """

    tuples: IntArray
    probabilities: FloatArray

    @property
    def budget(self) -> int:
        return int(self.tuples.shape[1])

    def expected_minimum(self, slacks: FloatArray) -> float:
        """E[min over the tuple of A_i x - b_i]: what the oracle must make at least 0.

        >>> law = Law(np.array([[0, 1], [1, 2]]), np.array([0.5, 0.5]))
        >>> law.expected_minimum(np.array([1.0, 2.0, -1.0]))
        0.0
        """
        smallest = slacks[self.tuples[:, 0]]
        for others in self.tuples.T[1:]:
            np.minimum(smallest, slacks[others], out=smallest)
        return weighted_sum(self.probabilities, smallest)

    def multipliers(self, slacks: FloatArray) -> FloatArray:
        """y: P(constraint i is the smallest of its tuple). y · r ≥ E[min r], with = at slacks."""
        rows = np.arange(len(self.tuples))
        smallest = self.tuples[rows, slacks[self.tuples].argmin(axis=1)]
        return summed_at(smallest, self.probabilities, len(slacks))

    def soft_multipliers(self, slacks: FloatArray, temperature: float) -> FloatArray:
        """y: each tuple's probability, shared among its constraints by exp(-slack / temperature).

        The smoothed minimum is at most `softening` · temperature off.
        """
        values = slacks[self.tuples]
        shares = np.exp((values.min(axis=1, keepdims=True) - values) / temperature)
        shares *= (self.probabilities / shares.sum(axis=1))[:, None]
        return summed_at(self.tuples.ravel(), shares.ravel(), len(slacks))

    @property
    def softening(self) -> float:
        """The largest entropy of the shares of a tuple."""
        return math.log(self.budget)

    def compact(self) -> tuple[IntArray, "Law"]:
        """(used, law): the constraints that occur, and the law over them alone."""
        used, inner = np.unique(self.tuples, return_inverse=True)
        return used, Law(inner.reshape(self.tuples.shape), self.probabilities)


@dataclass(frozen=True)
class ProductLaw:
    """probabilities: (n,), one per constraint, summing to 1. budget: B, the number of draws."""

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


# What an oracle is asked about.
AnyLaw = Law | ProductLaw


def weighted_sum(weights: FloatArray, values: FloatArray) -> float:
    """Σ weights · values. Not by BLAS, whose threads cost more than they save here."""
    return float((weights * values).sum())


def summed_at(places: IntArray, values: FloatArray, size: int) -> FloatArray:
    """out[i] = the sum of the values whose place is i."""
    return np.bincount(places, values, size).astype(np.float64, copy=False)
