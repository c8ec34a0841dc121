"""What linear peers share: features scaled as they come, and a ridge regression for each arm."""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from pickbest.core import Choice, Draws, Feedback, FloatArray, IntArray, Seen, check_budget
from pickbest.core.features import MISSING, WORD

# Words are hashed to that many columns.
BUCKETS = 16
# More features than that are projected at random on that many, so that matrices stay small.
MOST_INPUTS = 40
# Outliers are cut there, in standard deviations.
FARTHEST = 3.0
RIDGE = 1.0


class LinearState(NamedTuple):
    """rounds, mean, spread: of the features so far (Welford). inverse, response: of each arm's
    ridge regression, A⁻¹ and b. errors: squared residuals. used: the weights in use."""

    rounds: FloatArray
    mean: FloatArray
    spread: FloatArray
    inverse: FloatArray
    response: FloatArray
    plays: FloatArray
    errors: FloatArray
    used: FloatArray


@dataclass(frozen=True)
class Linear:
    """Top B by predicted reward; peers add how they explore. Without features, all rounds look
    the same.
    """

    n_arms: int
    budget: int
    feedback = Feedback.PICKED
    uses_features = True

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)

    # What peers change --------------------------------------------------------------------------

    def scores(self, state: LinearState, inputs: FloatArray, rng: Draws) -> FloatArray:
        """(replicates, n_arms): the larger, the sooner it is picked."""
        return self.predictions(state, inputs)

    def targets(
        self, state: LinearState, inputs: FloatArray, arms: IntArray, seen: Seen
    ) -> FloatArray:
        """(replicates, budget): what is regressed."""
        return 1.0 - seen.high

    # The learner --------------------------------------------------------------------------------

    def start(self, replicates: int, n_features: int = 0) -> LinearState:
        arms = (replicates, self.n_arms)
        width = 1 + min(n_features, MOST_INPUTS) + BUCKETS * bool(n_features)
        return LinearState(
            np.zeros(replicates),
            np.zeros((replicates, n_features)),
            np.zeros((replicates, n_features)),
            np.tile(np.eye(width) / RIDGE, (*arms, 1, 1)),
            np.zeros((*arms, width)),
            np.zeros(arms),
            np.ones(arms),
            np.zeros((*arms, width)),
        )

    def pick(self, state: LinearState, draws: Draws, features: FloatArray | None = None) -> Choice:
        scores = self.scores(state, self.inputs(state, features), draws)
        # Arms that were never played come first, in random order.
        first = np.where(state.plays == 0, 1e6 + draws.child(7).uniforms(self.n_arms), 0.0)
        order = np.argsort(-(scores + first), axis=1, kind="stable")
        return Choice(np.ascontiguousarray(order[:, : self.budget]))

    def learn(
        self, state: LinearState, choice: Choice, seen: Seen, features: FloatArray | None = None
    ) -> LinearState:
        inputs = self.inputs(state, features)
        values = self.targets(state, inputs, choice.arms, seen)
        rows = np.arange(len(inputs))
        for j in range(choice.arms.shape[1]):
            arm, value = choice.arms[:, j], values[:, j]
            gain = (state.inverse[rows, arm] @ inputs[:, :, None])[:, :, 0]
            before = (gain * state.response[rows, arm]).sum(axis=1)
            shrink = 1.0 + (gain * inputs).sum(axis=1)
            # Sherman and Morrison.
            state.inverse[rows, arm] -= gain[:, :, None] * gain[:, None, :] / shrink[:, None, None]
            state.response[rows, arm] += value[:, None] * inputs
            state.plays[rows, arm] += 1.0
            state.errors[rows, arm] += (value - before) ** 2
        self._scale(state, self._raw(state, features))
        return state

    # Features -----------------------------------------------------------------------------------

    def _raw(self, state: LinearState, features: FloatArray | None) -> FloatArray:
        """(replicates, n_features); all are missing where a round has none."""
        return np.full(state.mean.shape, MISSING) if features is None else features

    def inputs(self, state: LinearState, features: FloatArray | None) -> FloatArray:
        """(replicates, width): a constant, scaled numbers, hashed words."""
        replicates, raw = len(state.rounds), self._raw(state, features)
        words = raw >= WORD
        deviation = np.sqrt(state.spread / np.maximum(state.rounds, 1.0)[:, None]) + 1e-9
        scaled = np.clip((np.where(words, 0.0, raw) - state.mean) / deviation, -FARTHEST, FARTHEST)
        numbers = np.where(words, 0.0, scaled)
        if numbers.shape[1] > MOST_INPUTS:
            numbers = numbers @ _projection(numbers.shape[1])
        # So that inputs are about as long as the constant, however many features there are.
        parts = [np.ones((replicates, 1)), numbers / np.sqrt(max(1, numbers.shape[1]))]
        if raw.shape[1]:
            codes = np.where(words & (raw > MISSING), raw / WORD, -1.0).astype(np.int64)
            parts.append(
                np.stack([(codes % BUCKETS == k) & (codes >= 0) for k in range(BUCKETS)], -1).sum(1)
            )
        return np.concatenate(parts, axis=1)

    def _scale(self, state: LinearState, raw: FloatArray) -> None:
        known = np.where(raw < WORD, raw, state.mean)
        state.rounds[:] += 1.0
        off = known - state.mean
        state.mean[:] += off / state.rounds[:, None]
        state.spread[:] += off * (known - state.mean)

    # Regression ---------------------------------------------------------------------------------

    def weights(self, state: LinearState) -> FloatArray:
        """(replicates, n_arms, width)"""
        weights: FloatArray = (state.inverse @ state.response[..., None])[..., 0]
        return weights

    def predictions(self, state: LinearState, inputs: FloatArray) -> FloatArray:
        return predicted(self.weights(state), inputs)

    def widths(self, state: LinearState, inputs: FloatArray) -> FloatArray:
        """Standard deviations of the predictions, in those of the noise."""
        turned = (state.inverse @ inputs[:, None, :, None])[..., 0]
        return np.sqrt(predicted(turned, inputs))


def predicted(weights: FloatArray, inputs: FloatArray) -> FloatArray:
    """(replicates, n_arms)"""
    values: FloatArray = (weights @ inputs[:, :, None])[..., 0]
    return values


@cache
def _projection(width: int) -> FloatArray:
    drawn = np.random.default_rng(0).normal(size=(width, MOST_INPUTS))
    return np.asarray(drawn / np.sqrt(width))


def normals(rng: Draws, count: int) -> FloatArray:
    """(replicates, count) standard normal draws."""
    first, second = rng.uniforms(count), rng.child(1).uniforms(count)
    drawn: FloatArray = np.sqrt(-2.0 * np.log(first)) * np.cos(2.0 * np.pi * second)
    return drawn
