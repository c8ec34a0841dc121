"""The paper's tables, figures and statements as data: one recipe each, one place each.

A recipe names an experiment and its settings. Changing a number here changes that part of the
report and nothing else, and makes its kept result invalid.

To add a part: write a function (setting, **options) -> Found in a module of `parts`, and add its
recipe.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pickbest.core import unknown_name


@dataclass(frozen=True)
class Recipe:
    """One part of the report.

    experiment: module:function in `parts`.
    replicates: independent games, unless the user asks for another number.
    seconds: rough length on one core, for the progress bar only.
    needs_modules: packages that the part needs and that may be absent.
    """

    name: str
    title: str
    chapter: str
    experiment: str
    replicates: int
    options: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 1.0
    needs_modules: tuple[str, ...] = ()


CHAPTERS: dict[str, tuple[str, str]] = {
    "printed": (
        "The printed tables",
        "Tables 1 and 2 are the paper's main experiment: a stream of 368 tuning problems, nine "
        "optimisers, B of them run on each problem, here on the rewards that its authors recorded. "
        "Table 6 is a made-up task. Numbers are mean rewards (1 − cost) of a round.",
    ),
    "again": (
        "Measured again",
        "The same experiment on tuning problems that pickbest measured itself.",
    ),
    "tasks": (
        "Synthetic tasks",
        "The appendix's made-up environments, which differ in whether the best B arms are the "
        "greedy choice or the B best single arms ([task 3](#task-3) is Table 6), and one that "
        "changes half-way.",
    ),
    "regret": (
        "Budget against regret",
        "Theorem 2: with B arms a round, the regret of FPML against the single best arm grows "
        "like T^(1/(B+1)). Costs are seen in full here.",
    ),
    "statements": (
        "The other statements",
        "One small experiment for each further statement of the paper.",
    ),
    "beyond": ("Beyond the paper", "What the paper's setting allows, and the paper does not say."),
    "findings": (
        "What we found",
        "Things a reader of the paper should know, each with its numbers.",
    ),
}

_ROUNDS = [100, 200, 500, 1000, 2000, 5000, 10000]
_TASK = {"budgets": [1, 2, 3, 4, 5], "rounds": 300}

RECIPES: tuple[Recipe, ...] = (
    Recipe(
        "table-1", "Table 1: budgets 6 and 4", "printed", "recorded_tables:recorded", 100,
        {"budgets": [6, 4], "figure": False}, 3,
    ),
    Recipe(
        "table-2", "Table 2: all budgets", "printed", "recorded_tables:recorded", 100,
        {"budgets": [1, 2, 3, 4, 5, 6], "figure": True}, 6,
    ),
    Recipe("task-3", "Table 6 (task 3): greedy is worse than the top B", "printed",
           "synthetic_tasks:task_3", 50,
           {"budget": 3, "rounds": 300}, 1),
    Recipe(
        "measured", "The paper's findings on our own measurements", "again",
        "measured_tables:measured", 100,
        {"budgets": [1, 2, 3, 4, 5, 6]}, 6,
    ),
    Recipe("more-optimizers", "The experiment with fifteen optimisers", "again",
           "more_optimizers:more_optimizers", 100, {"budgets": [1, 2, 3, 4, 5, 6]}, 3),
    Recipe("task-1", "Task 1: greedy beats the top B", "tasks", "synthetic_tasks:task", 50,
           {"environment": "task-1", **_TASK}, 4),
    Recipe("task-2", "Task 2: the top B are best", "tasks", "synthetic_tasks:task", 50,
           {"environment": "task-2", **_TASK}, 3),
    Recipe("regime-change", "Task 2 with a change of regime", "tasks", "synthetic_tasks:task", 50,
           {"environment": "regime-change", **_TASK}, 3),
    Recipe("trade-off", "Theorem 2: regret as a function of B and T", "regret",
           "trade_off:trade_off",
           80, {"n_arms": 32, "budgets": [1, 2, 3, 4, 6], "rounds": _ROUNDS}, 7),
    Recipe("environments", "Which environment is worst for FPML", "regret",
           "trade_off:environments", 20,
           {"n_arms": 16, "budgets": [1, 2, 3, 4], "rounds": 1000}, 6),
    Recipe("worst-sequence", "The worst of all cost sequences, computed", "regret",
           "worst_sequence:worst_sequence", 1,
           {"budgets": [1, 2, 3], "rounds": [50, 100, 200, 400, 800], "constant_epsilon": 1.0}, 3),
    Recipe("constant-regret", "The budget at which regret stops growing", "regret",
           "trade_off:constant_regret", 100,
           {"n_arms": 32, "rounds": _ROUNDS, "fixed_budget": 2}, 4),
    Recipe("markov", "Probabilistic guarantees", "regret", "guarantees:markov", 500,
           {"n_arms": 32, "budgets": [1, 2, 4], "rounds": 1000}, 3),
    Recipe("overtaking", "Lemmas 3 and 4: overtaken leaders", "regret", "guarantees:overtaking", 20,
           {"n_arms": 10, "budgets": [1, 2, 3], "rounds": 1000}, 2),
    Recipe("fresh-noise", "Adversaries that react", "regret", "guarantees:fresh_noise", 20,
           {"rounds": 2000}, 1),
    Recipe("deterministic", "Proposition 1: deterministic learners", "statements",
           "lower_bounds:deterministic", 20, {"n_arms": 10, "rounds": 1000}, 2),
    Recipe("uniform", "Section 2: the uniform subset", "statements", "lower_bounds:uniform", 100,
           {"n_arms": 10, "rounds": 300}, 1),
    Recipe("halving", "Proposition 10: the halving lower bound", "statements",
           "lower_bounds:halving", 300,
           {"budgets": [1, 2, 3], "log2_arms": [3, 4, 5, 6, 7, 8, 9]}, 3),
    Recipe("partial-feedback", "Proposition 5: semi-bandit feedback", "statements",
           "partial_feedback:partial_feedback", 60,
           {"n_arms": 10, "budgets": [1, 2, 3], "rounds": 2000,
            "explore": [1.0, 0.5, 0.25, 0.125, 0.0625], "hard_arms": 100, "hard_budget": 5,
            "hard_rounds": [1250, 2500, 5000, 10000, 20000],
            "naive_budget": 3, "naive_rounds": 1_000_000},
           8),
    Recipe("top-set", "Proposition 7: regret against the top B", "statements",
           "top_set:top_set", 50,
           {"budgets": [2, 3], "rounds": 300, "hard_rounds": [250, 500, 1000, 2000, 4000]}, 3),
    Recipe("hybrid", "Theorem 6: OG_hybrid against OPT(B')", "statements", "hybrid:hybrid", 4,
           {"n_arms": 128, "target_budget": 2, "slot_budgets": [1, 2, 3],
            "horizons": [[3000, 30000], [1000, 10000], [1000, 10000]]}, 6),
    Recipe("hybrid-jobs", "Theorem 6 for jobs: coverage and other families", "statements",
           "hybrid_jobs:hybrid_jobs", 2, {"target_budget": 2, "rounds": [1000, 3000]}, 7,
           needs_modules=("scipy",)),
    Recipe("linear-programs", "Proposition 8: linear programs", "statements",
           "linear_programs:linear_programs",
           3, {"budgets": [1, 2, 3], "with_applications": True,
               "families": ["random, feasible", "random, infeasible", "set cover", "packing",
                            "zero-sum game"]}, 22,
           needs_modules=("scipy",)),
    Recipe("two-picks", "Two picks are enough: regret that does not grow with time", "beyond",
           "two_picks:two_picks", 100,
           {"n_arms": 16, "budgets": [2, 3, 4], "rounds": [100, 300, 1000, 3000, 10000]}, 8,
           needs_modules=("scipy",)),
    Recipe("two-draws", "Two draws: linear programs in far fewer oracle calls", "beyond",
           "linear_programs:two_draws",
           2, {}, 10, needs_modules=("scipy",)),
    Recipe("repeated-arms", "OG picks the same arm twice", "findings",
           "findings:repeated_arms", 100,
           {"budgets": [2, 3, 4, 5, 6]}, 4),
    Recipe("gamma", "The γ of Exp3", "findings",
           "findings:gamma", 100, {"budgets": [1, 2, 4, 6]}, 2),
    Recipe("tunings", "Tunings that differ from the text", "findings", "findings:tunings", 100,
           {"budgets": [1, 2, 3, 4, 5, 6]}, 3),
    Recipe("weights", "Exact weights instead of resampling", "findings", "findings:weights", 100,
           {"budgets": [1, 2, 3], "rounds": 300}, 3),
)  # fmt: skip


def recipe_named(name: str) -> Recipe:
    """A recipe by its name."""
    for recipe in RECIPES:
        if recipe.name == name:
            return recipe
    raise unknown_name("part", name, [recipe.name for recipe in RECIPES])
