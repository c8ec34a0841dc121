"""Scenarios of ASlib as plain data: facts, and what B of the arms are worth."""

from typing import Any

import numpy as np

from pickbest.core import FloatArray
from pickbest.environments.aslib.scenario import Scenario
from pickbest.hindsight import Subset, best_subset, greedy_subset, top_arms
from pickbest.hindsight.comparators import random_subset_costs


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
        **{name: getattr(scenario, name) for name in ("measure", "kind", "maximize", "cutoff")},
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
    """The mean cost of a round, in expectation over all subsets of `budget` arms."""
    return float(random_subset_costs(costs, budget).mean())
