"""The share of the gap: how far a learner gets from B random arms to the best B in hindsight.

share = (reward - random) / (best - random), 0 for distinct arms at random and 1 for the best
fixed subset. It may lie below 0, and above 1 where the best arms change.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pickbest import hindsight
from pickbest.core import Environment, FloatArray
from pickbest.environments import Table
from pickbest.environments.tables import Shuffled
from pickbest.hindsight.comparators import random_subset_costs
from pickbest.simulation.games import deal_all
from pickbest.simulation.statistics import standard_error
from studies.benchmark.environments import NamedEnvironment

Numbers = tuple[float, ...]
# Below it, a share says more of noise than of learning.
LEAST_GAP = 0.005


@dataclass(frozen=True)
class Result:
    """Mean rewards per round, one per replicate; a single one where all replicates agree.

    rewards: the learner's. best_arm: the best single arm's in hindsight.
    random: B distinct random arms', in expectation. best: the best B arms' in hindsight.
    Both are empty where costs depend on the player: each learner meets others.
    seconds: of a core that the learner's games took.
    """

    rewards: Numbers
    best_arm: Numbers
    random: Numbers
    best: Numbers
    seconds: float


@dataclass(frozen=True)
class Cell:
    """One learner in one environment at one budget."""

    place: NamedEnvironment
    budget: int
    learner: str
    result: Result

    @cached_property
    def rewards(self) -> FloatArray:
        """(replicates,) mean rewards of a round."""
        return np.array(self.result.rewards)

    @property
    def reward(self) -> float:
        return float(self.rewards.mean())

    @property
    def standard_error(self) -> float:
        return standard_error(self.rewards)

    @property
    def gap(self) -> float | None:
        """Best in hindsight minus random; None where costs depend on the player."""
        if not self.result.best:
            return None
        return float(np.mean(self.result.best) - np.mean(self.result.random))

    @cached_property
    def shares(self) -> FloatArray | None:
        """(replicates,) shares of the mean gap; None where there is none to speak of."""
        if self.gap is None or self.gap < LEAST_GAP:
            return None
        shares: FloatArray = (self.rewards - np.array(self.result.random)) / self.gap
        return shares

    @property
    def share(self) -> float | None:
        return None if self.shares is None else float(self.shares.mean())


def random_reward(table: FloatArray, budget: int) -> float:
    """Expected mean reward of `budget` distinct random arms on a (rounds, n_arms) table."""
    return 1.0 - float(random_subset_costs(table, budget).mean())


def best_reward(table: FloatArray, budget: int) -> float:
    """Mean reward of the best fixed subset."""
    return 1.0 - hindsight.best_subset(table, budget).mean_cost(len(table))


def references(
    environment: Environment, budget: int, replicates: int, seed: int
) -> tuple[Numbers, Numbers]:
    """(random, best), one per replicate, or one where all agree; empty where costs react."""
    if environment.adaptive:
        return (), ()
    # The order of the rounds changes neither.
    fixed = environment.inner if isinstance(environment, Shuffled) else environment
    tables = (
        fixed.costs_table[None]
        if isinstance(fixed, Table)
        else deal_all(fixed, replicates, seed).table
    )
    random = tuple(random_reward(table, budget) for table in tables)
    return random, tuple(best_reward(table, budget) for table in tables)


def mean_shares(cells: Sequence[Cell]) -> FloatArray | None:
    """(replicates,) mean share of one learner's cells; every family counts once.

    None where no cell has a share.
    """
    families: dict[str, list[FloatArray]] = {}
    for cell in cells:
        if cell.shares is not None:
            families.setdefault(cell.place.family, []).append(cell.shares)
    if not families:
        return None
    mean: FloatArray = np.mean([np.mean(shares, axis=0) for shares in families.values()], axis=0)
    return mean
