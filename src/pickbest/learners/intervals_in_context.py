"""Auto with features of each problem that also learns of races whose losers were stopped."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core import Choice, Draws, Feedback, FloatArray, IntArray
from pickbest.core.intervals import Intervals
from pickbest.kernels.neighbours import ProblemsState
from pickbest.learners.auto import Auto
from pickbest.learners.auto_in_context import AutoInContext, AutoInContextState
from pickbest.learners.intervals import FromIntervals, SeenState


class IntervalsInContextState(NamedTuple):
    """What races without features have taught, and the problems that are remembered."""

    seen: SeenState
    problems: ProblemsState


@dataclass(frozen=True)
class IntervalsInContext:
    """FromIntervals around Auto, whose sets come from problems like this one (AutoInContext).

    Of an arm that was stopped, the middle of its interval is remembered with the problem.
    """

    n_arms: int
    budget: int
    features: tuple[str, ...]
    sharpness: float | None = None
    feedback = Feedback.PICKED
    unbiased = True

    @cached_property
    def inner(self) -> FromIntervals:
        """The learner of rounds without features."""
        return FromIntervals(Auto(self.n_arms, self.budget, self.sharpness))

    @cached_property
    def near(self) -> AutoInContext:
        """Who proposes sets."""
        return AutoInContext(self.n_arms, self.budget, self.features, self.sharpness)

    def start(self, replicates: int) -> IntervalsInContextState:
        return self.taking_over(self.inner.start(replicates))

    def taking_over(self, state: SeenState) -> IntervalsInContextState:
        """The state of a game that began without features."""
        return IntervalsInContextState(state, self.near.taking_over(state.inner).problems)

    def without_features(self, state: IntervalsInContextState) -> tuple[FromIntervals, SeenState]:
        """The context-free learner."""
        return self.inner, state.seen

    def pick(self, state: IntervalsInContextState, rng: Draws) -> Choice:
        return self.inner.pick(state.seen, rng)

    def learn(
        self, state: IntervalsInContextState, choice: Choice, seen: FloatArray
    ) -> IntervalsInContextState:
        return state._replace(seen=self.inner.learn(state.seen, choice, seen))

    def pick_in(self, state: IntervalsInContextState, rng: Draws, features: ArrayLike) -> Choice:
        """Choose arms for a round with these encoded features (see `core.ContextLearner`)."""
        known = AutoInContextState(state.seen.inner, state.problems)
        return self.near.pick_in(known, rng, features)

    def learn_in(
        self, state: IntervalsInContextState, choice: Choice, seen: FloatArray, features: ArrayLike
    ) -> IntervalsInContextState:
        """Fold one round in; the features are those of its pick."""
        known = AutoInContextState(state.seen.inner, state.problems)
        self.near.remember(known, choice, seen, features)
        return self.learn(state, choice, seen)

    def watch_probability(self, state: IntervalsInContextState, arms: IntArray) -> FloatArray:
        return self.inner.watch_probability(state.seen, arms)

    def learn_intervals(
        self, state: IntervalsInContextState, choice: Choice, seen: Intervals
    ) -> IntervalsInContextState:
        return state._replace(seen=self.inner.learn_intervals(state.seen, choice, seen))

    def learn_intervals_in(
        self,
        state: IntervalsInContextState,
        choice: Choice,
        seen: Intervals,
        features: ArrayLike,
    ) -> IntervalsInContextState:
        """As `learn_intervals`, of a round that had these features."""
        known = AutoInContextState(state.seen.inner, state.problems)
        middle: FloatArray = np.asarray((seen.low + seen.high) / 2.0)
        self.near.remember(known, choice, middle, features)
        return self.learn_intervals(state, choice, seen)
