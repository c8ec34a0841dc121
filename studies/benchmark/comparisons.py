"""Who is better: ranks with bootstrap intervals, and paired comparisons of two learners.

Ranks are over environments and budgets, intervals over families of environments.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from pickbest.core import FloatArray
from pickbest.simulation.statistics import standard_error
from studies.benchmark.environments import NamedEnvironment
from studies.benchmark.shares import Cell

RESAMPLES, CONFIDENCE = 4_000, 0.95
# Rewards that differ by less are equal but for rounding.
EQUAL = 1e-12
SIGNIFICANT = 3.0

Block = Mapping[str, Cell]


@dataclass(frozen=True)
class Estimate:
    """A mean over families with its bootstrap interval.

    level: whether the interval of the difference to the leader contains 0.
    """

    mean: float
    low: float
    high: float
    level: bool


def blocks_of(cells: Sequence[Cell]) -> dict[tuple[str, int], Block]:
    """The cells of each environment and budget, by learner."""
    blocks: dict[tuple[str, int], dict[str, Cell]] = {}
    for cell in cells:
        blocks.setdefault((cell.place.name, cell.budget), {})[cell.learner] = cell
    return dict(blocks)


def complete_learners(cells: Sequence[Cell]) -> list[str]:
    """The learners that play in every environment at every budget: only they can be ranked."""
    blocks = blocks_of(cells).values()
    return [
        label
        for label in dict.fromkeys(cell.learner for cell in cells)
        if all(label in block for block in blocks)
    ]


def average_ranks(rewards: FloatArray) -> FloatArray:
    """Rank 1 for the largest reward; equals share the mean of their ranks.

    >>> average_ranks(np.array([0.5, 0.9, 0.5]))
    array([2.5, 1. , 2.5])
    """
    ahead = (rewards[None, :] > rewards[:, None] + EQUAL).sum(axis=1)
    equal = (np.abs(rewards[None, :] - rewards[:, None]) <= EQUAL).sum(axis=1)
    ranks: FloatArray = ahead + (equal + 1) / 2
    return ranks


def mean_ranks(cells: Sequence[Cell]) -> dict[str, Estimate]:
    """The mean rank of each complete learner; every family counts once."""
    return _estimates(cells, lambda own: average_ranks(np.array([c.reward for c in own])), True)


def mean_share_intervals(cells: Sequence[Cell]) -> dict[str, Estimate]:
    """The mean share of each complete learner; every family counts once."""
    return _estimates(cells, lambda own: np.array([c.share for c in own], np.float64), False)


def _estimates(
    cells: Sequence[Cell], values_of: Callable[[list[Cell]], FloatArray], smallest_leads: bool
) -> dict[str, Estimate]:
    """values_of: of the cells of a block, learner by learner; NaN where there are none."""
    labels = complete_learners(cells)
    families: dict[str, list[FloatArray]] = {}
    for block in blocks_of(cells).values():
        own = [block[label] for label in labels]
        if own and not np.isnan(found := values_of(own)).any():
            families.setdefault(own[0].place.family, []).append(found)
    if not families:
        return {}
    values = np.array([np.mean(rows, axis=0) for rows in families.values()])
    means = values.mean(axis=0)
    leader = int(means.argmin() if smallest_leads else means.argmax())
    random = np.random.default_rng(0)
    drawn = random.integers(len(values), size=(RESAMPLES, len(values)))
    resampled = values[drawn].mean(axis=1)
    low, high = _interval(resampled)
    below, above = _interval(resampled - resampled[:, [leader]])
    return {
        label: Estimate(
            float(means[i]), float(low[i]), float(high[i]), bool(below[i] <= 0.0 <= above[i])
        )
        for i, label in enumerate(labels)
    }


def _interval(resampled: FloatArray) -> tuple[FloatArray, FloatArray]:
    tail = (1.0 - CONFIDENCE) / 2.0
    low, high = np.quantile(resampled, [tail, 1.0 - tail], axis=0)
    return low, high


@dataclass(frozen=True)
class Contrast:
    """One learner minus another in one cell; z is the mean difference over its standard error."""

    place: NamedEnvironment
    budget: int
    first: str
    second: str
    difference: float
    z: float

    @property
    def worse(self) -> bool:
        return self.z < -SIGNIFICANT

    @property
    def better(self) -> bool:
        return self.z > SIGNIFICANT


def contrast(first: Cell, second: Cell) -> Contrast:
    """Paired by replicate: both met the same draws, and the same costs unless these react."""
    gaps = first.rewards - second.rewards
    mean, error = float(gaps.mean()), standard_error(gaps)
    if abs(mean) <= EQUAL:
        z = 0.0
    else:
        z = mean / error if error > EQUAL else math.copysign(math.inf, mean)
    return Contrast(first.place, first.budget, first.learner, second.learner, mean, z)


def contrasts(cells: Sequence[Cell], first: str, second: str) -> list[Contrast]:
    """Of every cell in which both play."""
    return [
        contrast(block[first], block[second])
        for block in blocks_of(cells).values()
        if first in block and second in block
    ]


def bonferroni(comparisons: int) -> float:
    """The |z| beyond which not one of so many comparisons errs, with 95% confidence.

    >>> round(bonferroni(200), 2)
    3.66
    """
    return NormalDist().inv_cdf(1.0 - 0.025 / max(comparisons, 1))
