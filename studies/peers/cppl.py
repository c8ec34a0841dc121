"""CPPL: contextual preselection under the Plackett-Luce model (arXiv 2002.04275), built small."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core import Choice, Draws, FloatArray
from studies.peers.linear import Linear, LinearState, predicted


@dataclass(frozen=True)
class CPPL(Linear):
    """Arm a wins among those that run with probability ∝ exp(θ_a·x); the top B upper bounds run.

    θ follows the likelihood's gradient of who won, with steps rate / t^decay, and is averaged
    (`response` holds the average, `used` the iterate). The paper's arms have features of their
    own and share one θ; ours have none, so each has its θ, and the width of its bound comes
    from the rounds in which it ran. Rounds with no single winner teach nothing; nor does B = 1.
    """

    width: float = 0.5
    rate: float = 1.0
    decay: float = 0.3

    def scores(self, state: LinearState, inputs: FloatArray, rng: Draws) -> FloatArray:
        noise = 1e-9 * rng.uniforms(self.n_arms)
        return predicted(state.response, inputs) + self.width * self.widths(state, inputs) + noise

    def learn_in(
        self, state: LinearState, choice: Choice, seen: FloatArray, features: ArrayLike
    ) -> LinearState:
        inputs, average = self.inputs(state, features), state.response.copy()
        iterate, rows = state.used.copy(), np.arange(len(seen))[:, None]
        state = super().learn_in(state, choice, seen, features)
        utilities = np.einsum("rbd,rd->rb", iterate[rows, choice.arms], inputs)
        chances = np.exp(utilities - utilities.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        won = seen == seen.min(axis=1, keepdims=True)
        single = won.sum(axis=1, keepdims=True) == 1
        push = np.where(single, won - chances, 0.0) * self.rate
        push = push / np.maximum(state.rounds[:, None], 1.0) ** self.decay
        iterate[rows, choice.arms] += push[:, :, None] * inputs[:, None, :]
        state.used[:] = iterate
        # The average of iterates, in the place of the regression's right-hand side.
        share = 1.0 / np.maximum(state.rounds, 1.0)[:, None, None]
        state.response[:] = average + share * (iterate - average)
        return state
