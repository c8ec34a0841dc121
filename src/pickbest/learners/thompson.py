"""Multiple-play Thompson sampling."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

import numpy as np

from pickbest.core import Feedback, FloatArray, check_budget, check_positive
from pickbest.core.states import counts
from pickbest.kernels.compiled import inlined
from pickbest.kernels.leaders import Scratch, new_scratch, smallest
from pickbest.kernels.random import beta_from
from pickbest.kernels.rules import CompiledLearner, Pick, Rule, Told


class ThompsonState(NamedTuple):
    """costs, rewards: sums over the rounds in which the arm was picked."""

    costs: Annotated[FloatArray, counts(-1)]
    rewards: Annotated[FloatArray, counts(-1)]


class Law(NamedTuple):
    """prior: both parameters of the Beta prior."""

    prior: float


@inlined
def pick_row(law: Law, state: ThompsonState, row: int, work: Scratch, pick: Pick) -> None:
    """A draw of every arm's mean cost from its posterior; the lowest lead."""
    key, arms = pick.key, pick.arms
    counter = key
    for a in range(state.costs.shape[1]):
        counter, work.values[a] = beta_from(
            counter, law.prior + state.costs[row, a], law.prior + state.rewards[row, a]
        )
    smallest(work.values, arms, work.best)


@inlined
def learn_row(law: Law, state: ThompsonState, row: int, work: Scratch, told: Told) -> None:
    """A cost between 0 and 1 counts as that share of a failure."""
    arms, seen = told.arms, told.costs
    for j in range(arms.shape[0]):
        state.costs[row, arms[j]] += seen[j]
        state.rewards[row, arms[j]] += 1.0 - seen[j]


RULE = Rule(new_scratch, pick_row, learn_row, weighted=False)


@dataclass(frozen=True)
class Thompson(CompiledLearner[Law, ThompsonState, Scratch]):
    """Multiple-play Thompson sampling: the B arms with the best draws from Beta posteriors.

    A reward between 0 and 1 counts as that share of a success.
    """

    n_arms: int
    budget: int
    prior: float = 1.0
    feedback = Feedback.PICKED
    unbiased = False
    rule = RULE

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        check_positive("prior", self.prior)

    @cached_property
    def law(self) -> Law:
        return Law(self.prior)

    def start(self, replicates: int) -> ThompsonState:
        shape = (replicates, self.n_arms)
        return ThompsonState(np.zeros(shape), np.zeros(shape))
