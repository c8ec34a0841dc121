"""Learners and environments around another one: what they do not change is passed on to it."""

from pickbest.core.arrays import FloatArray, IntArray
from pickbest.core.randomness import Draws
from pickbest.core.types import Choice, Environment, Feedback, Learner, State


class WrappingLearner:
    """Plays as `inner` does."""

    inner: Learner

    @property
    def n_arms(self) -> int:
        return self.inner.n_arms

    @property
    def budget(self) -> int:
        return self.inner.budget

    @property
    def feedback(self) -> Feedback:
        return self.inner.feedback

    @property
    def unbiased(self) -> bool:
        return self.inner.unbiased

    def start(self, replicates: int) -> State:
        return self.inner.start(replicates)

    def pick(self, state: State, rng: Draws) -> Choice:
        return self.inner.pick(state, rng)

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        return self.inner.learn(state, choice, seen)


class WrappingEnvironment:
    """Deals what `inner` deals."""

    inner: Environment

    @property
    def n_arms(self) -> int:
        return self.inner.n_arms

    @property
    def rounds(self) -> int:
        return self.inner.rounds

    @property
    def adaptive(self) -> bool:
        return self.inner.adaptive

    @property
    def varies(self) -> bool:
        return self.inner.varies

    def start(self, replicates: int) -> State:
        return self.inner.start(replicates)

    def costs(self, state: State, round_index: int, rng: Draws) -> FloatArray:
        return self.inner.costs(state, round_index, rng)

    def react(self, state: State, arms: IntArray, costs: FloatArray) -> State:
        return self.inner.react(state, arms, costs)
