"""FPML-partial with exact weights and a rate that needs no number of rounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pickbest.core import (
    Choice,
    Draws,
    Feedback,
    FloatArray,
    KeyArray,
    State,
    check_budget,
)
from pickbest.kernels import adaptive as kernels
from pickbest.learners.leaders import weights_of


@dataclass(frozen=True)
class FPMLAdaptive:
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

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)

    def start(self, replicates: int) -> State:
        """costs: cumulative estimated costs; slack: half of the regret's bound so far."""
        return {
            "costs": np.zeros((replicates, self.n_arms)),
            "slack": np.full(replicates, kernels.first_slack(self.n_arms)),
        }

    def pick(self, state: State, rng: Draws) -> Choice:
        shape = (len(rng.keys), self.budget)
        arms, weights = np.empty(shape, np.int64), np.empty(shape)
        kernels.pick_adaptive(state["costs"], state["slack"], rng.keys, arms, weights)
        return Choice(arms, weights)

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        kernels.learn_adaptive(
            state["costs"], state["slack"], choice.arms, weights_of(choice), seen
        )
        return state

    def play_table(
        self, state: State, table: FloatArray, lasting: KeyArray, first_round: int
    ) -> tuple[State, FloatArray]:
        paid = np.empty((len(lasting), table.shape[1]))
        kernels.play_adaptive(
            state["costs"], state["slack"], table, lasting, first_round, self.budget, paid
        )
        return state, paid
