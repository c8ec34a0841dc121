"""FPML-partial: FPML that sees the costs of its own arms only (Proposition 5)."""

import math
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pickbest.core import (
    Feedback,
    FloatArray,
    PickbestError,
    check_budget,
    check_count,
    check_positive,
)
from pickbest.kernels.compiled import allocating, exp_or_inf, inlined
from pickbest.kernels.inclusion import inclusion_probabilities
from pickbest.kernels.leaders import draw_leaders, explore_one, geometric_weights, refresh_spread
from pickbest.kernels.rules import CompiledLearner, Pick, Rule, Told
from pickbest.learners.fpml import FPMLState, start_leaders


class Weights(Enum):
    """Where FPML-partial's weights come from."""

    EXACT = "exact"
    GEOMETRIC = "geometric"
    EXPLORE = "explore"


EXACT, GEOMETRIC, EXPLORE = 0, 1, 2
_SOURCES = {Weights.EXACT: EXACT, Weights.GEOMETRIC: GEOMETRIC, Weights.EXPLORE: EXPLORE}


class Law(NamedTuple):
    """epsilon: as FPML's; source: EXACT, GEOMETRIC (with its cap) or EXPLORE."""

    epsilon: float
    source: int
    cap: int
    explore: float


class Work(NamedTuple):
    """noisy, best, spread: scratch of length n_arms.

    kept, base: h and its base of every row (see kernels.leaders), from one round to the next;
    the base is NaN where nothing is kept.
    """

    noisy: FloatArray
    best: FloatArray
    spread: FloatArray
    kept: FloatArray
    base: FloatArray


@allocating
def new_work(law: Law, state: FPMLState, budget: int) -> Work:
    rows, n_arms = state.costs.shape
    return Work(
        np.empty(n_arms),
        np.empty(n_arms),
        np.empty(n_arms),
        np.empty((rows, n_arms)),
        np.full(rows, np.nan),
    )


@inlined
def pick_row(law: Law, state: FPMLState, row: int, work: Work, pick: Pick) -> None:
    """Algorithm 1 on estimated costs, and the weights of section 2.1 or better ones."""
    taken, key, arms, weights = pick.taken, pick.key, pick.arms, pick.weights
    spread, noisy = work.spread, work.noisy
    work.base[row] = refresh_spread(
        state.costs[row],
        taken,
        law.epsilon,
        work.base[row],
        work.kept[row],
        arms,
        work.best,
        spread,
    )
    counter = draw_leaders(spread, key, arms, work.best, noisy)
    if law.source == EXACT:
        inclusion_probabilities(spread, arms, weights)
        for j in range(arms.shape[0]):
            weights[j] = 1.0 / weights[j]
    elif law.source == GEOMETRIC:
        geometric_weights(spread, counter, arms, law.cap, noisy, weights)
    else:
        explore_one(taken, counter, law.explore, spread.shape[0], arms, weights)


@inlined
def learn_row(law: Law, state: FPMLState, row: int, work: Work, told: Told) -> None:
    """Proposition 5's estimates: weight · cost for the picked arms, 0 for the others."""
    arms, weights, seen = told.arms, told.weights, told.costs
    base = work.base[row]
    for j in range(arms.shape[0]):
        cost = weights[j] * seen[j]
        if cost != 0.0:
            state.costs[row, arms[j]] += cost
            if not math.isnan(base):
                work.kept[row, arms[j]] = exp_or_inf(law.epsilon * state.costs[row, arms[j]] - base)
    state.round[row] += 1


RULE = Rule(new_work, pick_row, learn_row, fills_slots=True)


@dataclass(frozen=True)
class FPMLPartial(CompiledLearner[Law, FPMLState, Work]):
    """FPML that sees only the costs of its own arms (Proposition 5).

    weights: EXACT inclusion probabilities; GEOMETRIC resampling, at most `resamples` draws;
        EXPLORE, where with probability `explore` the last arm of the budget is a uniform one
        and only that arm's cost is learned (section 2.1).

    >>> from pickbest.core import replicate_keys, rng_for
    >>> learner = FPMLPartial(n_arms=4, budget=2, epsilon=1.0)
    >>> state = learner.start(replicates=1)
    >>> learner.pick(state, rng_for(replicate_keys(0, 1), 0)).weights
    array([[2., 2.]])
    """

    n_arms: int
    budget: int
    epsilon: float
    weights: Weights = Weights.EXACT
    resamples: int = 1
    explore: float = 1.0
    feedback = Feedback.PICKED
    rule = RULE

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        check_positive("epsilon", self.epsilon)
        check_count("resamples", self.resamples)
        if not 0.0 < self.explore <= 1.0:
            raise PickbestError(f"explore must be above 0 and at most 1, got {self.explore!r}")

    @property
    def unbiased(self) -> bool:
        """Whether the weights are exactly unbiased: a cap on resampling biases them down."""
        return self.weights is not Weights.GEOMETRIC

    @cached_property
    def law(self) -> Law:
        source = _SOURCES[self.weights]
        return Law(self.epsilon, source, self.resamples, self.explore)

    def start(self, replicates: int) -> FPMLState:
        return start_leaders(replicates, self.n_arms)
