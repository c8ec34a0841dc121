"""Paired comparisons of two learners, cell by cell: where is one significantly worse?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from pickbest.experiments.benchmark.environments import World
from pickbest.experiments.benchmark.ranking import EQUAL, blocks_of
from pickbest.experiments.benchmark.shares import Cell, standard_error

SIGNIFICANT = 3.0


@dataclass(frozen=True)
class Contrast:
    """One learner minus another in one cell; z is the mean difference over its standard error."""

    world: World
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
    return Contrast(first.world, first.budget, first.learner, second.learner, mean, z)


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
