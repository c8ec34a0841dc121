"""Ranks over worlds and budgets, with bootstrap intervals over families of worlds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pickbest.core import FloatArray
from pickbest.experiments.benchmark.shares import Cell

RESAMPLES, CONFIDENCE = 4_000, 0.95
# Rewards that differ by less are equal but for rounding.
EQUAL = 1e-12

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
    """The cells of each world and budget, by learner."""
    blocks: dict[tuple[str, int], dict[str, Cell]] = {}
    for cell in cells:
        blocks.setdefault((cell.world.name, cell.budget), {})[cell.learner] = cell
    return dict(blocks)


def complete_learners(cells: Sequence[Cell]) -> list[str]:
    """The learners that play in every world at every budget: only they can be ranked."""
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
    labels = complete_learners(cells)
    families: dict[str, list[FloatArray]] = {}
    for block in blocks_of(cells).values():
        rewards = np.array([block[label].reward for label in labels])
        family = next(iter(block.values())).world.family
        families.setdefault(family, []).append(average_ranks(rewards))
    return _estimates(labels, families, smallest_leads=True)


def mean_share_intervals(cells: Sequence[Cell]) -> dict[str, Estimate]:
    """The mean share of each complete learner; every family counts once."""
    labels = complete_learners(cells)
    families: dict[str, list[FloatArray]] = {}
    for block in blocks_of(cells).values():
        shares = [block[label].share for label in labels]
        if shares and None not in shares:
            family = next(iter(block.values())).world.family
            families.setdefault(family, []).append(np.array(shares, dtype=np.float64))
    return _estimates(labels, families, smallest_leads=False)


def _estimates(
    labels: Sequence[str], families: Mapping[str, list[FloatArray]], smallest_leads: bool
) -> dict[str, Estimate]:
    if not labels or not families:
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
            float(means[i]),
            float(low[i]),
            float(high[i]),
            bool(below[i] <= 0.0 <= above[i]),
        )
        for i, label in enumerate(labels)
    }


def _interval(resampled: FloatArray) -> tuple[FloatArray, FloatArray]:
    tail = (1.0 - CONFIDENCE) / 2.0
    low, high = np.quantile(resampled, [tail, 1.0 - tail], axis=0)
    return low, high
