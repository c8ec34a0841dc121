"""Problems to try the solver on, exact answers by HiGHS, and an oracle that does the least.

Random ones, set cover, packing; five families at their hardest, moved to the edge of feasibility:
adding a number to b moves the largest smallest slack over P, so the feasible ones have nothing to
spare and the infeasible ones miss by a tenth of their width.

The oracles that solve problems return the best x, and at B > 1 the first one is often a solution
already. Proposition 8 asks only for an expected smallest slack of at least 0: `MinimalOracle` goes
from the best x towards the point that is worst for the constraint that its answers violate most so
far, as far as that allows.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core import FloatArray
from pickbest.feasibility.highs import load
from pickbest.feasibility.laws import AnyLaw
from pickbest.feasibility.oracles import Answer, oracle_for
from pickbest.feasibility.sets import Box, ConvexSet, Polytope, Simplex, System, as_rows, width_over
from pickbest.feasibility.solve import Feasibility

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
        return Box.cube(self.dimension).ranges(system)


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


# Exact answers by SciPy's HiGHS, to judge the solver's by ----------------------------------------


def best_worst_slack(system: System, convex: ConvexSet) -> float:
    """The largest smallest slack over P: at least 0 where A x ≥ b is feasible."""
    found = linear_program(system.matrix, system.bounds, convex, slack=True)
    if found.status != 0:
        raise ValueError(f"HiGHS did not solve the program: {found.message}")
    return -float(found.fun)


def exact_value(payoffs: ArrayLike) -> float:
    """The value of a zero-sum game: max v with v ≤ (rows · payoffs)_j.

    >>> round(exact_value([[2.0, -1.0], [-1.0, 1.0]]), 6)
    0.2
    """
    table = np.asarray(payoffs, dtype=np.float64)
    return best_worst_slack(System.of(table.T, np.zeros(table.shape[1])), Simplex(len(table)))


def exactly(A: Any, b: FloatArray, convex: ConvexSet) -> tuple[bool, float]:  # noqa: N803
    """(feasible, seconds): whether some x in P has A x ≥ b."""
    start = time.perf_counter()
    found = linear_program(A, b, convex, slack=False)
    return found.status == 0, time.perf_counter() - start


def linear_program(A: Any, b: FloatArray, convex: ConvexSet, slack: bool) -> Any:  # noqa: N803
    """max t with A x - t ≥ b over P; without `slack` t is 0, and any x with A x ≥ b will do."""
    sparse = load("scipy.sparse", "linear programs")
    rows = as_rows(convex)
    if rows is None:
        raise TypeError(f"{convex!r} has no linear description")
    own = sparse.csr_array(rows.matrix)
    above, below = np.isfinite(rows.row_upper), np.isfinite(rows.row_lower)
    upper = sparse.vstack([-sparse.csr_array(A), own[above], -own[below]])
    limits = np.concatenate([-b, rows.row_upper[above], -rows.row_lower[below]])
    weighs = np.zeros(len(limits))
    weighs[: len(b)] = 1.0
    return load("scipy.optimize", "linear programs").linprog(
        np.append(np.zeros(own.shape[1]), -1.0),
        A_ub=sparse.hstack([upper, sparse.csr_array(weighs[:, None])]),
        b_ub=limits,
        bounds=[*zip(rows.lower, rows.upper, strict=True), (None, None) if slack else (0.0, 0.0)],
    )


# An oracle that does no more than it must -------------------------------------------------------

# Chords drawn to find how far the oracle may go; at B = 1 the first is exact.
_CHORDS = 6
# How exact the best answer must be that it starts from.
TOLERANCE = 1e-5


class MinimalOracle:
    """Answers that meet the law with nothing to spare."""

    def __init__(self, system: System, convex: ConvexSet, budget: int) -> None:
        self._system = system
        self._convex = convex
        self._best = oracle_for(convex, system, budget, TOLERANCE)
        self._slacks = np.zeros(system.n_constraints)

    def width(self) -> float:
        return self._best.width()

    def bound(self, multipliers: FloatArray) -> float:
        return self._best.bound(multipliers)

    def answer(self, law: AnyLaw) -> Answer:
        best = self._best.answer(law)
        if best.value < 0.0:
            return best
        worst = self._system.rows(np.array([np.argmin(self._slacks)]))[0]
        bad = self._convex.maximize(-worst)[0]
        good_slacks = self._system.slacks(best.x)
        change = self._system.slacks(bad) - good_slacks
        step = farthest(law, good_slacks, change)
        self._slacks += good_slacks + step * change
        return Answer(best.x + step * (bad - best.x), best.value, best.multipliers)


def farthest(law: AnyLaw, slacks: FloatArray, change: FloatArray) -> float:
    """About the largest step in [0, 1] whose expected smallest slack is at least 0.

    The expectation is concave in the step, so where a chord from a good step to the whole one
    meets 0 is a good step again, and nearer.
    """
    bad = law.expected_minimum(slacks + change)
    if bad >= 0.0:
        return 1.0
    step, value = 0.0, law.expected_minimum(slacks)
    for _ in range(_CHORDS):
        if value <= 1e-12:
            break
        step += (1.0 - step) * value / (value - bad)
        value = law.expected_minimum(slacks + step * change)
    return step
