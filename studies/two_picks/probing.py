"""The learner of Guan, "Bandits with Probing" (arXiv 2609.15248, 2026), Theorem 3, for comparison.

Written from its description: an anchor A from p, an explorer E from q = p/2 + √p / (2 Σ√p), the
estimate (c(E) - c(A)) / q(E) for the arm E, and mirror descent with -2 Σ√p at the rate 1 / (16 √N).
"""

import numpy as np

from pickbest.core import FloatArray, IntArray


def guan_costs(costs: FloatArray, rounds: int, replicates: int, seed: int) -> FloatArray:
    """(replicates, rounds): what is paid where each arm costs the same in every round."""
    rng = np.random.default_rng(seed)
    n_arms, rows = len(costs), np.arange(replicates)
    rate = 1.0 / (16.0 * np.sqrt(n_arms))
    known, paid = np.zeros((replicates, n_arms)), np.empty((replicates, rounds))
    for t in range(rounds):
        roots = tsallis_roots(rate * known)
        law = roots**2
        law /= law.sum(axis=1, keepdims=True)
        explorer = law / 2.0 + roots / (2.0 * roots.sum(axis=1, keepdims=True))
        anchor, other = drawn(law, rng), drawn(explorer, rng)
        paid[:, t] = np.minimum(costs[anchor], costs[other])
        known[rows, other] += (costs[other] - costs[anchor]) / explorer[rows, other]
    return paid


def tsallis_roots(scaled: FloatArray) -> FloatArray:
    """√p of the law 1 / (scaled - x)², x below all, with sum 1; by Newton's method from above."""
    x = scaled.min(axis=1, keepdims=True) - 1.0
    for _ in range(60):
        inverse = 1.0 / (scaled - x)
        excess = (inverse**2).sum(axis=1, keepdims=True) - 1.0
        step = excess / (2.0 * (inverse**3).sum(axis=1, keepdims=True))
        x -= step
        if np.abs(step).max() <= 1e-12 * np.abs(x).max():
            break
    roots: FloatArray = 1.0 / (scaled - x)
    return roots


def drawn(law: FloatArray, rng: np.random.Generator) -> IntArray:
    """(replicates,) an arm for each row."""
    below = np.cumsum(law, axis=1) < rng.random((len(law), 1)) * law.sum(axis=1, keepdims=True)
    arms: IntArray = np.minimum(below.sum(axis=1), law.shape[1] - 1)
    return arms
