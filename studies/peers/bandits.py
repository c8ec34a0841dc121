"""Linear bandits: of rewards, of runtimes that are censored at the limit, and of who won."""

import math
from dataclasses import dataclass

import numpy as np

from pickbest.core import Choice, Draws, FloatArray, IntArray, Seen
from studies.peers.linear import Linear, LinearState, normals, predicted

# A runtime of 0 counts as that share of the limit.
SHORTEST = 1e-4


@dataclass(frozen=True)
class LinUCB(Linear):
    """Upper bounds of a linear model's rewards (Li, Chu, Langford and Schapire 2010)."""

    width: float = 0.5

    def scores(self, state: LinearState, inputs: FloatArray, rng: Draws) -> FloatArray:
        return self.predictions(state, inputs) + self.width * self.widths(state, inputs)


@dataclass(frozen=True)
class LinThompson(Linear):
    """Draws from a linear model's posterior (Agrawal and Goyal 2013)."""

    width: float = 0.15

    def scores(self, state: LinearState, inputs: FloatArray, rng: Draws) -> FloatArray:
        drawn = normals(rng, self.n_arms) * self.widths(state, inputs)
        return self.predictions(state, inputs) + self.width * drawn


@dataclass(frozen=True)
class CensoredThompson(Linear):
    """Log runtimes, censored where a run was stopped, by Buckley and James; draws; least cost.

    After Tornede, Bengs and Hüllermeier (AAAI 2022), their Thompson variant with the revised
    loss; built from the paper. Costs are runtimes in limits; 1 is unsolved. A run that was stopped
    counts with the expectation of its log runtime beyond that (Buckley and James 1979).

    penalty: what an unsolved run costs, in limits. timed: whether time costs anything.
    """

    width: float = 0.3
    penalty: float = 10.0
    timed: bool = True

    def scores(self, state: LinearState, inputs: FloatArray, rng: Draws) -> FloatArray:
        drawn = normals(rng, self.n_arms) * self.widths(state, inputs)
        means = self.predictions(state, inputs) + self.width * _deviation(state) * drawn
        return -self.expected_cost(means, _deviation(state))

    def targets(
        self, state: LinearState, inputs: FloatArray, arms: IntArray, seen: Seen
    ) -> FloatArray:
        times = seen.high if seen.times is None else seen.times
        answered = (seen.low == seen.high) & (times < 1.0)
        means = np.take_along_axis(self.predictions(state, inputs), arms, axis=1)
        deviation = np.take_along_axis(_deviation(state), arms, axis=1)
        ended = np.log(np.maximum(times, SHORTEST))
        z = (ended - means) / deviation
        density = np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
        beyond = means + deviation * density / np.maximum(1.0 - ndtr(z), 1e-6)
        return np.where(answered, ended, np.clip(beyond, ended, 5.0))

    def expected_cost(self, means: FloatArray, deviation: FloatArray) -> FloatArray:
        """Of log-normal runtimes whose limit is 1."""
        cost: FloatArray = self.penalty * (1.0 - ndtr(-means / deviation))
        if self.timed:
            moment = np.exp(np.minimum(means + 0.5 * deviation**2, 50.0))
            cost = cost + moment * ndtr((-means - deviation**2) / deviation)
        return cost


@dataclass(frozen=True)
class CPPL(Linear):
    """Contextual preselection under the Plackett-Luce model (arXiv 2002.04275).

    Arm a wins among those that run with probability ∝ exp(θ_a·x); the top B upper bounds run.

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

    def learn(
        self, state: LinearState, choice: Choice, seen: Seen, features: FloatArray | None = None
    ) -> LinearState:
        inputs, average = self.inputs(state, features), state.response.copy()
        iterate, rows = state.used.copy(), np.arange(len(inputs))[:, None]
        state = super().learn(state, choice, seen, features)
        utilities = np.einsum("rbd,rd->rb", iterate[rows, choice.arms], inputs)
        chances = np.exp(utilities - utilities.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        won = seen.high == seen.high.min(axis=1, keepdims=True)
        single = won.sum(axis=1, keepdims=True) == 1
        push = np.where(single, won - chances, 0.0) * self.rate
        push = push / np.maximum(state.rounds[:, None], 1.0) ** self.decay
        iterate[rows, choice.arms] += push[:, :, None] * inputs[:, None, :]
        state.used[:] = iterate
        # The average of iterates, in the place of the regression's right-hand side.
        share = 1.0 / np.maximum(state.rounds, 1.0)[:, None, None]
        state.response[:] = average + share * (iterate - average)
        return state


def ndtr(values: FloatArray) -> FloatArray:
    """The standard normal distribution function."""
    return np.asarray(_ERFC(-values / math.sqrt(2.0)), dtype=np.float64) / 2.0


_ERFC = np.frompyfunc(math.erfc, 1, 1)


def _deviation(state: LinearState) -> FloatArray:
    deviation: FloatArray = np.sqrt(state.errors / (state.plays + 1.0))
    return deviation
