"""FPML-partial for very many arms: a round takes microseconds at 10^7 arms as at 10^3."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

import numpy as np

from pickbest.core import (
    Feedback,
    FloatArray,
    IntArray,
    PickbestError,
    check_budget,
    check_positive,
)
from pickbest.core.states import counts, sums
from pickbest.kernels.compiled import allocating, inlined
from pickbest.kernels.many_arms.bucket_picks import Filled, draw, list_filled, none_filled
from pickbest.kernels.many_arms.bucket_weights import bucket_inclusion
from pickbest.kernels.many_arms.buckets import (
    MOST_ARMS,
    MOST_BITS,
    Buckets,
    add_bits,
    check_buckets,
    empty_buckets,
    fill_buckets,
    row_of,
)
from pickbest.kernels.rules import CompiledLearner, Pick, Rule, Told
from pickbest.learners.fpml import FPMLState, start_leaders


class FPMLManyArmsState(NamedTuple):
    """bits: cumulative estimated costs in units of ln 2 / ε; round: how many were learned.

    buckets: where the arms stand by their bits.
    """

    bits: Annotated[FloatArray, sums(-1)]
    round: Annotated[IntArray, counts()]
    buckets: Buckets

    def check(self) -> None:
        check_buckets(self.bits, self.buckets)


class Law(NamedTuple):
    """bits_per_cost: ε / ln 2."""

    bits_per_cost: float


class Work(NamedTuple):
    """Scratch: the buckets that hold arms; noisy, added: (budget,)."""

    filled: Filled
    noisy: FloatArray
    added: FloatArray


@allocating
def new_work(law: Law, state: FPMLManyArmsState, budget: int) -> Work:
    return Work(none_filled(), np.empty(budget), np.empty(budget))


@inlined
def pick_row(law: Law, state: FPMLManyArmsState, row: int, work: Work, pick: Pick) -> None:
    """Algorithm 1 on estimated costs, and weight 1 / P(arm picked) for each picked arm."""
    key, arms, weights = pick.key, pick.arms, pick.weights
    bits, buckets = state.bits[row], row_of(state.buckets, row)
    n_filled = list_filled(buckets, work.filled)
    draw(bits, buckets, work.filled, n_filled, key, work.noisy, arms)
    bucket_inclusion(bits, buckets, work.filled, n_filled, arms, weights)
    for j in range(arms.shape[0]):
        weights[j] = 1.0 / weights[j]


@inlined
def learn_row(law: Law, state: FPMLManyArmsState, row: int, work: Work, told: Told) -> None:
    """Proposition 5's estimates: weight · cost for the picked arms, 0 for the others."""
    arms, weights, seen = told.arms, told.weights, told.costs
    for j in range(arms.shape[0]):
        work.added[j] = law.bits_per_cost * weights[j] * seen[j]
        # Buckets cannot hold an arm whose cost falls, or is not a number.
        if not work.added[j] >= 0.0:
            raise PickbestError("costs must be at least 0, got one that is less, or NaN")
    add_bits(state.bits[row], row_of(state.buckets, row), arms, work.added)
    state.round[row] += 1


RULE = Rule(new_work, pick_row, learn_row)


@dataclass(frozen=True)
class FPMLManyArms(CompiledLearner[Law, FPMLManyArmsState, Work]):
    """FPMLPartial with exact weights and a constant epsilon, for hundreds of arms and more.

    Its picks have the same law and its weights the same values, but it keeps arms in buckets
    of similar weight, so that a round touches only a few of them (see kernels.many_arms). Time
    grows with the square of the budget, for the weights, and hardly with n_arms. A cost below 0 is
    refused, and its replicate stays as it was.

    >>> from pickbest.core import Seen, replicate_keys, rng_for
    >>> learner = FPMLManyArms(n_arms=1_000, budget=2, epsilon=0.01)
    >>> state = learner.start(replicates=1)
    >>> choice = learner.pick(state, rng_for(replicate_keys(0, 1), 0))
    >>> choice.weights.round(9)
    array([[500., 500.]])
    >>> state = learner.learn(state, choice, Seen.of(np.array([[0.5, 1.0]])))
    >>> learner.costs(state)[0, choice.arms[0]].round(9)
    array([250., 500.])
    """

    n_arms: int
    budget: int
    epsilon: float
    # Weights belong to the draw of their own round: perturbations are never kept.
    fresh = True
    feedback = Feedback.PICKED
    unbiased = True
    rule = RULE

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        check_positive("epsilon", self.epsilon)
        if self.n_arms > MOST_ARMS:
            raise PickbestError(f"n_arms must be at most {MOST_ARMS}, got {self.n_arms}")

    @cached_property
    def law(self) -> Law:
        return Law(self.epsilon / math.log(2.0))

    def start(self, replicates: int) -> FPMLManyArmsState:
        return self.restored(start_leaders(replicates, self.n_arms))

    def costs(self, state: FPMLManyArmsState) -> FloatArray:
        """(replicates, n_arms) cumulative estimated costs."""
        estimated: FloatArray = state.bits * (math.log(2.0) / self.epsilon)
        return estimated

    def portable(self, state: FPMLManyArmsState) -> FPMLState:
        """What FPMLPartial would know."""
        return FPMLState(self.costs(state), state.round)

    def restored(self, known: FPMLState) -> FPMLManyArmsState:
        """The buckets that cumulative costs fill; only differences of costs matter."""
        lowest = np.minimum(known.costs.min(axis=1, keepdims=True), 0.0)
        bits = np.minimum((known.costs - lowest) * self.law.bits_per_cost, MOST_BITS)
        buckets = empty_buckets(*bits.shape)
        fill_buckets.suited(bits.size)(bits, buckets, self.budget)
        return FPMLManyArmsState(bits, known.round, buckets)
