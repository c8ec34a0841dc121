"""Results as plain data: what `--json` prints, and what tables are made from."""

from collections.abc import Sequence
from typing import Any

from pickbest import hindsight, theory
from pickbest.catalog import (
    environment_entry,
    environment_names,
    feedback_of,
    learner_entry,
    learner_names,
    make_environment,
)
from pickbest.core import Environment, FloatArray, check_budget
from pickbest.environments import Table
from pickbest.hindsight import Subset
from pickbest.simulation.result import AGAINST, Simulation
from pickbest.simulation.statistics import standard_error


def simulation_summary(
    simulation: Simulation, environment: str, target_budget: int | None = None
) -> dict[str, Any]:
    """Every learner's mean reward, cost and regret.

    target_budget: the size of the subsets to compare with, where it is not the learner's own.
    """
    kept = next(iter(simulation.runs.values())).table is not None
    against = AGAINST if kept else ("best_arm",)
    return {
        "environment": environment,
        "learners": [
            _learner_row(simulation, name, against, target_budget) for name in simulation.runs
        ],
        "target_budget": target_budget,
        "settings": simulation.settings,
    }


def _learner_row(
    simulation: Simulation, name: str, against: Sequence[str], target_budget: int | None
) -> dict[str, Any]:
    learner = simulation.learners[name]
    return {
        "name": name,
        "budget": learner.budget,
        "feedback": learner.feedback.value,
        "mean_reward": simulation.mean_reward(name),
        "std_reward": simulation.std_reward(name),
        "standard_error": standard_error(simulation.costs(name).mean(axis=1)),
        "mean_cost": simulation.mean_cost(name),
        "regret": {
            rival: float(simulation.regret(name, rival, target_budget).mean()) for rival in against
        },
    }


def hindsight_summary(
    environment: Environment,
    costs: FloatArray,
    budget: int,
    name: str,
    time_limit: float | None = None,
) -> dict[str, Any]:
    """Best subset, greedy subset, top arms and best arm of a cost table."""
    rounds, n_arms = costs.shape
    check_budget(budget, n_arms)
    names = environment.arm_names if isinstance(environment, Table) else ()

    def row(subset: Subset) -> dict[str, Any]:
        return {
            "arms": [names[a] if names else f"arm {a}" for a in subset.arms],
            "indices": list(subset.arms),
            "mean_reward": 1.0 - subset.cost / rounds,
            "mean_cost": subset.cost / rounds,
        }

    best = hindsight.best_subset(costs, budget, time_limit)
    bound = best.cost if best.bound is None else best.bound
    gap = (best.cost - bound) / rounds
    return {
        "environment": name,
        "rounds": rounds,
        "n_arms": n_arms,
        "budget": budget,
        "best_subset": {**row(best), "proven": best.proven, "gap": gap},
        "greedy": row(hindsight.greedy_subset(costs, budget)),
        "top": row(hindsight.top_arms(costs, budget)),
        "best_arm": row(hindsight.best_arm(costs)),
    }


def learners_summary() -> dict[str, Any]:
    """Every learner that the catalog knows."""
    rows = [
        {
            "name": entry.name,
            "summary": entry.summary,
            "feedback": feedback_of(entry.name).value,
            "tunings": list(entry.tunings),
            "options": entry.options,
            "single_arm": entry.single_arm,
        }
        for entry in map(learner_entry, learner_names())
    ]
    return {"learners": rows}


