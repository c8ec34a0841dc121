"""Learners and environments around another one: what they do not change is passed on to it."""

from operator import attrgetter
from typing import Any

from pickbest.core.arrays import FloatArray, IntArray
from pickbest.core.randomness import Draws
from pickbest.core.types import Choice, Environment, Learner, Seen, State, is_unbiased


def _of_inner(name: str) -> Any:
    return property(attrgetter(f"inner.{name}"))


class WrappingLearner:
    """Plays as `inner` does."""

    inner: Learner

    n_arms = _of_inner("n_arms")
    budget = _of_inner("budget")
    feedback = _of_inner("feedback")

    @property
    def unbiased(self) -> bool:
        return is_unbiased(self.inner)

    def start(self, replicates: int) -> State:
        return self.inner.start(replicates)

    def pick(self, state: State, draws: Draws, features: FloatArray | None = None) -> Choice:
        return self.inner.pick(state, draws, features)

    def learn(
        self, state: State, choice: Choice, seen: Seen, features: FloatArray | None = None
    ) -> State:
        return self.inner.learn(state, choice, seen, features)


class WrappingEnvironment:
    """Deals what `inner` deals."""

    inner: Environment

    n_arms = _of_inner("n_arms")
    rounds = _of_inner("rounds")
    adaptive = _of_inner("adaptive")
    varies = _of_inner("varies")

    def start(self, replicates: int) -> State:
        return self.inner.start(replicates)

    def costs(self, state: State, round_index: int, rng: Draws) -> FloatArray:
        return self.inner.costs(state, round_index, rng)

    def react(self, state: State, arms: IntArray, costs: FloatArray) -> State:
        return self.inner.react(state, arms, costs)
