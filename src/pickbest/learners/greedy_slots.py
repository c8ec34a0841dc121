"""Greedy slots for independent costs (stochastic K-max): a complementary set, slot by slot.

Slot i learns each arm's mean gain over the best of the slots before it, as in online greedy
(Streeter and Golovin 2008), by Thompson sampling or upper confidence bounds. Every arm that
was pulled in a slot ≥ i informs slot i. No guarantee is stated where costs are not drawn
independently in each round.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pickbest.core import (
    Choice,
    Draws,
    Feedback,
    FloatArray,
    KeyArray,
    PickbestError,
    State,
    check_budget,
    check_positive,
)
from pickbest.kernels import greedy_slots as kernels

# What both learners have in common: these are their methods, too.


def _start(learner: GreedyThompson | GreedyUCB, replicates: int) -> State:
    """gains, plays: by slot and arm, discounted sums over the rounds that the slot saw."""
    shape = (replicates, learner.budget, learner.n_arms)
    return {"gains": np.zeros(shape), "plays": np.zeros(shape)}


def _learn(
    learner: GreedyThompson | GreedyUCB, state: State, choice: Choice, seen: FloatArray
) -> State:
    kernels.learn_slots(state["gains"], state["plays"], learner.discount, choice.arms, seen)
    return state


@dataclass(frozen=True)
class GreedyThompson:
    """Thompson sampling in each slot: the unused arm with the best Beta draw of its gain.

    A gain between 0 and 1 counts as that share of a success.

    prior: both parameters of the Beta prior.
    sharpness: how many trials a result counts as. 1 is the posterior of 0-1 gains; a sharper
        one explores less, which pays in games of some hundred rounds.
    discount: what past rounds count is multiplied by it in every round.

    >>> learner = GreedyThompson(n_arms=3, budget=2)
    >>> choice = Choice(np.array([[2, 0]]))
    >>> learner.learn(learner.start(1), choice, np.array([[0.5, 0.25]]))["gains"]
    array([[[0.75, 0.  , 0.5 ],
            [0.25, 0.  , 0.  ]]])
    """

    n_arms: int
    budget: int
    prior: float = 1.0
    discount: float = 1.0
    sharpness: float = 3.0
    feedback = Feedback.PICKED
    unbiased = False
    learns_any = True
    start = _start
    learn = _learn

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        check_positive("prior", self.prior)
        check_discount(self.discount)
        check_positive("sharpness", self.sharpness)

    def pick(self, state: State, rng: Draws) -> Choice:
        arms = np.empty((len(rng.keys), self.budget), np.int64)
        kernels.pick_drawn(
            state["gains"], state["plays"], self.prior, self.sharpness, rng.keys, arms
        )
        return Choice(arms)

    def play_table(
        self, state: State, table: FloatArray, lasting: KeyArray, first_round: int
    ) -> tuple[State, FloatArray]:
        paid = np.empty((len(lasting), table.shape[1]))
        kernels.play_drawn(
            state["gains"],
            state["plays"],
            self.prior,
            self.sharpness,
            self.discount,
            table,
            lasting,
            first_round,
            paid,
        )
        return state, paid


@dataclass(frozen=True)
class GreedyUCB:
    """UCB1 in each slot: the unused arm with the best mean gain + sqrt(width ln t / n).

    Unplayed arms come first. t and n are discounted as in Garivier and Moulines (2011).

    width: 2 in UCB1 (Auer et al. 2002); gains over other arms are small, and so is this.
    discount: what past rounds count is multiplied by it in every round.
    """

    n_arms: int
    budget: int
    width: float = 0.05
    discount: float = 1.0
    feedback = Feedback.PICKED
    unbiased = False
    learns_any = True
    start = _start
    learn = _learn

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        check_positive("width", self.width)
        check_discount(self.discount)

    def pick(self, state: State, rng: Draws) -> Choice:
        arms = np.empty((len(rng.keys), self.budget), np.int64)
        kernels.pick_ranked(state["gains"], state["plays"], self.width, arms)
        return Choice(arms)

    def play_table(
        self, state: State, table: FloatArray, lasting: KeyArray, first_round: int
    ) -> tuple[State, FloatArray]:
        paid = np.empty((len(lasting), table.shape[1]))
        kernels.play_ranked(state["gains"], state["plays"], self.width, self.discount, table, paid)
        return state, paid


def check_discount(discount: float) -> float:
    """The factor by which the past is discounted is above 0 and at most 1."""
    if not 0.0 < discount <= 1.0:
        raise PickbestError(f"discount must be above 0 and at most 1, got {discount!r}")
    return float(discount)
