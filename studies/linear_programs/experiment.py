"""The numbers behind section 5: calls against accuracy, verdicts, and time beside HiGHS.

`lp_experiment` returns plain data for `reproduce` and `linear-programs`:

calls: rows of {family, budget, problem, epsilon, width, status, calls, calls_bound}: problems of
    `generated_problems`, FPML tuned as in the proof, an oracle that does no more than it must.
slopes: rows of {family, budget, slope, low, high, theory, problems}: the growth of ln calls
    with ln 1/epsilon, its mean over problems with a 95% confidence interval, beside (B+1)/B;
    family "all feasible" pools the feasible ones. Problems that end within FEWEST_CALLS say
    nothing about the rate, and those that were cut off at the bound nothing about how many calls
    they need: both are left out.
verdicts: {problems, feasible, infeasible, undecided, wrong, most_of_bound}: random problems
    of mixed size and budget beside HiGHS; wrong counts verdicts that it contradicts;
    most_of_bound is the largest calls / calls_bound.
applications: rows of {name, n_constraints, dimension, budget, epsilon, status, calls,
    calls_bound, worst_slack, seconds, highs_seconds}: HiGHS solves the same problem exactly.
"""

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pickbest.catalog import make_learner
from pickbest.core import FloatArray, Learner, check_count, check_seed
from pickbest.core.progress import Progress
from pickbest.feasibility.highs import load
from pickbest.feasibility.sets import Box, ConvexSet, Polytope, System, width_over
from pickbest.feasibility.solve import Feasibility, FeasibilityStatus, solve_feasibility
from pickbest.simulation.statistics import standard_error
from studies.linear_programs.generated_problems import (
    FAMILIES,
    AtMost,
    MinimalOracle,
    best_worst_slack,
    exactly,
    outcome,
    packing,
    random_problem,
    set_cover,
)
from studies.paper.estimates import slope

BUDGETS = (1, 2, 3)
# Accuracies are those that Proposition 8 promises after so many calls.
CALLS_ALLOWED = (2_000, 4_000, 8_000)
# Fewer calls than this: the answers met the accuracy before anything was learned.
FEWEST_CALLS = 20
INFEASIBLE = "random, infeasible"
POOLED = "all feasible"
# Sizes of the applications.
N_SETS, N_ELEMENTS = 200, 2_000
N_ITEMS, N_RESOURCES = 150, 300


Tamper = Callable[[Learner], Learner]


def lp_experiment(
    seed: int = 0,
    replicates: int = 3,
    *,
    budgets: Sequence[int] = BUDGETS,
    families: Sequence[str] = tuple(FAMILIES),
    tamper: Tamper | None = None,
    with_applications: bool = True,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """The whole experiment as plain data; see the head of this file for its keys.

    tamper: what becomes of the proof's FPML, to see the experiment fail.
    """
    check_seed(seed)
    check_count("replicates", replicates)
    problems = [(name, number) for name in families for number in range(replicates)]
    calls: list[dict[str, Any]] = []
    for done, (name, number) in enumerate(problems, start=1):
        calls += calls_needed(name, seed, number, budgets, tamper)
        if progress:
            progress(done, len(problems))
    names = (*(name for name in families if name != INFEASIBLE), POOLED)
    return {
        "seed": seed,
        "replicates": replicates,
        "calls": calls,
        "slopes": [slope_of(calls, name, budget) for name in names for budget in budgets],
        "verdicts": verdicts(seed, 10 * replicates),
        "applications": applications(seed) if with_applications else [],
    }


def calls_needed(
    family: str,
    seed: int,
    problem: int,
    budgets: Sequence[int] = BUDGETS,
    tamper: Tamper | None = None,
) -> list[dict[str, Any]]:
    """Calls that one problem takes, for each budget and accuracy."""
    rng = np.random.default_rng([seed, problem, list(FAMILIES).index(family)])
    system, convex = FAMILIES[family](rng)
    width = width_over(convex, system)
    rows = []
    for budget in budgets:
        for allowed in CALLS_ALLOWED:
            epsilon = accuracy_after(system.n_constraints, budget, width, allowed)
            proof = make_learner("fpml", system.n_constraints, budget, allowed)
            oracle = MinimalOracle(system, convex, budget)
            learner = tamper(proof) if tamper else proof
            whole = (system.matrix, system.bounds, oracle, epsilon, budget)
            found = solve_feasibility(*whole, learner=learner)
            row = {"family": family, "budget": budget, "problem": problem, "epsilon": epsilon}
            rows.append({**row, "width": width, **outcome(found)})
    return rows


def accuracy_after(n_constraints: int, budget: int, width: float, calls: int) -> float:
    """Proposition 8, turned round: the accuracy that it promises after these calls."""
    per_call = (1.0 + math.log(n_constraints)) / calls
    return float(4.0 * width * per_call ** (budget / (budget + 1)))


def slope_of(calls: list[dict[str, Any]], family: str, budget: int) -> dict[str, Any]:
    """The mean slope over problems, and a 95% interval from Student's t."""
    by_problem: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in calls:
        wanted = row["family"] == family or (family == POOLED and row["family"] != INFEASIBLE)
        if wanted and row["budget"] == budget:
            by_problem.setdefault((row["family"], row["problem"]), []).append(row)
    slopes: list[Any] = []
    for own in by_problem.values():
        whole = all(row["status"] != FeasibilityStatus.UNDECIDED.value for row in own)
        if whole and min(row["calls"] for row in own) >= FEWEST_CALLS:
            finer = [1.0 / row["epsilon"] for row in own]
            slopes.append(slope(finer, [row["calls"] for row in own]))
    mean = float(np.mean(slopes)) if slopes else None
    low = high = None
    if mean is not None and len(slopes) > 1:
        student = load("scipy.stats", "confidence intervals").t
        reach = standard_error(np.array(slopes)) * float(student.ppf(0.975, len(slopes) - 1))
        low, high = mean - reach, mean + reach
    return {
        "family": family,
        "budget": budget,
        "slope": mean,
        "low": low,
        "high": high,
        "theory": (budget + 1) / budget,
        "problems": len(slopes),
    }


def verdicts(seed: int, problems: int) -> dict[str, Any]:
    """Random problems, feasible and not, of mixed size: our verdict beside HiGHS's."""
    rng = np.random.default_rng([seed, 1_000_003])
    counts = dict.fromkeys(FeasibilityStatus, 0)
    wrong, most = 0, 0.0
    for k in range(problems):
        n_constraints, dimension = int(rng.integers(4, 80)), int(rng.integers(2, 12))
        margin = float(rng.choice([0.05, 0.0, -0.1, -0.3]))
        A, b = random_problem(rng, n_constraints, dimension, margin, slack=0.05)  # noqa: N806
        box = Box.cube(dimension, -1.0, 1.0)
        found = solve_feasibility(A, b, box, 0.05, BUDGETS[k % len(BUDGETS)])
        counts[found.status] += 1
        wrong += contradicts(found, best_worst_slack(System.of(A, b), box))
        most = max(most, found.calls / found.calls_bound)
    named = {status.value: count for status, count in counts.items()}
    return {"problems": problems, **named, "wrong": wrong, "most_of_bound": most}


def contradicts(found: Feasibility, exact: float) -> bool:
    """Whether the verdict is wrong, where `exact` is the largest worst slack over P."""
    if found.status is FeasibilityStatus.INFEASIBLE:
        return exact >= 0.0
    return found.status is FeasibilityStatus.FEASIBLE and exact < -found.epsilon


# Set cover, packing and a zero-sum game, solved to epsilon, with HiGHS's time --------------------


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
