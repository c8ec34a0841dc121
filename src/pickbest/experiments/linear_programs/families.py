"""Small problems of five families, each moved to where it is hardest: the edge of feasibility.

Adding a number to b moves the largest smallest slack over P, so the feasible ones have nothing
to spare and the infeasible ones miss by a tenth of their width.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pickbest.core import FloatArray, PickbestError
from pickbest.experiments.linear_programs.instances import packing, random_problem, set_cover
from pickbest.feasibility.constraints import System
from pickbest.feasibility.highs import PURPOSE, LinearProgram, load
from pickbest.feasibility.polytopes import Polytope, as_rows, stacked
from pickbest.feasibility.sets import Box, ConvexSet, Simplex, width_over

Problem = tuple[System, ConvexSet]
N_CONSTRAINTS, DIMENSION = 10, 5


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


def best_worst_slack(system: System, convex: ConvexSet) -> float:
    """The largest smallest slack over P, by HiGHS: at least 0 where A x ≥ b is feasible."""
    rows = as_rows(convex)
    if rows is None:
        raise PickbestError(f"HiGHS needs linear rows, which {type(convex).__name__} has not")
    n_constraints = system.n_constraints
    objective: FloatArray = np.zeros(system.dimension + 1)
    objective[-1] = 1.0
    sparse = load("scipy.sparse", PURPOSE)
    own = sparse.hstack([sparse.csr_array(system.matrix), -np.ones((n_constraints, 1))])
    program = LinearProgram(
        sparse.vstack([stacked(rows, 1), own]),
        np.concatenate([rows.row_lower, system.bounds]),
        np.concatenate([rows.row_upper, np.full(n_constraints, np.inf)]),
        np.append(rows.lower, -np.inf),
        np.append(rows.upper, np.inf),
    )
    return program.maximize(objective).value