def bounds_summary(
    n_arms: int, budget: int, rounds: int, slot_budget: int = 1, target_budget: int = 1
) -> dict[str, Any]:
    """Every bound of the paper for one game, with the statement that it comes from."""
    check_budget(budget, n_arms)
    game = {"n_arms": n_arms, "budget": budget, "rounds": rounds}
    cap = float(n_arms)

    hybrid = {"slot_budget": slot_budget, "target_budget": target_budget, "rounds": rounds}
    halvings = theory.halving_rounds(n_arms=n_arms, budget=budget)
    top_set = theory.top_set_regret_bound_as_written(**game, epsilon=theory.top_set_epsilon(**game))
    rows: list[tuple[str, str, float]] = [
        ("Theorem 2", "FPML's regret is at most", theory.fpml_regret_bound(**game)),
        ("Theorem 2", "its epsilon", theory.fpml_epsilon(**game)),
        ("Theorem 2, anytime (ours)", "FPML's regret, rounds unknown, is at most",
         theory.anytime_regret_bound(**game)),
        ("Markov", "FPML's regret exceeds this with probability at most 0.1",
         theory.markov_guarantee(**game, probability=0.1)),
        ("Proposition 1", "a deterministic learner's regret is at least",
         theory.deterministic_lower_bound(**game)),
        ("Section 2", "a uniform subset's regret is at least",
         theory.uniform_lower_bound_as_written(**game)),
        ("Proposition 5 as printed", f"FPML-partial's regret, estimates up to {cap:g}",
         theory.partial_regret_bound_as_written(**game, estimate_cap=cap)),
        ("Proposition 5, proved (ours)",
         f"FPML-partial's regret, estimates up to {cap:g}, is at most",
         theory.partial_regret_bound(**game, estimate_cap=cap)),
        ("Proposition 7 as printed", "FPML's regret against the top B arms", top_set),
        ("Proposition 10", f"any learner's regret after {halvings} rounds is at least",
         theory.halving_lower_bound(n_arms=n_arms, budget=budget)),
        ("Theorem 6",
         f"budget for OG_hybrid to follow OPT({target_budget}) with slot_budget {slot_budget}",
         float(theory.hybrid_budget(**hybrid))),
        ("Theorem 6", f"its regret against OPT({target_budget}) is at most",
         theory.hybrid_regret_bound(n_arms=n_arms, **hybrid)),
        ("Streeter and Golovin", f"OG's regret (Hedge) against (1 - 1/e) OPT({budget}) is at most",
         theory.og_hedge_regret_bound(**game)),
        ("Section 2.1", "budget from which regret is constant in the number of rounds",
         float(theory.constant_regret_budget(rounds=rounds))),
        *(_two_picks(n_arms, budget, rounds) if budget >= 2 else ()),
    ]  # fmt: skip
    bounds = [dict(zip(("statement", "says", "value"), row, strict=True)) for row in rows]
    return {**game, "slot_budget": slot_budget, "target_budget": target_budget, "bounds": bounds}


def _two_picks(n_arms: int, budget: int, rounds: int) -> list[tuple[str, str, float]]:
    """Bounds that hold for every number of rounds (docs/two-picks.md), and another's."""
    game = {"n_arms": n_arms, "budget": budget}
    ours = "Two picks (ours)"
    partial = "regret of a learner that sees its own arms, any number of rounds, is at most"
    return [
        (ours, "hedge's regret, any number of rounds, is at most",
         theory.hedge_bound(**game)),
        (ours, "its rate", theory.constant_rate(budget=budget)),
        (ours, "hedge's regret, all rounds at once, exceeds this with probability at most 0.1",
         theory.tail_bound(n_arms=n_arms, budget=budget, doubt=0.1)),
        (ours, "any learner's worst regret is at least",
         max(theory.lower_bound_nested(**game), theory.lower_bound_spared(**game))),
        (ours, f"{partial} (hedge-partial)",
         theory.hedge_partial_bound(n_arms=n_arms, budget=budget)),
        ("Guan 2026", partial, theory.guan_bound(**game)),
        (ours, "hedge-partial's regret in races of which one in ten is watched is at most",
         theory.watched_bound(n_arms=n_arms, budget=budget, watched=0.1)),
        (ours, "worst regret of any learner that sees only its own arms is at least",
         theory.hidden_arm_lower_bound(**game, rounds=rounds)),
    ]  # fmt: skip


def environments_summary() -> dict[str, Any]:
    """Every environment that the catalog knows."""
    rows = [
        {
            "name": entry.name,
            "summary": entry.summary,
            "rounds": entry.rounds,
            "n_arms": make_environment(entry.name).n_arms,
        }
        for entry in map(environment_entry, environment_names())
    ]
    return {"environments": rows}
