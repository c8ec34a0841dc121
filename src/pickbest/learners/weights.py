"""Exponential weights: Hedge with full feedback, Exp3 and Exp3-IX with bandit feedback."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pickbest.core import (
    BoolArray,
    Choice,
    Draws,
    Feedback,
    FloatArray,
    KeyArray,
    PickbestError,
    State,
    check_count,
    check_positive,
)
from pickbest.kernels import softmax as kernels
from pickbest.kernels import softmax_games
from pickbest.kernels.leaders import add_weighted
from pickbest.learners.leaders import no_arm_taken, weights_of

# What the three learners have in common: these are their methods, too.


def _pick(learner: Hedge | Exp3 | Exp3IX, state: State, rng: Draws) -> Choice:
    return _pick_free(learner, state, rng, no_arm_taken(len(rng.keys)))


def _pick_free(
    learner: Hedge | Exp3 | Exp3IX, state: State, rng: Draws, taken: BoolArray
) -> Choice:
    gains = state["gains"]
    arms = np.empty((len(gains), 1), np.int64)
    weights = np.empty((len(gains), 1))
    kernels.pick_one(gains, taken, rng.keys, *learner._law(), arms, weights)
    return Choice(arms, weights)


def _play_slots(
    learner: Hedge | Exp3 | Exp3IX,
    states: list[State],
    table: FloatArray,
    lasting: KeyArray,
    first_round: int,
    distinct: bool,
    shared: bool = False,
) -> FloatArray:
    """Whole games of OG with the learner in each slot; one slot: of the learner itself.

    states: one per slot, updated in place. Returns the costs paid.
    """
    gains = np.stack([state["gains"] for state in states])
    paid = np.empty((len(lasting), table.shape[1]))
    rate, mixing, implicit = learner._law()
    softmax_games.play_one(
        gains,
        table,
        lasting,
        first_round,
        rate,
        mixing,
        implicit,
        learner.feedback is Feedback.FULL,
        learner.fed_gains,
        distinct,
        shared,
        paid,
    )
    for slot, state in enumerate(states):
        state["gains"][...] = gains[slot]
    return paid


@dataclass(frozen=True)
class Hedge:
    """Hedge: one arm a round, P(arm) ∝ exp(-rate · cumulative cost); full feedback."""

    n_arms: int
    rate: float
    budget = 1
    feedback = Feedback.FULL
    unbiased = True
    fed_gains = False
    pick = _pick
    pick_free = _pick_free
    play_slots = _play_slots

    def __post_init__(self) -> None:
        check_count("n_arms", self.n_arms)
        check_positive("rate", self.rate)

    def start(self, replicates: int) -> State:
        """gains: cumulative gains, that is minus costs."""
        return {"gains": np.zeros((replicates, self.n_arms))}

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        state["gains"] -= seen
        return state

    def _law(self) -> tuple[float, float, float]:
        return self.rate, 0.0, 0.0


@dataclass(frozen=True)
class Exp3:
    """Exp3 (Auer et al. 2002): P = (1 - gamma) softmax(gamma / n_arms · gains) + gamma / n_arms.

    It is fed gains 1 - cost, divided by the probability of the arm.
    """

    n_arms: int
    gamma: float
    budget = 1
    feedback = Feedback.PICKED
    unbiased = True
    learns_any = True
    fed_gains = True
    pick = _pick
    pick_free = _pick_free
    play_slots = _play_slots

    def __post_init__(self) -> None:
        check_count("n_arms", self.n_arms)
        if not 0.0 < self.gamma <= 1.0:
            raise PickbestError(f"gamma must be above 0 and at most 1, got {self.gamma!r}")

    def start(self, replicates: int) -> State:
        """gains: cumulative estimated gains."""
        return {"gains": np.zeros((replicates, self.n_arms))}

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        add_weighted(state["gains"], choice.arms, weights_of(choice), 1.0 - seen)
        return state

    def _law(self) -> tuple[float, float, float]:
        return self.gamma / self.n_arms, self.gamma, 0.0


@dataclass(frozen=True)
class Exp3IX:
    """Exp3 with implicit exploration (Neu 2015): costs divided by probability + implicit."""

    n_arms: int
    rate: float
    implicit: float
    budget = 1
    feedback = Feedback.PICKED
    unbiased = False
    learns_any = True
    fed_gains = False
    pick = _pick
    pick_free = _pick_free
    play_slots = _play_slots

    def __post_init__(self) -> None:
        check_count("n_arms", self.n_arms)
        check_positive("rate", self.rate)
        check_positive("implicit", self.implicit)

    def start(self, replicates: int) -> State:
        """gains: minus the cumulative estimated costs."""
        return {"gains": np.zeros((replicates, self.n_arms))}

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        add_weighted(state["gains"], choice.arms, weights_of(choice), -seen)
        return state

    def _law(self) -> tuple[float, float, float]:
        return self.rate, 0.0, self.implicit
