"""Laws over tuples of constraints: what a learner plays next, and what an oracle is asked about.

`TupleLaw` lists its tuples. `ProductLaw` is that of B independent draws from Hedge's law p, and
needs none: with the slacks in ascending order and S_i = p_i + p_(i+1) + …, the smallest of B draws
is the i-th with probability S_i^B - S_(i+1)^B, so expectations and supergradients take O(n log n).
At the rate η_B its regret does not grow with the calls (docs/two-picks.md).
"""

from dataclasses import dataclass

import numpy as np

from pickbest.core import (
    Choice,
    FloatArray,
    IntArray,
    Learner,
    State,
    replicate_keys,
    rng_for,
    visible,
)
from pickbest.learners import FPML, Hedge
from pickbest.learners.adahedge import AdaHedge, adaptive_rate
from pickbest.learners.fpml import decayed

# On (0, 1): 24 nodes integrate e^(-37 z) to 1e-13 relative.
_points, _weights = np.polynomial.legendre.leggauss(24)
NODES, NODE_WEIGHTS = (_points + 1.0) / 2.0, _weights / 2.0
# Draws that stand for a law that is not known.
SAMPLES = 256


@dataclass(frozen=True)
class TupleLaw:
    """A distribution over tuples of constraints.

    tuples: (tuples, budget) indices of constraints. probabilities: (tuples,), summing to 1.
    """

    tuples: IntArray
    probabilities: FloatArray

    def expected_minimum(self, slacks: FloatArray) -> float:
        """E[min over the tuple of A_i x - b_i]: what the oracle must make at least 0.

        >>> law = TupleLaw(np.array([[0, 1], [1, 2]]), np.array([0.5, 0.5]))
        >>> law.expected_minimum(np.array([1.0, 2.0, -1.0]))
        0.0
        """
        # A sum, not a product of vectors: the threads of BLAS cost more than they save here.
        return float((self.probabilities * slacks[self.tuples].min(axis=1)).sum())

    def multipliers(self, slacks: FloatArray) -> FloatArray:
        """y: P(constraint i is the smallest of its tuple). y · r ≥ E[min r], with = at slacks."""
        rows = np.arange(len(self.tuples))
        smallest = self.tuples[rows, slacks[self.tuples].argmin(axis=1)]
        return np.bincount(smallest, self.probabilities, len(slacks)).astype(np.float64, copy=False)


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
        here = np.cumsum(self.probabilities[order][::-1])[::-1]
        beyond = np.append(here[1:], 0.0)
        # (S_i^B - S_(i+1)^B) / p_i as the sum Σ_k S_i^k S_(i+1)^(B-1-k), which loses no digits.
        densities = power = np.ones(len(order))
        for _ in range(self.budget - 1):
            power = power * here
            densities = densities * beyond + power
        y = np.empty(len(slacks))
        y[order] = self.probabilities[order] * densities
        return y


AnyLaw = TupleLaw | ProductLaw


class Playing:
    """A learner in the middle of its game, as the law over tuples that it plays next.

    Hedge and FPML see every cost, so one state has one law: exact for Hedge (the product of its
    draws), and for FPML where it plays one constraint. In any other case as many replicates as
    `samples` says, all fed the same costs, stand for the law by their draws.

    samples: None where the laws are exact.
    """

    def __init__(self, learner: Learner, seed: int) -> None:
        self.samples = None if has_exact_law(learner) else SAMPLES
        self._learner = learner
        self._keys = replicate_keys(seed, self.samples or 1)
        self._state = learner.start(len(self._keys))
        # A learner that sees every cost learns the same whatever was picked.
        self._choice = Choice(np.empty((1, 0), np.int64), np.empty((1, 0)))

    def law(self, round_index: int) -> AnyLaw:
        """What it plays in that round."""
        if self.samples is None:
            return exact_law(self._learner, self._state)
        self._choice = self._learner.pick(self._state, rng_for(self._keys, round_index))
        return merged(self._choice.arms)

    def learn(self, costs: FloatArray) -> None:
        """Fold in the costs of all constraints, scaled to [0, 1]."""
        same = np.ascontiguousarray(np.broadcast_to(costs, (len(self._keys), len(costs))))
        seen = visible(self._learner, self._choice, same)
        self._state = self._learner.learn(self._state, self._choice, seen)


def has_exact_law(learner: Learner) -> bool:
    """Hedge's is known, and FPML's for single arms."""
    return isinstance(learner, Hedge | AdaHedge) or (
        isinstance(learner, FPML) and learner.budget == 1
    )


def exact_law(learner: Learner, state: State) -> ProductLaw:
    """The law of a learner that has one, in the state of a single replicate."""
    if isinstance(learner, AdaHedge):
        rate = adaptive_rate(state.gap[0], learner.n_arms)
        return ProductLaw(softmax(rate * state.gains[0]), 1)
    if isinstance(learner, Hedge):
        return ProductLaw(softmax(learner.rate * state.gains[0]), learner.budget)
    if not isinstance(learner, FPML):
        raise TypeError(f"the law of {type(learner).__name__} is not known")
    epsilon = decayed(learner.epsilon, learner.decay, state.round[0])
    return ProductLaw(leader_law(state.costs[0], epsilon), 1)


def softmax(gains: FloatArray) -> FloatArray:
    """Probabilities that are proportional to exp(gains)."""
    shares = np.exp(gains - gains.max())
    probabilities: FloatArray = shares / shares.sum()
    return probabilities


def leader_law(costs: FloatArray, epsilon: float) -> FloatArray:
    """P(constraint i is the first of FPML's perturbed leaders), in time O(n).

    With U uniform, -ln U is Exp(1), so the leader has the smallest U_i / w_i, where
    w_i = exp(-ε (C_i - min C)). U_i / w_i is below z with probability min(1, z w_i), independently
    of the others: w_i ∫_0^1 Π_{c ≠ i} (1 - z w_c) dz, a sum over Gauss-Legendre nodes. The product
    over all is computed once for each node, and the constraint's own factor is divided out.
    """
    weights = np.exp(-epsilon * (costs - costs.min()))
    # Where z times the sum of all weights exceeds this, the product is below e^(-37) < 1e-16.
    nodes = NODES * min(1.0, 37.0 / float(weights.sum()))
    falls = 1.0 - nodes[:, None] * weights
    none_below = NODE_WEIGHTS * np.exp(np.log(falls).sum(axis=1))
    shares = weights * (none_below[:, None] / falls).sum(axis=0)
    chances: FloatArray = shares / shares.sum()
    return chances


def merged(draws: IntArray) -> TupleLaw:
    """The empirical law of draws (samples, budget): each subset once, with its frequency."""
    subsets, counts = np.unique(np.sort(draws, axis=1), axis=0, return_counts=True)
    return TupleLaw(subsets, counts / len(draws))
