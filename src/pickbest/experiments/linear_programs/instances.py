"""Problems to try the solver on: random ones, set cover, packing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pickbest.core import FloatArray
from pickbest.feasibility.highs import load
from pickbest.feasibility.sets import Maximizer


def random_problem(
    rng: np.random.Generator, n_constraints: int, dimension: int, margin: float, slack: float = 0.2
) -> tuple[FloatArray, FloatArray]:
    """(A, b) for the box [-1, 1]: rows of unit 1-norm, and a point x0 with A x0 ≥ b + margin.

    A negative margin of any size may leave the problem feasible elsewhere. slack: the mean of
    what x0 has beyond the margin, different for each constraint; 0 makes all of them tight.
    """
    rows = rng.normal(size=(n_constraints, dimension))
    rows /= np.abs(rows).sum(axis=1, keepdims=True)
    x0 = rng.uniform(-1.0, 1.0, dimension)
    return rows, rows @ x0 - margin - slack * rng.exponential(size=n_constraints)


def set_cover(rng: np.random.Generator, n_elements: int, n_sets: int, sets_each: int) -> Any:
    """A sparse A: A x ≥ 1 says that every element is covered.

    Elements are in 2 to 2 (sets_each - 1) sets, drawn with odds that fall from the first set to
    the last by a factor of ten: some sets are far larger than others, some elements are rare.
    """
    counts = rng.integers(2, 2 * sets_each - 1, n_elements)
    odds = 10.0 ** -np.linspace(0.0, 1.0, n_sets)
    columns = rng.choice(n_sets, counts.sum(), p=odds / odds.sum())
    rows = np.repeat(np.arange(n_elements), counts)
    sparse: Any = load("scipy.sparse", "sparse problems")
    cover = sparse.csr_array((np.ones(rows.size), (rows, columns)), shape=(n_elements, n_sets))
    cover.sum_duplicates()
    cover.data[:] = 1.0
    return cover


def at_most(total: float, dimension: int) -> Maximizer:
    """All x in [0, 1] whose entries sum to at most `total`, by its linear maximiser.

    >>> at_most(1.5, 3).maximize(np.array([0.2, -1.0, 0.4]))[0]
    array([0.5, 0. , 1. ])
    """
    whole = min(math.floor(total), dimension)

    def best(direction: FloatArray) -> FloatArray:
        x = np.zeros(dimension)
        order = np.argsort(-direction)
        x[order[:whole]] = 1.0
        if whole < dimension:
            x[order[whole]] = total - whole
        x[direction <= 0.0] = 0.0
        return x

    return Maximizer(best, dimension)


def packing(
    rng: np.random.Generator, n_resources: int, n_items: int, items_each: int
) -> tuple[Any, FloatArray]:
    """(use, profits): at most 1 of each resource may be used; items use 0 to 1 of a few."""
    rows = np.repeat(np.arange(n_resources), items_each)
    columns = rng.integers(0, n_items, rows.size)
    amounts = rng.uniform(0.2, 1.0, rows.size)
    sparse: Any = load("scipy.sparse", "sparse problems")
    use = sparse.csr_array((amounts, (rows, columns)), shape=(n_resources, n_items))
    return use, rng.uniform(0.5, 1.5, n_items)
