"""The paper's synthetic tasks 1 to 3, and a change of regime."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pickbest.core import Draws, Environment, FloatArray, PickbestError, State
from pickbest.core.wrapping import WrappingEnvironment
from pickbest.environments.tables import Oblivious
from pickbest.kernels.random import fill_beta

VARIANCE = 0.01


@dataclass(frozen=True)
class Task1(Oblivious):
    """Greedy beats the top B: arms 1-5 and 6-10 are good in A-rounds, 11-15 in B-rounds."""

    rounds: int = 300
    n_arms = 15
    varies = True

    def costs(self, state: State, round_index: int, rng: Draws) -> FloatArray:
        means = np.repeat([0.4, 0.6, 0.8], 5)
        costs = beta_costs(np.broadcast_to(means, (len(rng.keys), 15)), rng.child(1))
        a_round = rng.uniforms(1) < 0.5
        good_in_a = np.arange(15) < 10
        costs[a_round != good_in_a] = 1.0
        return costs


@dataclass(frozen=True)
class Task2(Oblivious):
    """No groups of complementary arms: means .4, .45, … .85, independent."""

    rounds: int = 300
    n_arms = 10
    varies = True

    def costs(self, state: State, round_index: int, rng: Draws) -> FloatArray:
        means = 0.4 + 0.05 * np.arange(10)
        return beta_costs(np.broadcast_to(means, (len(rng.keys), 10)), rng)


@dataclass(frozen=True)
class Task3(Oblivious):
    """Greedy is worse than the top B: four arms, deterministic costs that repeat every 4 rounds."""

    rounds: int = 300
    delta: float = 0.01
    n_arms = 4
    varies = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.delta < 0.5:
            raise PickbestError(f"delta must be between 0 and 1/2, got {self.delta!r}")

    @cached_property
    def table(self) -> FloatArray:
        """(4, 4): costs of the four arms in rounds 1, 2, 3 and 4 of a cycle."""
        high, half = 1.0 - self.delta, 0.5 - self.delta
        return np.array(
            [
                [high, half, 0.0, 1.0],
                [high, half, 1.0, 0.0],
                [0.0, 1.0, 0.0, 1.0],
                [0.0, 1.0, 1.0, 0.0],
            ]
        )

    def costs(self, state: State, round_index: int, rng: Draws) -> FloatArray:
        return np.tile(self.table[round_index % 4], (len(rng.keys), 1))


@dataclass(frozen=True)
class RegimeChange(WrappingEnvironment):
    """One environment for the first half of the rounds, its arms in reverse order for the rest."""

    inner: Environment

    def costs(self, state: State, round_index: int, rng: Draws) -> FloatArray:
        costs = self.inner.costs(state, round_index, rng)
        if 2 * round_index < self.rounds:
            return costs
        return np.ascontiguousarray(costs[:, ::-1])


def beta_costs(means: FloatArray, rng: Draws, variance: float = VARIANCE) -> FloatArray:
    """(replicates, n_arms) draws from Beta distributions given by mean and variance."""
    size = means * (1.0 - means) / variance - 1.0
    costs = np.empty(means.shape)
    fill_beta(rng.keys, means * size, (1.0 - means) * size, costs)
    return costs
