"""The registry of parts: which function runs a recipe's experiment.

To add a part: write a function (setting, **options) -> Found, name it here, and add its
recipe. Parts that lack a module are left out with a sentence.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from pickbest.core import PickbestError
from pickbest.experiments.paper.experiment import Experiment, Setting
from pickbest.experiments.paper.recipes import Recipe
from pickbest.report.document import Section

# Experiment: the module of pickbest.experiments.paper that defines it.
EXPERIMENTS = {
    "recorded": "recorded",
    "measured": "measured",
    "task": "tasks",
    "task_3": "tasks",
    "trade_off": "tradeoff",
    "environments": "tradeoff",
    "constant_regret": "tradeoff",
    "worst_sequence": "worst_sequence",
    "markov": "guarantees",
    "overtaking": "guarantees",
    "deterministic": "lower_bounds",
    "uniform": "lower_bounds",
    "halving": "lower_bounds",
    "partial_feedback": "partial",
    "top_set": "topset",
    "hybrid": "slots",
    "hybrid_jobs": "jobs",
    "linear_programs": "programs",
    "repeated_arms": "findings",
    "gamma": "findings",
    "tunings": "findings",
    "weights": "findings",
}


def why_missing(recipe: Recipe) -> str | None:
    """Why a part cannot run here, in one sentence; None where it can."""
    for module in recipe.needs_modules:
        if not _exists(module):
            return f"**{recipe.title}** needs `{module}`, which is not installed here."
    if recipe.experiment not in EXPERIMENTS:
        return f"**{recipe.title}** is not part of this version."
    return None


def _exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def run_part(recipe: Recipe, setting: Setting) -> Section:
    """Run one recipe."""
    if recipe.experiment not in EXPERIMENTS:
        raise PickbestError(f"the experiment {recipe.experiment!r} is not part of this version")
    module = import_module(f"pickbest.experiments.paper.{EXPERIMENTS[recipe.experiment]}")
    experiment: Experiment = getattr(module, recipe.experiment)
    found = experiment(setting, **recipe.options)
    return Section(recipe.name, recipe.title, found.blocks, found.findings)
