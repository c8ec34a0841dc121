"""Which learner is better: mean shares with bootstrap intervals, and paired comparisons of two."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
class Interval:
    """A mean over families with its bootstrap interval; None where there is one family only."""

    mean: float
    low: float | None
    high: float | None


def blocks_of(cells: Sequence[Cell]) -> dict[tuple[str, int], Block]:
    """The cells of each environment and budget, by learner."""
    blocks: dict[tuple[str, int], dict[str, Cell]] = {}
    for cell in cells:
        blocks.setdefault((cell.place.name, cell.budget), {})[cell.learner] = cell
    return dict(blocks)


def complete_learners(cells: Sequence[Cell]) -> list[str]:
    """The learners that play in every environment at every budget."""
    blocks = blocks_of(cells).values()
    return [
        label
        for label in dict.fromkeys(cell.learner for cell in cells)
        if all(label in block for block in blocks)
    ]


def mean_share_intervals(cells: Sequence[Cell]) -> dict[str, Interval]:
    """The mean share of each complete learner; every family counts once."""
    labels = complete_learners(cells)
    families: dict[str, list[FloatArray]] = {}
    for block in blocks_of(cells).values():
        own = [block[label] for label in labels]
        # Whether there is a share depends on the costs alone.
        if own and own[0].share is not None:
            found = np.array([cell.share for cell in own], np.float64)
            families.setdefault(own[0].place.family, []).append(found)
    if not families:
        return {}
    values = np.array([np.mean(rows, axis=0) for rows in families.values()])
    means = dict(zip(labels, values.mean(axis=0).tolist(), strict=True))
    if len(values) < 2:
        return {label: Interval(mean, None, None) for label, mean in means.items()}
    drawn = np.random.default_rng(0).integers(len(values), size=(RESAMPLES, len(values)))
    tail = (1.0 - CONFIDENCE) / 2.0
    ends = np.quantile(values[drawn].mean(axis=1), [tail, 1.0 - tail], axis=0).T.tolist()
    pairs = zip(means.items(), ends, strict=True)
    return {label: Interval(mean, low, high) for (label, mean), (low, high) in pairs}


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
