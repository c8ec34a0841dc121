"""Each round, pick B of N arms, keep the best result, and learn which B to pick next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pickbest._exports import lazy_exports
from pickbest._version import __version__ as __version__

if TYPE_CHECKING:
    from pickbest.catalog import (
        EnvironmentEntry as EnvironmentEntry,
        LearnerEntry as LearnerEntry,
        Spec as Spec,
        environment_names as environment_names,
        learner_names as learner_names,
        make_environment as make_environment,
        make_learner as make_learner,
        register_environment as register_environment,
        register_learner as register_learner,
    )
    from pickbest.core import (
        Choice as Choice,
        Draws as Draws,
        Environment as Environment,
        Feedback as Feedback,
        Learner as Learner,
        MissingExtraError as MissingExtraError,
        PickbestError as PickbestError,
        Ticket as Ticket,
    )
    from pickbest.environments import (
        Scenario as Scenario,
        Table as Table,
        read_scenario as read_scenario,
        read_table as read_table,
    )
    from pickbest.feasibility import (
        Certificate as Certificate,
        Feasibility as Feasibility,
        Game as Game,
        solve_feasibility as solve_feasibility,
        solve_game as solve_game,
    )
    from pickbest.hindsight import (
        Subset as Subset,
        best_arm as best_arm,
        best_subset as best_subset,
        greedy_subset as greedy_subset,
        subset_cost as subset_cost,
        top_arms as top_arms,
    )
    from pickbest.player import Player as Player
    from pickbest.portfolio import AskTell as AskTell, Portfolio as Portfolio
    from pickbest.simulation.result import (
        Band as Band,
        Difference as Difference,
        Simulation as Simulation,
    )
    from pickbest.simulation.simulate import simulate as simulate

__getattr__, __dir__, __all__ = lazy_exports(__name__)
