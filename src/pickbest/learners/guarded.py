"""Guards: FPML-partial beside any learner, so that its regret against the best arm is kept."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pickbest.core import (
    Choice,
    Draws,
    Feedback,
    FloatArray,
    IntArray,
    Learner,
    PickbestError,
    check_budget,
    learns_any,
)
from pickbest.core.states import portable, restored
from pickbest.core.wrapping import WrappingLearner
from pickbest.kernels.compiled import allocating
from pickbest.kernels.first_leader import first_probability, many_arms, spread_leader
from pickbest.kernels.leaders import decayed
from pickbest.kernels.rules import weights_of
from pickbest.learners.fpml import FPMLState
from pickbest.learners.fpml_partial import FPMLPartial, Weights


class GuardedState(NamedTuple):
    """The states of both."""

    inner: Any
    guard: FPMLState


@dataclass(frozen=True)
class Guarded(WrappingLearner):
    """The inner learner picks first, then the guard its leaders among the arms that are left.

    The arms that the guard would have picked alone are thus always in the set: the inner
    learner took them, or they lead the others. And the guard's estimates are unbiased whatever
    the inner learner does: given its arms, these are seen for certain and count with weight 1,
    and the others with 1 / P(the guard picks the arm). So what is known of FPML-partial with
    the guard's budget against the single best arm holds, and the arms that are seen for
    certain only lower the variance of its estimates.

    An inner learner that can (see core.OpenLearner) learns from the guard's arms, too.

    >>> from pickbest.learners.thompson import Thompson
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
    def budget(self) -> int:
        return self.inner.budget + self.guard.budget

    @property
    def unbiased(self) -> bool:
        """An inner learner that learns only from its own arms keeps its own weights."""
        return learns_any(self.inner)

    @property
    def learns_any(self) -> bool:
        return learns_any(self.inner)

    def start(self, replicates: int) -> GuardedState:
        return GuardedState(self.inner.start(replicates), self.guard.start(replicates))

    def pick(self, state: GuardedState, rng: Draws) -> Choice:
        own = self.inner.pick(state.inner, rng)
        taken = np.zeros((len(rng.keys), self.n_arms), np.bool_)
        np.put_along_axis(taken, own.arms, True, axis=1)
        # Slots of the inner learner use children of the round's randomness up to its budget.
        child = rng.child(self.inner.budget)
        added = self.guard.rule.pick(self.guard, state.guard, child, taken)
        weights = np.ones(own.arms.shape)
        if own.weights is not None and not learns_any(self.inner):
            weights = own.weights
        return Choice(np.hstack([own.arms, added.arms]), np.hstack([weights, weights_of(added)]))

    def learn(self, state: GuardedState, choice: Choice, seen: FloatArray) -> GuardedState:
        own, own_seen, known = choice, seen, choice
        if not learns_any(self.inner):
            size = self.inner.budget
            own, own_seen = _first(choice, size), np.ascontiguousarray(seen[:, :size])
            weights = weights_of(choice).copy()
            weights[:, :size] = 1.0
            known = Choice(choice.arms, _once(choice.arms, weights))
        return GuardedState(
            self.inner.learn(state.inner, own, own_seen),
            self.guard.learn(state.guard, known, seen),
        )

    def portable(self, state: GuardedState) -> GuardedState:
        return state._replace(inner=portable(self.inner, state.inner))

    def restored(self, known: GuardedState) -> GuardedState:
        return known._replace(inner=restored(self.inner, known.inner))


@dataclass(frozen=True)
class GuardedLast(WrappingLearner):
    """The inner learner's arms; the last one yields to the guard's leader if it is not there.

    So the arm that FPML-partial with budget 1 would have picked is always in the set, and its
    regret against the single best arm is kept, as in Guarded; but no arm is spent on it where
    the inner learner has it already. Given the inner learner's arms, all but the last are seen
    for certain, the last with the probability Q that the guard's leader is one of them, and
    another arm with the probability that it leads; the weights are the reciprocals of these,
    and exactly unbiased. None is below the probability to lead, on which FPML-partial's own
    bound rests.

    The inner learner must be able to learn of arms that it did not pick (core.OpenLearner).
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

    def start(self, replicates: int) -> GuardedState:
        return GuardedState(self.inner.start(replicates), self.guard.start(replicates))

    def pick(self, state: GuardedState, rng: Draws) -> Choice:
        arms = self.inner.pick(state.inner, rng).arms.copy()
        # Slots of the inner learner use children of the round's randomness up to its budget.
        leader = self.guard.pick(state.guard, rng.child(self.budget))
        chances = np.empty(arms.shape)
        law, many = self.guard.law, many_arms(self.n_arms)
        _chances_to_lead(state.guard, law.epsilon, law.decay, many, arms, chances)
        inside = (arms == leader.arms).any(axis=1)
        weights = np.ones(arms.shape)
        weights[~inside, -1] = weights_of(leader)[~inside, 0]
        weights[inside, -1] = 1.0 / np.minimum(chances[inside].sum(axis=1), 1.0)
        arms[~inside, -1] = leader.arms[~inside, 0]
        return Choice(arms, weights)

    def learn(self, state: GuardedState, choice: Choice, seen: FloatArray) -> GuardedState:
        return GuardedState(
            self.inner.learn(state.inner, choice, seen),
            self.guard.learn(state.guard, choice, seen),
        )

    def portable(self, state: GuardedState) -> GuardedState:
        return state._replace(inner=portable(self.inner, state.inner))

    def restored(self, known: GuardedState) -> GuardedState:
        return known._replace(inner=restored(self.inner, known.inner))


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


@allocating
def _chances_to_lead(
    guard: FPMLState,
    epsilon: float,
    decay: float,
    many: bool | None,
    arms: IntArray,
    chances: FloatArray,
) -> None:
    """chances[r, j] = P(arm arms[r, j] is the first of the perturbed leaders)."""
    spread = np.empty(guard.costs.shape[1])
    for r in range(arms.shape[0]):
        rate = decayed(epsilon, decay, guard.round[r])
        least = spread_leader(guard.costs[r], rate, spread)
        for j in range(arms.shape[1]):
            chances[r, j] = first_probability(spread, least, arms[r, j], many)


def _first(choice: Choice, count: int) -> Choice:
    """The first columns of a choice."""
    arms = np.ascontiguousarray(choice.arms[:, :count])
    if choice.weights is None:
        return Choice(arms)
    return Choice(arms, np.ascontiguousarray(choice.weights[:, :count]))


def _once(arms: IntArray, weights: FloatArray) -> FloatArray:
    """The weights, but 0 for an arm that occurs before in its row."""
    same = arms[:, :, None] == arms[:, None, :]
    repeated = np.tril(same, k=-1).any(axis=2)
    return np.where(repeated, 0.0, weights)
