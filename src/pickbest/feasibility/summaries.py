"""What a run found, as plain data for JSON and for tables."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from pickbest.core import FloatArray
from pickbest.feasibility.problems import Problem
from pickbest.feasibility.solve import Feasibility

# Exit codes of `pickbest feasible`; 2 is for bad input, as in every command.
EXIT_CODES = {"feasible": 0, "infeasible": 3, "undecided": 4}


def feasibility_summary(problem: Problem, found: Feasibility) -> dict[str, Any]:
    """The verdict with its evidence: x, or the constraints that contradict each other."""
    summary: dict[str, Any] = {
        "status": found.status.value,
        "exit_code": EXIT_CODES[found.status.value],
        "n_constraints": len(problem.b),
        "dimension": len(problem.variables),
        "epsilon": found.epsilon,
        "budget": found.budget,
        "width": found.width,
        "calls": found.calls,
        "calls_bound": found.calls_bound,
        "stopped_early": found.stopped_early,
        "samples": found.samples,
        "sampling_error": found.sampling_error,
        "worst_slack": found.worst_slack,
        "worst_constraint": None,
        "x": None,
        "certificate": None,
    }
    if found.x is not None:
        worst = int(np.argmin(problem.A @ found.x - problem.b))
        summary["worst_constraint"] = problem.constraints[worst]
        summary["x"] = dict(zip(problem.variables, found.x.tolist(), strict=True))
    if found.certificate is not None:
        y = found.certificate.multipliers
        heaviest = np.argsort(-y, kind="stable")[: np.count_nonzero(y)]
        summary["certificate"] = {
            "value": found.certificate.value,
            "multipliers": {problem.constraints[i]: float(y[i]) for i in heaviest},
        }
    return summary


def write_solution(problem: Problem, x: FloatArray, path: Path) -> None:
    """x as a table of variables and values."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["variable", "value"])
        rows.writerows(zip(problem.variables, x.tolist(), strict=True))
