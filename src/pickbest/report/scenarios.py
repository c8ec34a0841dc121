"""Scenarios of ASlib as plain data and as tables: facts, and what B of the arms are worth."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any

import numpy as np
from rich import box
from rich.table import Table as RichTable

from pickbest.cli.tables import table
from pickbest.core import FloatArray, check_budget
from pickbest.environments.aslib.scenario import Scenario
from pickbest.hindsight import Subset, best_subset, greedy_subset, top_arms

# Tables show cutoffs and PAR10 from here on without decimals.
WHOLE_FROM = 100.0


def scenario_summary(
    scenario: Scenario,
    cost: str | None = None,
    largest_budget: int = 6,
    time_limit: float | None = None,
) -> dict[str, Any]:
    """Facts of a scenario, and the mean rewards of 1 to `largest_budget` of its algorithms."""
    costs = scenario.costs(cost).costs_table
    reached = scenario.solved.max(axis=1)
    par10 = None if scenario.limit is None else scenario.par10()
    budgets = range(1, min(largest_budget, len(scenario.algorithms)) + 1)
    return {
        "scenario": scenario.name,
        "instances": len(scenario.instances),
        "algorithms": len(scenario.algorithms),
        "measure": scenario.measure,
        "kind": scenario.kind,
        "maximize": scenario.maximize,
        "cutoff": scenario.cutoff,
        "cost": cost or scenario.default_cost,
        "solved_single_best": float(scenario.solved.mean(axis=0).max()),
        "solved_virtual_best": float(reached.mean()),
        "unsolved_instances": int((reached == 0).sum()),
        "features": len(scenario.feature_names),
        "missing_feature_values": int(np.isnan(scenario.features).sum()),
        "feature_steps": len(scenario.feature_steps),
        "missing_runs": scenario.missing_runs,
        "repetitions": scenario.repetitions,
        "statuses": dict(scenario.statuses),
        "par10_single_best": None if par10 is None else float(par10.mean(axis=0).min()),
        "par10_virtual_best": None if par10 is None else float(par10.min(axis=1).mean()),
        "virtual_best": 1.0 - float(costs.min(axis=1).mean()),
        "budgets": [
            budget_summary(costs, scenario.algorithms, budget, time_limit) for budget in budgets
        ],
    }


def budget_summary(
    costs: FloatArray, names: tuple[str, ...], budget: int, time_limit: float | None = None
) -> dict[str, Any]:
    """Mean rewards of `budget` arms that are chosen in four ways."""

    def mean_reward(subset: Subset) -> float:
        return 1.0 - subset.mean_cost(len(costs))

    best = best_subset(costs, budget, time_limit)
    return {
        "budget": budget,
        "random": 1.0 - random_subset_cost(costs, budget),
        "top": mean_reward(top_arms(costs, budget)),
        "greedy": mean_reward(greedy_subset(costs, budget)),
        "best": mean_reward(best),
        "best_arms": [names[arm] for arm in best.arms],
        "proven": best.proven,
    }


def random_subset_cost(costs: FloatArray, budget: int) -> float:
    """The mean cost of a round, in expectation over all subsets of `budget` arms.

    The k-th cheapest arm is the cheapest of a subset with probability
    C(n - k, budget - 1) / C(n, budget).

    >>> random_subset_cost(np.array([[0.0, 0.5, 1.0]]), budget=2)
    0.16666666666666666
    """
    n_arms = costs.shape[1]
    total = comb(n_arms, check_budget(budget, n_arms))
    chances = [comb(n_arms - place, budget - 1) / total for place in range(1, n_arms + 1)]
    return float((np.sort(costs, axis=1) @ np.array(chances)).mean())


def scenario_tables(summaries: Sequence[dict[str, Any]]) -> list[RichTable]:
    """What `pickbest aslib` prints."""
    facts = {
        "scenario": "scenario",
        "instances": "instances",
        "arms": "algorithms",
        "features": "features",
        "unsolved": "unsolved_instances",
        "missing runs": "missing_runs",
        "repeats": "repetitions",
    }
    solved = {
        "scenario": "scenario",
        "measure": "measure",
        "cutoff": "cutoff",
        "single best": "solved_single_best",
        "virtual best": "solved_virtual_best",
        "single PAR10": "par10_single_best",
        "virtual PAR10": "par10_virtual_best",
    }
    ways = {"B": "budget", "random": "random", "top B": "top", "greedy": "greedy", "best": "best"}
    rows = [{**each, **row} for each in summaries for row in each["budgets"]]
    title = "Mean reward of B arms"
    if len(summaries) > 1:
        ways = {"scenario": "scenario", "cost": "cost", **ways, "virtual best": "virtual_best"}
    else:
        (only,) = summaries
        title += f" by the cost {only['cost']}; of all arms: {only['virtual_best']:.4f}"
        ways["the best B arms"] = "best_arms"
    if not all(row["proven"] for row in rows):
        title += " (best: not all proven, raise --time-limit)"
    tables = [
        table(name, tuple(columns), [[_shown(row[key]) for key in columns.values()] for row in of])
        for name, columns, of in (
            ("Scenarios of ASlib: an instance is a round, an algorithm an arm", facts, summaries),
            ("Share solved and mean PAR10 of the single and the virtual best", solved, summaries),
            (title, ways, rows),
        )
    ]
    for each in tables:
        each.box, each.padding, each.pad_edge = box.SIMPLE, (0, 1, 0, 0), False
    return tables


def _shown(value: object) -> object:
    if isinstance(value, list):
        return ", ".join(value)
    return round(value) if isinstance(value, float) and value >= WHOLE_FROM else value
