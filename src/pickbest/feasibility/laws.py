"""The distribution d_t over tuples of constraints that a learner plays: exact, or by samples.

FPML and Hedge see every cost, so their state is the same in all replicates, and d_t is a
function of it: exact for Hedge (B > 1: the product of its draws), for one constraint (B = 1) and,
for FPML, where there are few subsets. Any other case takes M draws: a batch of M replicates that
are fed the same costs.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from pickbest.core import (
    Choice,
    FloatArray,
    IntArray,
    KeyArray,
    Learner,
    replicate_keys,
    rng_for,
    visible,
)
from pickbest.feasibility.product_law import ProductLaw
from pickbest.kernels import leader_laws
from pickbest.learners import FPML, Hedge
from pickbest.learners.fpml import Noise

# Where there are at most this many subsets, FPML's law is computed for each of them.
MOST_SUBSETS = 600
DEFAULT_SAMPLES = 256

# Learners that see every cost learn the same whatever they picked.
_NO_CHOICE = Choice(np.empty((1, 0), np.int64), np.empty((1, 0)))


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

    def first_marginal(self, n_constraints: int) -> FloatArray:
        """P(constraint i comes first): at B = 1, the law itself as a vector."""
        return summed_at(self.tuples[:, 0], self.probabilities, n_constraints)

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


# What an oracle is asked about.
AnyLaw = Law | ProductLaw


def weighted_sum(weights: FloatArray, values: FloatArray) -> float:
    """Σ weights · values. Not by BLAS, whose threads cost more than they save here."""
    return float((weights * values).sum())


def summed_at(places: IntArray, values: FloatArray, size: int) -> FloatArray:
    """out[i] = the sum of the values whose place is i."""
    return np.bincount(places, values, size).astype(np.float64, copy=False)


class Drawer(ABC):
    """A learner in the middle of its game, as the law that it plays next.

    samples: how many draws stand for the law; None: the law is exact.
    """

    samples: int | None = None
    _learner: Any

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self._state = learner.start(self.samples or 1)

    @abstractmethod
    def law(self, round_index: int) -> AnyLaw:
        """What it plays in that round."""

    def learn(self, costs: FloatArray) -> None:
        """Fold in the costs of all constraints, scaled to [0, 1]."""
        self._state = self._learner.learn(self._state, _NO_CHOICE, costs[None])


class HedgeLaw(Drawer):
    """Hedge: one constraint drawn from its law, or the product of B draws."""

    _learner: Hedge

    def law(self, round_index: int) -> AnyLaw:
        gains = self._learner.rate * self._state.gains[0]
        shares = np.exp(gains - gains.max())
        shares /= shares.sum()
        if self._learner.budget == 1:
            return Law(np.arange(len(shares))[:, None], shares)
        return ProductLaw(shares, self._learner.budget)


class ExactLaw(Drawer):
    """FPML with few subsets: one replicate, whose law is known."""

    _learner: FPML

    @cached_property
    def _tuples(self) -> IntArray:
        return np.array([*combinations(range(self._learner.n_arms), self._learner.budget)])

    def law(self, round_index: int) -> Law:
        chances = np.empty(len(self._tuples))
        costs, epsilon = self._state.costs[0], epsilon_now(self._learner, self._state.round)
        if self._learner.budget == 1:
            leader_laws.leader_law(costs, epsilon, chances)
        else:
            leader_laws.subset_law(costs, epsilon, self._tuples, chances)
        return Law(self._tuples, chances)


class LeaderDraws(Drawer):
    """FPML by samples: one state, `samples` draws of the perturbations."""

    _learner: FPML

    def __init__(self, learner: FPML, samples: int, keys: KeyArray) -> None:
        super().__init__(learner)
        self.samples, self._keys = samples, keys

    def law(self, round_index: int) -> Law:
        rng = rng_for(self._keys, round_index)
        arms = np.empty((len(self._keys), self._learner.budget), np.int64)
        leader_laws.draw_subsets(
            self._state.costs[0],
            epsilon_now(self._learner, self._state.round),
            rng.keys if self._learner.fresh else rng.lasting,
            arms,
        )
        return merged(arms, self._learner.n_arms)


class ReplicateDraws(Drawer):
    """Any learner by samples: as many replicates, all fed the same costs."""

    _choice = _NO_CHOICE

    def __init__(self, learner: Learner, samples: int, keys: KeyArray) -> None:
        self.samples, self._keys = samples, keys
        super().__init__(learner)

    def law(self, round_index: int) -> Law:
        self._choice = self._learner.pick(self._state, rng_for(self._keys, round_index))
        return merged(self._choice.arms, self._learner.n_arms)

    def learn(self, costs: FloatArray) -> None:
        same = np.ascontiguousarray(np.broadcast_to(costs, (len(self._keys), len(costs))))
        seen = visible(self._learner, self._choice, same)
        self._state = self._learner.learn(self._state, self._choice, seen)


def drawer_for(learner: Learner, samples: int | None, seed: int) -> Drawer:
    """The law of a learner: exact where it can be and `samples` is None, else by samples."""
    if samples is None and isinstance(learner, Hedge):
        return HedgeLaw(learner)
    count = DEFAULT_SAMPLES if samples is None else samples
    keys = replicate_keys(seed, count)
    if not isinstance(learner, FPML) or learner.noise is not Noise.EXPONENTIAL:
        return ReplicateDraws(learner, count, keys)
    if samples is None and has_few_subsets(learner):
        return ExactLaw(learner)
    return LeaderDraws(learner, count, keys)


def has_few_subsets(learner: FPML) -> bool:
    """Whether FPML's law can be computed: for single arms always."""
    few = learner.n_arms <= leader_laws.MOST_ARMS
    subsets = math.comb(learner.n_arms, learner.budget)
    return learner.budget == 1 or (few and subsets <= MOST_SUBSETS)


