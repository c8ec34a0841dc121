"""Multiple-play UCB1."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

import numpy as np

from pickbest.core import Feedback, FloatArray, IntArray, check_budget, check_positive
from pickbest.core.states import counts
from pickbest.kernels.compiled import inlined
from pickbest.kernels.leaders import Scratch, new_scratch, smallest
from pickbest.kernels.rules import CompiledLearner, Pick, Rule, Told


class UCBState(NamedTuple):
    """costs, plays: sums over the rounds in which the arm was picked; round: rounds learned."""

    costs: Annotated[FloatArray, counts(-1)]
    plays: Annotated[FloatArray, counts(-1)]
    round: Annotated[IntArray, counts()]


class Law(NamedTuple):
    """width: of the confidence bounds."""

    width: float


@inlined
def pick_row(law: Law, state: UCBState, row: int, work: Scratch, pick: Pick) -> None:
    """The lowest lower bounds of the mean cost; arms that never ran come first."""
    arms = pick.arms
    log_round = math.log(state.round[row] + 1.0)
    for a in range(state.costs.shape[1]):
        plays = state.plays[row, a]
        work.values[a] = -np.inf
        if plays > 0.0:
            played = max(plays, 1.0)
            radius = math.sqrt(law.width * log_round / played)
            work.values[a] = state.costs[row, a] / played - radius
    smallest(work.values, arms, work.best)


@inlined
def learn_row(law: Law, state: UCBState, row: int, work: Scratch, told: Told) -> None:
    arms, seen = told.arms, told.costs
    for j in range(arms.shape[0]):
        state.costs[row, arms[j]] += seen[j]
        state.plays[row, arms[j]] += 1.0
    state.round[row] += 1


RULE = Rule(new_scratch, pick_row, learn_row, weighted=False)


@dataclass(frozen=True)
class UCB(CompiledLearner[Law, UCBState, Scratch]):
    """Multiple-play UCB1: the B arms with the lowest mean cost minus sqrt(width ln t / n)."""

    n_arms: int
    budget: int
    width: float = 2.0
    feedback = Feedback.PICKED
    unbiased = False
    rule = RULE

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        check_positive("width", self.width)

    @cached_property
    def law(self) -> Law:
        return Law(self.width)

    def start(self, replicates: int) -> UCBState:
        shape = (replicates, self.n_arms)
        return UCBState(np.zeros(shape), np.zeros(shape), np.zeros(replicates, np.int64))
