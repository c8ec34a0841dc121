"""Set cover and dense problems to accuracy 0.1, beside HiGHS solving them exactly.

Both sides decide the same feasibility problem on one thread. HiGHS gives an exact answer, ours
one to epsilon: the ratio says what the weaker answer costs or saves, and is no contest.
"""

from __future__ import annotations

import time

import numpy as np

from pickbest.feasibility import Box, Polytope, solve_feasibility
from studies.linear_programs.generated_problems import AtMost, exactly, random_problem, set_cover
from timing import Row, limit_row

EPSILON = 0.1


def cover_row(n_elements: int, n_sets: int, total: float, limit: float) -> Row:
    """x in [0, 1] with sum at most `total` that covers every element: a user's maximiser, B = 1.

    Elements are in at most 18 sets, so no answer has a slack below -1 or above 17.
    """
    cover = set_cover(np.random.default_rng(0), n_elements, n_sets, sets_each=10)
    ones = np.ones(n_elements)
    start = time.perf_counter()
    found = solve_feasibility(cover, ones, AtMost(total, n_sets), EPSILON)
    ours = time.perf_counter() - start
    polytope = Polytope(np.ones((1, n_sets)), np.array([total]), 0.0, 1.0)
    feasible, reference = exactly(cover, ones, polytope)
    if found.certificate is not None and feasible:
        raise RuntimeError("we call a problem infeasible that HiGHS calls feasible")
    name = f"set cover, {n_elements:,} x {n_sets:,}, {total:g} sets: {found.status.value}"
    return limit_row(f"{name} in {found.calls} calls", ours, limit, reference)


def dense_row(n_constraints: int, dimension: int, budget: int, limit: float) -> Row:
    """A random feasible problem over a box, all of its constraints nearly tight."""
    rng = np.random.default_rng(1)
    rows, bounds = random_problem(rng, n_constraints, dimension, margin=0.0, slack=0.01)
    box = Box.cube(dimension, -1.0, 1.0)
    start = time.perf_counter()
    found = solve_feasibility(rows, bounds, box, 0.02, budget)
    ours = time.perf_counter() - start
    reference = exactly(rows, bounds, box)[1]
    name = f"dense, {n_constraints:,} x {dimension}, B = {budget}: {found.status.value}"
    return limit_row(f"{name} in {found.calls} calls", ours, limit, reference)


def rows() -> list[Row]:
    """One row per problem; compilation is not counted."""
    cover_row(1_000, 100, 60.0, limit=60.0)
    dense_row(200, 5, budget=2, limit=60.0)
    return [
        # About 210 sets are needed: easy, nearly as few as possible, too few.
        *(cover_row(100_000, 400, total, limit=60.0) for total in (250.0, 215.0, 200.0)),
        *(dense_row(3_000, 50, budget, limit=60.0) for budget in (1, 2, 3)),
    ]
