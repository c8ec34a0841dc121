"""Yielding: any learner, whose last arm makes way for FPML's leader where it is not in the set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pickbest.core import (
    Choice,
    Draws,
    Feedback,
    FloatArray,
    Learner,
    PickbestError,
    State,
    learns_any,
)
from pickbest.kernels.leading import chances_to_lead
from pickbest.learners.greedy import slot_state
from pickbest.learners.guarded import check_guard, joined
from pickbest.learners.leaders import FPMLPartial, weights_of


@dataclass(frozen=True)
class Yielding:
    """The inner learner's arms; the last one yields to the guard's leader if it is not there.

    So the arm that FPML-partial with budget 1 would have picked is always in the set, and its
    regret against the single best arm is kept, as in Guarded; but no arm is spent on it where
    the inner learner has it already. Given the inner learner's arms, all but the last are seen
    for certain, the last with the probability Q that the guard's leader is one of them, and
    another arm with the probability that it leads; the weights are the reciprocals of these,
    and exactly unbiased. None is below the probability to lead, on which FPML-partial's own
    bound rests.

    The inner learner must be able to learn of arms that it did not pick (game.OpenLearner).
    """

    inner: Learner
    guard: FPMLPartial
    feedback = Feedback.PICKED
    unbiased = True
    learns_any = True

    def __post_init__(self) -> None:
        check_guard(self.inner, self.guard)
        if not learns_any(self.inner):
            raise PickbestError(
                f"{type(self.inner).__name__} cannot learn of arms that it did not pick: use "
                "Guarded, where the guard has an arm of its own"
            )
        if self.guard.budget != 1:
            raise PickbestError(f"the guard's budget must be 1, got {self.guard.budget}")

    @property
    def n_arms(self) -> int:
        return self.inner.n_arms

    @property
    def budget(self) -> int:
        return self.inner.budget

    def start(self, replicates: int) -> State:
        """The states of both, their names prefixed with inner/ and guard/."""
        return joined(self.inner.start(replicates), self.guard.start(replicates))

    def pick(self, state: State, rng: Draws) -> Choice:
        guard_state = slot_state(state, "guard")
        arms = self.inner.pick(slot_state(state, "inner"), rng).arms.copy()
        # Slots of the inner learner use children of the round's randomness up to its budget.
        leader = self.guard.pick(guard_state, rng.child(self.budget))
        chances = np.empty(arms.shape)
        chances_to_lead(
            guard_state["costs"],
            guard_state["round"],
            self.guard.epsilon,
            self.guard.decay,
            arms,
            chances,
        )
        inside = (arms == leader.arms).any(axis=1)
        weights = np.ones(arms.shape)
        weights[~inside, -1] = weights_of(leader)[~inside, 0]
        weights[inside, -1] = 1.0 / np.minimum(chances[inside].sum(axis=1), 1.0)
        arms[~inside, -1] = leader.arms[~inside, 0]
        return Choice(arms, weights)

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        return joined(
            self.inner.learn(slot_state(state, "inner"), choice, seen),
            self.guard.learn(slot_state(state, "guard"), choice, seen),
        )
