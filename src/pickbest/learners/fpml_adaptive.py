"""FPML-partial with exact weights and a rate that needs no number of rounds."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

import numpy as np

from pickbest.core import BoolArray, Feedback, FloatArray, check_budget
from pickbest.core.states import sums
from pickbest.kernels.compiled import allocating, inlined
from pickbest.kernels.first_leader import (
    first_probability,
    first_slack,
    many_arms,
    rate_of,
    shortfall,
    spread_leader,
)
from pickbest.kernels.inclusion import inclusion_probabilities
from pickbest.kernels.leaders import draw_leaders, fill_spread
from pickbest.kernels.rules import ByRule, Pick, Rule, Told


class FPMLAdaptiveState(NamedTuple):
    """costs: cumulative estimated costs; slack: half of the regret's bound so far."""

    costs: Annotated[FloatArray, sums(-1)]
    slack: Annotated[FloatArray, sums()]


class Law(NamedTuple):
    """Nothing is set; many: see `first_leader.many_arms`."""

    n_arms: int
    many: bool | None


class Work(NamedTuple):
    """noisy, best, spread: scratch of length n_arms; nobody: no arm is taken."""

    noisy: FloatArray
    best: FloatArray
    spread: FloatArray
    nobody: BoolArray


@allocating
def new_work(law: Law, state: FPMLAdaptiveState, budget: int) -> Work:
    n_arms = law.n_arms
    return Work(np.empty(n_arms), np.empty(n_arms), np.empty(n_arms), np.zeros(0, np.bool_))


@inlined
def pick_row(law: Law, state: FPMLAdaptiveState, row: int, work: Work, pick: Pick) -> None:
    """Algorithm 1 on estimated costs at the round's rate, with exact weights."""
    key, arms, weights = pick.key, pick.arms, pick.weights
    rate = rate_of(law.n_arms, state.slack[row])
    fill_spread(state.costs[row], work.nobody, rate, arms, work.best, work.spread)
    draw_leaders(work.spread, key, arms, work.best, work.noisy)
    inclusion_probabilities(work.spread, arms, weights)
    for j in range(arms.shape[0]):
        weights[j] = 1.0 / weights[j]


@inlined
def learn_row(law: Law, state: FPMLAdaptiveState, row: int, work: Work, told: Told) -> None:
    """Add the weighted costs, and what they add to the slack."""
    arms, weights, seen = told.arms, told.weights, told.costs
    costs, spread = state.costs[row], work.spread
    rate = rate_of(law.n_arms, state.slack[row])
    least = spread_leader(costs, rate, spread)
    for j in range(arms.shape[0]):
        cost = weights[j] * seen[j]
        if cost > 0.0:
            chance = first_probability(spread, least, arms[j], law.many)
            state.slack[row] += shortfall(chance, cost, rate)
            costs[arms[j]] += cost


RULE = Rule(__name__, new_work, pick_row, learn_row)


@dataclass(frozen=True)
class FPMLAdaptive(ByRule):
    """FPML-partial with exact weights, anytime: its rate falls with the variance it meets.

    Its expected regret against the single best arm is at most twice the expected slack, for
    any costs: `theory.adaptive_bound` and docs/learners.md.

    >>> from pickbest.core import replicate_keys, rng_for
    >>> learner = FPMLAdaptive(n_arms=4, budget=2)
    >>> learner.pick(learner.start(1), rng_for(replicate_keys(0, 1), 0)).weights
    array([[2., 2.]])
    """

    n_arms: int
    budget: int
    feedback = Feedback.PICKED
    unbiased = True
    rule = RULE

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)

    @cached_property
    def law(self) -> Law:
        return Law(self.n_arms, many_arms(self.n_arms))

    def start(self, replicates: int) -> FPMLAdaptiveState:
        slack = np.full(replicates, first_slack(self.n_arms))
        return FPMLAdaptiveState(np.zeros((replicates, self.n_arms)), slack)
