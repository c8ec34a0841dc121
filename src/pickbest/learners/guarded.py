"""Guarded: some arms of the budget follow FPML-partial, the others any learner."""

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
    check_budget,
    learns_any,
)
from pickbest.learners.greedy import columns, once, slot_state
from pickbest.learners.leaders import FPMLPartial, Weights, weights_of


@dataclass(frozen=True)
class Guarded:
    """The inner learner picks first, then the guard its leaders among the arms that are left.

    The arms that the guard would have picked alone are thus always in the set: the inner
    learner took them, or they lead the others. And the guard's estimates are unbiased whatever
    the inner learner does: given its arms, these are seen for certain and count with weight 1,
    and the others with 1 / P(the guard picks the arm). So what is known of FPML-partial with
    the guard's budget against the single best arm holds, and the arms that are seen for
    certain only lower the variance of its estimates.

    An inner learner that can (see game.OpenLearner) learns from the guard's arms, too.

    >>> from pickbest.learners.baselines import Thompson
    >>> Guarded(Thompson(n_arms=6, budget=2), FPMLPartial(n_arms=6, budget=1, epsilon=0.1)).budget
    3
    """

    inner: Learner
    guard: FPMLPartial
    feedback = Feedback.PICKED

    def __post_init__(self) -> None:
        check_guard(self.inner, self.guard)
        check_budget(self.budget, self.n_arms)

    @property
    def n_arms(self) -> int:
        return self.inner.n_arms

    @property
    def budget(self) -> int:
        return self.inner.budget + self.guard.budget

    @property
    def unbiased(self) -> bool:
        """An inner learner that learns only from its own arms keeps its own weights."""
        return learns_any(self.inner)

    @property
    def learns_any(self) -> bool:
        return learns_any(self.inner)

    def start(self, replicates: int) -> State:
        """The states of both, their names prefixed with inner/ and guard/."""
        return joined(self.inner.start(replicates), self.guard.start(replicates))

    def pick(self, state: State, rng: Draws) -> Choice:
        own = self.inner.pick(slot_state(state, "inner"), rng)
        taken = np.zeros((len(rng.keys), self.n_arms), np.bool_)
        np.put_along_axis(taken, own.arms, True, axis=1)
        # Slots of the inner learner use children of the round's randomness up to its budget.
        added = self.guard.pick_free(
            slot_state(state, "guard"), rng.child(self.inner.budget), taken
        )
        weights = np.ones(own.arms.shape)
        if own.weights is not None and not learns_any(self.inner):
            weights = own.weights
        return Choice(np.hstack([own.arms, added.arms]), np.hstack([weights, weights_of(added)]))

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        own, own_seen, known = choice, seen, choice
        if not learns_any(self.inner):
            size = self.inner.budget
            own, own_seen = columns(choice, 0, size), np.ascontiguousarray(seen[:, :size])
            weights = weights_of(choice).copy()
            weights[:, :size] = 1.0
            known = Choice(choice.arms, once(choice.arms, weights))
        return joined(
            self.inner.learn(slot_state(state, "inner"), own, own_seen),
            self.guard.learn(slot_state(state, "guard"), known, seen),
        )


def check_guard(inner: Learner, guard: FPMLPartial) -> None:
    """A guard has exact weights, and an inner learner that sees picked arms of the same number."""
    if inner.n_arms != guard.n_arms:
        raise PickbestError(
            "inner and guard must have the same number of arms, "
            f"got {inner.n_arms} and {guard.n_arms}"
        )
    if inner.feedback is Feedback.FULL:
        raise PickbestError("inner must be a learner that sees picked arms only")
    if guard.weights is not Weights.EXACT:
        raise PickbestError(f"the guard's weights must be exact, got {guard.weights.value}")


def joined(inner: State, guard: State) -> State:
    """One state of two, their names prefixed."""
    parts = {"inner": inner, "guard": guard}
    return {f"{part}/{name}": array for part in parts for name, array in parts[part].items()}
