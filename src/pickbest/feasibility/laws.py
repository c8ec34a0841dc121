"""Laws over tuples of constraints: what a learner plays next, and what an oracle is asked about.

`TupleLaw` lists its tuples. `ProductLaw` is that of B independent draws from Hedge's law p, and
needs none: with the slacks in ascending order and S_i = p_i + p_(i+1) + …, the smallest of B draws
is the i-th with probability S_i^B - S_(i+1)^B, so expectations and supergradients take O(n log n).
At the rate η_B its regret does not grow with the calls (docs/two-picks.md).
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

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
from pickbest.kernels import leader_laws
from pickbest.learners import FPML, Hedge
from pickbest.learners.adahedge import AdaHedge, adaptive_rate
from pickbest.learners.fpml import decayed

# Where there are at most this many subsets, FPML's law is computed for each of them.
MOST_SUBSETS = 600
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
    draws), for one constraint and, for FPML, where there are few subsets. In any other case as many
    replicates as `samples` says, all fed the same costs, stand for the law by their draws.

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
    """Hedge's is known; FPML's for single arms, and where there are few subsets."""
    if not isinstance(learner, FPML):
        return isinstance(learner, Hedge | AdaHedge)
    few = learner.n_arms <= leader_laws.MOST_ARMS
    subsets = math.comb(learner.n_arms, learner.budget)
    return learner.budget == 1 or (few and subsets <= MOST_SUBSETS)


def exact_law(learner: Learner, state: State) -> AnyLaw:
    """The law of a learner that has one, in the state of a single replicate."""
    if isinstance(learner, AdaHedge):
        rate = adaptive_rate(state.gap[0], learner.n_arms)
        return ProductLaw(softmax(rate * state.gains[0]), 1)
    if isinstance(learner, Hedge):
        return ProductLaw(softmax(learner.rate * state.gains[0]), learner.budget)
    if not isinstance(learner, FPML):
        raise TypeError(f"the law of {type(learner).__name__} is not known")
    costs, epsilon = state.costs[0], decayed(learner.epsilon, learner.decay, state.round[0])
    tuples = _subsets(learner.n_arms, learner.budget)
    chances = np.empty(len(tuples))
    if learner.budget == 1:
        leader_laws.leader_law(costs, epsilon, chances)
    else:
        leader_laws.subset_law(costs, epsilon, tuples, chances)
    return TupleLaw(tuples, chances)


def softmax(gains: FloatArray) -> FloatArray:
    """Probabilities that are proportional to exp(gains)."""
    shares = np.exp(gains - gains.max())
    probabilities: FloatArray = shares / shares.sum()
    return probabilities


@lru_cache(maxsize=4)
def _subsets(n_constraints: int, budget: int) -> IntArray:
    return np.array([*combinations(range(n_constraints), budget)])


def merged(draws: IntArray) -> TupleLaw:
    """The empirical law of draws (samples, budget): each subset once, with its frequency."""
    subsets, counts = np.unique(np.sort(draws, axis=1), axis=0, return_counts=True)
    return TupleLaw(subsets, counts / len(draws))
