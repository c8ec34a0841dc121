"""Two draws beside FPML: oracle calls at ε = .01, and how they grow with 1/ε.

The oracle does no more than it must (`minimal_oracle`), B = 2, on the families of
`generated_problems`. `calls` has rows of {family, problem, epsilon} and, for each of LEARNERS,
{status, calls, calls_bound, verified}; `slopes` has rows of {family, problem, slope} for the
product law on the feasible problems.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from pickbest.core import Learner
from pickbest.core.progress import Progress
from pickbest.feasibility.phases import calls_needed, schedule
from pickbest.feasibility.solve import Feasibility, FeasibilityStatus, solve_feasibility
from studies.linear_programs.generated_problems import (
    FAMILIES,
    MinimalOracle,
    Problem,
    best_worst_slack,
    outcome,
)
from studies.paper.estimates import slope

# The product law of two draws, and the algorithm of Proposition 8's proof.
LEARNERS = {"product": None, "proposition_8": "fpml"}
BUDGET = 2
EPSILON = 0.01
ACCURACIES = (0.04, 0.02, 0.01, 0.005)


def two_draws(
    seed: int,
    replicates: int,
    tamper: Callable[[Learner], Learner] | None = None,
    progress: Progress | None = None,
) -> dict[str, list[dict[str, Any]]]:
    """Both tables; see the head of this file.

    tamper: what becomes of the two draws' Hedge, to see the experiment fail.
    """
    calls: list[dict[str, Any]] = []
    slopes: list[dict[str, Any]] = []
    for place, (family, make) in enumerate(FAMILIES.items()):
        for number in range(replicates):
            problem = make(np.random.default_rng([seed, number, place]))
            named = {"family": family, "problem": number}
            rows = {
                name: row_of(problem, solved(problem, EPSILON, name, tamper)) for name in LEARNERS
            }
            calls.append({**named, "epsilon": EPSILON, **rows})
            if rows["product"]["status"] == FeasibilityStatus.FEASIBLE.value:
                needed = [solved(problem, e, "product", tamper).calls for e in ACCURACIES]
                finer = [1.0 / epsilon for epsilon in ACCURACIES]
                slopes.append({**named, "slope": slope(finer, needed)})
            if progress:
                progress(len(calls), len(FAMILIES) * replicates)
    return {"calls": calls, "slopes": slopes}


def solved(
    problem: Problem, epsilon: float, name: str, tamper: Callable[[Learner], Learner] | None = None
) -> Feasibility:
    """The problem through the oracle that does the least."""
    system, convex = problem
    oracle = MinimalOracle(system, convex, BUDGET)
    whole = (system.matrix, system.bounds, oracle, epsilon, BUDGET)
    if tamper is None or name != "product":
        return solve_feasibility(*whole, learner=LEARNERS[name])
    calls = calls_needed(system.n_constraints, BUDGET, oracle.width(), epsilon)
    hedge = schedule(system.n_constraints, BUDGET, calls)[-1].learner
    found = solve_feasibility(*whole, learner=tamper(hedge), max_calls=calls)
    return replace(found, calls_bound=calls)


def row_of(problem: Problem, found: Feasibility) -> dict[str, Any]:
    return {**outcome(found), "verified": verified(problem, found)}


def verified(problem: Problem, found: Feasibility) -> bool:
    """Whether the evidence holds, computed anew, and HiGHS's best worst slack agrees."""
    system, convex = problem
    best = best_worst_slack(system, convex)
    if found.status is FeasibilityStatus.FEASIBLE and found.x is not None:
        return float(system.slacks(found.x).min()) >= -found.epsilon and best >= -found.epsilon
    if found.status is FeasibilityStatus.INFEASIBLE and found.certificate is not None:
        y = found.certificate.multipliers
        top = convex.maximize(system.direction(y))[1] - float(y @ system.bounds)
        return bool(y.min() >= 0.0 and top < 0.0 and best < 0.0)
    return False
