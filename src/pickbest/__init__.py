"""Each round, pick B of N arms, keep the best result, and learn which B to pick next."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pickbest._version import __version__

if TYPE_CHECKING:
    from pickbest.catalog import (
        LearnerEntry,
        environment_names,
        learner_names,
        make_environment,
        make_learner,
        register_learner,
    )
    from pickbest.core import (
        Choice,
        Draws,
        Environment,
        Feedback,
        Learner,
        PickbestError,
    )
    from pickbest.core.tickets import Ticket
    from pickbest.environments import Table, read_table
    from pickbest.feasibility import solve_feasibility, solve_game
    from pickbest.hindsight import best_arm, best_subset, greedy_subset, top_arms
    from pickbest.player import Player
    from pickbest.portfolio import Portfolio
    from pickbest.simulation.result import Simulation
    from pickbest.simulation.simulate import simulate

# Where each public name lives; loaded on first use, so that importing pickbest is quick.
_HOMES = {
    "Choice": "core",
    "Draws": "core",
    "Environment": "core",
    "Feedback": "core",
    "Learner": "core",
    "LearnerEntry": "catalog",
    "PickbestError": "core",
    "Player": "player",
    "Portfolio": "portfolio",
    "Simulation": "simulation.result",
    "Table": "environments",
    "Ticket": "core.tickets",
    "best_arm": "hindsight",
    "best_subset": "hindsight",
    "environment_names": "catalog",
    "greedy_subset": "hindsight",
    "learner_names": "catalog",
    "make_environment": "catalog",
    "make_learner": "catalog",
    "read_table": "environments",
    "register_learner": "catalog",
    "simulate": "simulation.simulate",
    "solve_feasibility": "feasibility",
    "solve_game": "feasibility",
    "top_arms": "hindsight",
}

__all__ = [
    "Choice",
    "Draws",
    "Environment",
    "Feedback",
    "Learner",
    "LearnerEntry",
    "PickbestError",
    "Player",
    "Portfolio",
    "Simulation",
    "Table",
    "Ticket",
    "__version__",
    "best_arm",
    "best_subset",
    "environment_names",
    "greedy_subset",
    "learner_names",
    "make_environment",
    "make_learner",
    "read_table",
    "register_learner",
    "simulate",
    "solve_feasibility",
    "solve_game",
    "top_arms",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pickbest' has no attribute {name!r}")
    return getattr(import_module(f"pickbest.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
