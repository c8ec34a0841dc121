"""Set cover, packing and a zero-sum game, solved to epsilon, with HiGHS's time beside ours."""

import time
from typing import Any

import numpy as np

from pickbest.core import FloatArray
from pickbest.feasibility import ConvexSet, Polytope, solve_feasibility, solve_game
from studies.linear_programs.exact import exact_value, exactly
from studies.linear_programs.generated_problems import (
    AtMost,
    outcome,
    packing,
    set_cover,
)

N_SETS, N_ELEMENTS = 200, 2_000
N_ITEMS, N_RESOURCES = 150, 300


def applications(seed: int) -> list[dict[str, Any]]:
    """Set cover and packing, where there is a solution and where there is none, B = 1 and 2."""
    rng = np.random.default_rng([seed, 2_000_003])
    rows = []
    cover = set_cover(rng, N_ELEMENTS, N_SETS, sets_each=6)
    for name, total in (("set cover", 80.0), ("set cover, too few sets", 70.0)):
        polytope = Polytope(np.ones((1, N_SETS)), np.array([total]), 0.0, 1.0)
        for budget, convex in ((1, AtMost(total, N_SETS)), (2, polytope)):
            rows.append(
                application(name, cover, np.ones(N_ELEMENTS), convex, polytope, 0.1, budget)
            )
    use, profits = packing(rng, N_RESOURCES, N_ITEMS, items_each=8)
    ones = np.ones((1, N_RESOURCES))
    for name, profit in (("packing", 31.0), ("packing, too much profit", 36.0)):
        enough = Polytope(-profits[None], np.array([-profit]), 0.0, 1.0)
        for budget in (1, 2):
            rows.append(application(name, -use, -ones[0], enough, enough, 0.1, budget))
    return rows


def application(
    name: str,
    A: Any,  # noqa: N803 - the paper's name
    b: FloatArray,
    convex: ConvexSet,
    polytope: Polytope,
    epsilon: float,
    budget: int,
) -> dict[str, Any]:
    """One problem: our verdict and time, and those of HiGHS on the exact problem."""
    start = time.perf_counter()
    found = solve_feasibility(A, b, convex, epsilon, budget)
    seconds = time.perf_counter() - start
    feasible, highs_seconds = exactly(A, b, polytope)
    return {
        "name": name,
        "n_constraints": int(A.shape[0]),
        "dimension": int(A.shape[1]),
        "budget": budget,
        "epsilon": epsilon,
        **outcome(found),
        "worst_slack": found.worst_slack,
        "seconds": seconds,
        "exactly_feasible": feasible,
        "highs_seconds": highs_seconds,
    }


def games(seed: int) -> list[dict[str, Any]]:
    """A random zero-sum game, solved to epsilon for B = 1, 2, 3, and exactly."""
    payoffs = np.random.default_rng([seed, 3_000_017]).uniform(-1.0, 1.0, (30, 30))
    start = time.perf_counter()
    value = exact_value(payoffs)
    highs_seconds = time.perf_counter() - start
    rows = []
    for budget in (1, 2, 3):
        start = time.perf_counter()
        game = solve_game(payoffs, 0.02, budget)
        seconds = time.perf_counter() - start
        shown = ("budget", "epsilon", "lower", "upper", "value", "calls", "calls_bound")
        row = {name: getattr(game, name) for name in shown}
        row |= {"exact_value": value, "seconds": seconds, "highs_seconds": highs_seconds}
        rows.append(row)
    return rows
