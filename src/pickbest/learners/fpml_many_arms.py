"""FPML-partial for very many arms: a round takes microseconds at 10^6 arms as at 10^3."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

from pickbest.core import Feedback, FloatArray, IntArray, check_budget, check_positive
from pickbest.core.states import counts, sums
from pickbest.kernels.compiled import allocating, inlined
from pickbest.kernels.many_arms import (
    DrawWork,
    Groups,
    arms_moved,
    draw_arms,
    empty_groups,
    fill_groups,
    new_draw_work,
    weigh_arms,
)
from pickbest.kernels.rules import CompiledLearner, Pick, Rule, Told
from pickbest.learners.fpml import start_leaders


class FPMLManyArmsState(NamedTuple):
    """costs, round: as FPML's. groups: what picks need of the arms."""

    costs: Annotated[FloatArray, sums(-1)]
    round: Annotated[IntArray, counts()]
    groups: Groups


class Law(NamedTuple):
    """Perturbations are Exp(1) / epsilon."""

    epsilon: float


@allocating
def new_work(law: Law, state: FPMLManyArmsState, budget: int) -> DrawWork:
    return new_draw_work(state.costs.shape[1], budget)


@inlined
def pick_row(law: Law, state: FPMLManyArmsState, row: int, work: DrawWork, pick: Pick) -> None:
    """Algorithm 1 on estimated costs, and weight 1 / P(arm picked) for each picked arm."""
    arms, weights = pick.arms, pick.weights
    drawn = draw_arms(state.groups, row, pick.key, arms, work)
    weigh_arms(state.groups, row, arms, drawn, work, weights)
    for j in range(arms.shape[0]):
        weights[j] = 1.0 / weights[j]


@inlined
def learn_row(law: Law, state: FPMLManyArmsState, row: int, work: DrawWork, told: Told) -> None:
    """Proposition 5's estimates: weight · cost for the picked arms, 0 for the others."""
    arms, weights, seen = told.arms, told.weights, told.costs
    for j in range(arms.shape[0]):
        state.costs[row, arms[j]] += weights[j] * seen[j]
    arms_moved(state.costs, law.epsilon, state.groups, row, arms, work)
    state.round[row] += 1


RULE = Rule(new_work, pick_row, learn_row)


@dataclass(frozen=True)
class FPMLManyArms(CompiledLearner[Law, FPMLManyArmsState, DrawWork]):
    """FPMLPartial with exact weights, for hundreds of arms and more.

    Its picks have the same law and its weights the same values, but a round touches only a few arms
    (see kernels.many_arms). Time grows with the square of the budget, for the weights, and hardly
    with n_arms.

    >>> import numpy as np
    >>> from pickbest.core import Seen, replicate_keys, rng_for
    >>> learner = FPMLManyArms(n_arms=1_000, budget=2, epsilon=0.01)
    >>> state = learner.start(replicates=1)
    >>> choice = learner.pick(state, rng_for(replicate_keys(0, 1), 0))
    >>> choice.weights.round(9)
    array([[500., 500.]])
    >>> state = learner.learn(state, choice, Seen.of(np.array([[0.5, 1.0]])))
    >>> state.costs[0, choice.arms[0]].round(9)
    array([250., 500.])
    """

    n_arms: int
    budget: int
    epsilon: float
    feedback = Feedback.PICKED
    unbiased = True
    rule = RULE

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        check_positive("epsilon", self.epsilon)

    @cached_property
    def law(self) -> Law:
        return Law(self.epsilon)

    def start(self, replicates: int) -> FPMLManyArmsState:
        known = start_leaders(replicates, self.n_arms)
        return self.refreshed(FPMLManyArmsState(*known, empty_groups(replicates, self.n_arms)))

    def refreshed(self, state: FPMLManyArmsState) -> FPMLManyArmsState:
        """The groups of cumulative costs."""
        costs = state.costs
        fill_groups.suited(costs.size)(costs, self.epsilon, state.groups, self.budget)
        return state