def epsilon_now(learner: FPML, learned: IntArray) -> float:
    """FPML's epsilon in the coming round."""
    return float(learner.epsilon * (learned[0] + 1.0) ** -learner.decay)


def merged(draws: IntArray, n_constraints: int) -> Law:
    """The empirical law of draws (samples, budget): each subset once, with its frequency."""
    ordered = np.sort(draws, axis=1)
    budget = ordered.shape[1]
    if n_constraints**budget < 2**62:
        powers = n_constraints ** np.arange(budget - 1, -1, -1, dtype=np.int64)
        _, first, counts = np.unique(ordered @ powers, return_index=True, return_counts=True)
    else:
        _, first, counts = np.unique(ordered, axis=0, return_index=True, return_counts=True)
    return Law(ordered[first], counts / len(draws))


def sampling_error(
    *, samples: int, budget: int, dimension: int, width: float, calls: int, doubt: float = 0.01
) -> float:
    """What sampling may add to the largest violation after `calls` calls, with odds 1 - doubt.

    The oracle answers the empirical law, Theorem 2 speaks of the true one. With
    f_x(S) = min over S of A_i x - b_i in [-width, width], the difference of the two expectations
    at any x in P is at most Z_t = sup_x (mean of f_x over the samples - E f_x). By symmetrisation
    and Maurer's contraction for vectors (2016), E Z_t ≤ 2 width sqrt(2 B (m + 1) / M), without
    the inner 2 B at B = 1; by McDiarmid and Azuma the mean of Z_t over the calls exceeds its
    expectation by at most 2 width sqrt(ln(1 / doubt) / (2 M calls)).

    >>> round(sampling_error(samples=10_000, budget=1, dimension=3, width=1.0, calls=100), 5)
    0.04303
    """
    copies = 1 if budget == 1 else 2 * budget
    uniform = math.sqrt(copies * (dimension + 1) / samples)
    deviation = math.sqrt(math.log(1.0 / doubt) / (2.0 * samples * calls))
    return 2.0 * width * (uniform + deviation)
