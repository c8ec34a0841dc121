"""Auto that knows features of each problem, and learns from past problems like it."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core import (
    Choice,
    Draws,
    Feedback,
    FloatArray,
    PickbestError,
    check_budget,
)
from pickbest.kernels.context_sets import blend_rows, learn_problems
from pickbest.kernels.neighbours import (
    ProblemsState,
    start_problems,
)
from pickbest.kernels.pairs import start_pairs
from pickbest.kernels.rules import weights_of
from pickbest.learners.auto import Auto, AutoState


class AutoInContextState(NamedTuple):
    """The context-free learner, and the problems that it remembers."""

    auto: AutoState
    problems: ProblemsState


@dataclass(frozen=True)
class AutoInContext:
    """Auto whose sets come from past problems like this one, unless these predict worse.

    Where it follows the neighbours (see `kernels.neighbours`), their sums take the place of those
    of all rounds; the rest is Auto, so its guard, which knows no features, sees the same as
    ever: weights are exact and `theory.auto_bound` holds for any features. Rounds without
    features are Auto's, draw for draw. `Auto.with_features` makes one.

    features: what they are called; all problems have the same ones.
    sharpness: Auto's.

    >>> from pickbest.core import replicate_keys, rng_for
    >>> learner = AutoInContext(4, 2, ("size", "logic"))
    >>> learner.pick_in(learner.start(1), rng_for(replicate_keys(0, 1), 0), [3.0, 0.5]).arms.shape
    (1, 2)
    """

    n_arms: int
    budget: int
    features: tuple[str, ...]
    sharpness: float | None = None
    feedback = Feedback.PICKED
    unbiased = True
    learns_any = True

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        if not self.features or not all(isinstance(name, str) for name in self.features):
            raise PickbestError(f"features must be names, one at least, got {self.features!r:.100}")

    @cached_property
    def auto(self) -> Auto:
        """The learner of rounds without features."""
        return Auto(self.n_arms, self.budget, self.sharpness)

    def start(self, replicates: int) -> AutoInContextState:
        return self.taking_over(self.auto.start(replicates))

    def taking_over(self, state: AutoState) -> AutoInContextState:
        """The state of a game that Auto began without features."""
        replicates = len(state.guard.share)
        return AutoInContextState(
            state, start_problems(replicates, self.n_arms, len(self.features))
        )

    def without_features(self, state: AutoInContextState) -> tuple[Auto, AutoState]:
        """The context-free learner."""
        return self.auto, state.auto

    def pick(self, state: AutoInContextState, rng: Draws) -> Choice:
        return self.auto.pick(state.auto, rng)

    def learn(
        self, state: AutoInContextState, choice: Choice, seen: FloatArray
    ) -> AutoInContextState:
        return state._replace(auto=self.auto.learn(state.auto, choice, seen))

    def pick_in(self, state: AutoInContextState, rng: Draws, features: ArrayLike) -> Choice:
        """Choose arms for a round with these encoded features (see `core.ContextLearner`)."""
        known, replicates = self._rows(features, len(rng.keys)), len(rng.keys)
        blended = start_pairs(replicates, self.n_arms, 2)
        follows = np.empty(replicates, np.int64)
        blend_rows(state.problems, state.auto.pairs, known, blended, follows)
        free = self.auto.pick(state.auto, rng)
        if not follows.any():
            return free
        near = self.auto.pick(state.auto._replace(pairs=blended), rng)
        followed = follows[:, None] > 0
        return Choice(
            np.where(followed, near.arms, free.arms),
            np.where(followed, weights_of(near), weights_of(free)),
        )

    def learn_in(
        self, state: AutoInContextState, choice: Choice, seen: FloatArray, features: ArrayLike
    ) -> AutoInContextState:
        """Fold one round in; the features are those of its pick."""
        self.remember(state, choice, seen, features)
        return self.learn(state, choice, seen)

    def remember(
        self, state: AutoInContextState, choice: Choice, seen: FloatArray, features: ArrayLike
    ) -> None:
        """Keep the problem, in place; the rest of the state is that from before the round."""
        known = self._rows(features, len(seen))
        pairs = state.auto.pairs
        learn_problems(state.problems, pairs, self.budget, choice.arms, seen, known)

    def _rows(self, features: ArrayLike, replicates: int) -> FloatArray:
        """(replicates, n_features)"""
        rows, width = np.asarray(features, dtype=np.float64), len(self.features)
        if rows.shape not in {(width,), (replicates, width)}:
            raise PickbestError(
                f"features must have shape ({width},) or ({replicates}, {width}), got {rows.shape}"
            )
        if not np.isfinite(rows).all():
            raise PickbestError("features must be encoded: see core.features.encoded")
        return np.array(np.broadcast_to(rows, (replicates, width)), order="C")
