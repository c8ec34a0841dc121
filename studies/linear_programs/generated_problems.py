"""Problems to try the solver on: random ones, set cover, packing; five families at their hardest.

A family is moved to the edge of feasibility: adding a number to b moves the largest smallest slack
over P, so the feasible ones have nothing to spare and the infeasible ones miss by a tenth of their
width.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pickbest.core import FloatArray
from pickbest.feasibility.highs import load
from pickbest.feasibility.sets import (
    Box,
    ConvexSet,
    Polytope,
    Simplex,
    System,
    ranges_by_maximizing,
    width_over,
)
from pickbest.feasibility.solve import Feasibility
from studies.linear_programs.exact import best_worst_slack

Problem = tuple[System, ConvexSet]
Row = dict[str, Any]
N_CONSTRAINTS, DIMENSION = 10, 5


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


@dataclass(frozen=True)
class AtMost:
    """All x in [0, 1] whose entries sum to at most `total`, by a linear maximiser: for B = 1.

    >>> AtMost(1.5, 3).maximize(np.array([0.2, -1.0, 0.4]))
    (array([0.5, 0. , 1. ]), 0.5)
    """

    total: float
    dimension: int

    def maximize(self, direction: FloatArray) -> tuple[FloatArray, float]:
        whole = min(math.floor(self.total), self.dimension)
        x = np.zeros(self.dimension)
        order = np.argsort(-direction)
        x[order[:whole]] = 1.0
        if whole < self.dimension:
            x[order[whole]] = self.total - whole
        x[direction <= 0.0] = 0.0
        return x, float(direction @ x)

    def ranges(self, system: System) -> tuple[FloatArray, FloatArray]:
        return ranges_by_maximizing(self, system)


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


def outcome(found: Feasibility) -> Row:
    """What every row says of a solve."""
    return {"status": found.status.value, "calls": found.calls, "calls_bound": found.calls_bound}


def random_rows(rng: np.random.Generator) -> Problem:
    """A random system over the box [-1, 1]."""
    rows, bounds = random_problem(rng, N_CONSTRAINTS, DIMENSION, margin=0.0)
    return System.of(rows, bounds), Box.cube(DIMENSION, -1.0, 1.0)


def covering(rng: np.random.Generator) -> Problem:
    """Cover elements by parts of sets, of which two are allowed in all."""
    cover = set_cover(rng, N_CONSTRAINTS, DIMENSION, sets_each=3).toarray()
    allowed = Polytope(np.ones((1, DIMENSION)), np.array([2.0]), 0.0, 1.0)
    return System.of(cover, np.ones(N_CONSTRAINTS)), allowed


def packed(rng: np.random.Generator) -> Problem:
    """Take items worth half of all, within the resources."""
    use, profits = packing(rng, N_CONSTRAINTS, DIMENSION, items_each=3)
    worth = Polytope(-profits[None], np.array([-profits.sum() / 2.0]), 0.0, 1.0)
    return System.of(-use.toarray(), -np.ones(N_CONSTRAINTS)), worth


def game(rng: np.random.Generator) -> Problem:
    """The row player's side of a zero-sum game: at least the value against every column."""
    payoffs = rng.uniform(-1.0, 1.0, (DIMENSION, N_CONSTRAINTS))
    return System.of(payoffs.T, np.zeros(N_CONSTRAINTS)), Simplex(DIMENSION)


def moved(problem: Problem, share_of_width: float) -> Problem:
    """The problem with b moved until the best x has this worst slack, in widths."""
    system, convex = problem
    value = best_worst_slack(system, convex)
    target = share_of_width * width_over(convex, system)
    return System.of(system.matrix, system.bounds + value - target), convex


FAMILIES: dict[str, Callable[[np.random.Generator], Problem]] = {
    "random, feasible": lambda rng: moved(random_rows(rng), 0.0),
    "random, infeasible": lambda rng: moved(random_rows(rng), -0.1),
    "set cover": lambda rng: moved(covering(rng), 0.0),
    "packing": lambda rng: moved(packed(rng), 0.0),
    "zero-sum game": lambda rng: moved(game(rng), 0.0),
}
