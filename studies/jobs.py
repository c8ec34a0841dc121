"""Theorem 6 at work: measured regret of OG_hybrid against OPT(B'), under its bound.

B' arms, hidden among many, do the whole job together; every other arm does a little of it. So
OPT(B') is hard to beat even with the budget B' ceil(ln T) slot_budget that the theorem asks for.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pickbest import theory
from pickbest.simulation.statistics import standard_error
from pickbest.submodular.jobs import (
    TableJobs,
    best_of,
    best_schedule,
    coverage,
    facility_location,
    probabilistic_coverage,
)
from pickbest.submodular.learner import OnlineGreedy, online_greedy, online_hybrid
from pickbest.submodular.play import play_jobs

N_ARMS, N_ITEMS = 120, 24
# FPML's epsilon at which the noise hides everything: arms at random.
NOTHING_LEARNED = 1e-9
FAMILIES = ("coverage", "facility location", "probabilistic coverage", "best of")


def theorem6_experiment(
    seed: int = 0,
    replicates: int = 10,
    target_budget: int = 2,
    horizons: Sequence[int] = (100, 300, 1_000),
    *,
    slot_budget: int = 2,
    others: float = 1.0,
    tamper: Callable[[OnlineGreedy], OnlineGreedy] | None = None,
    only_hybrid: bool = False,
) -> dict[str, Any]:
    """Measured regret and bounds as plain data: coverage at every horizon, the other families
    at the first but one.

    Each of `rows` is one learner on one task: its `regret` (the mean over replicates, with a
    `standard_error`) against `against`, and the theorem's `bound`. OG_hybrid has slot budgets 1,
    `slot_budget` and ceil(ln T). OG with B' slots stands in two rows: its (1 - 1/e) benchmark, and
    what this leaves open against OPT(B').

    others: how much the arms that are not hidden do, of what they do by default.
    tamper: what becomes of OG_hybrid, to see the experiment fail. only_hybrid: leave OG out.
    """
    usual = sorted(horizons)[min(1, len(horizons) - 1)]
    cases = [(FAMILIES[0], rounds) for rounds in horizons]
    cases += [(family, usual) for family in FAMILIES[1:]]
    rows = []
    for family, rounds in cases:
        jobs = hidden_jobs(family, rounds, target_budget, seed, others)
        for row in _measured(jobs, target_budget, slot_budget, seed, replicates, tamper):
            if only_hybrid and row["learner"] != "OG_hybrid":
                break
            rows.append({"family": family, "rounds": rounds, **row})
    return {"rows": rows, "all_under_bound": all(row["under_bound"] for row in rows)}


def unlearned(learner: OnlineGreedy) -> OnlineGreedy:
    """OG_hybrid that picks at random in every slot."""
    return replace(learner, inner=replace(learner.inner, epsilon=NOTHING_LEARNED))  # type: ignore[type-var]


def hidden_jobs(
    family: str, rounds: int, target_budget: int, seed: int = 0, others: float = 1.0
) -> TableJobs:
    """Jobs in which `target_budget` hidden arms are worth nearly 1 together.

    Which items matter differs from round to round; each is the business of one hidden arm.
    """
    rng = np.random.default_rng([seed, rounds, FAMILIES.index(family)])
    hidden = rng.choice(N_ARMS, target_budget, replace=False)
    weights = rng.dirichlet(np.full(N_ITEMS, 0.3), rounds)
    owner = hidden[rng.permutation(np.arange(N_ITEMS) % target_budget)]
    own = (owner, np.arange(N_ITEMS))
    entries = rng.random((N_ARMS, N_ITEMS))
    if family == "coverage":
        entries = (entries < 0.05 * others).astype(np.float64)
        entries[hidden] = 0.0
        entries[own] = 1.0
        return coverage(entries, weights)
    if family == "facility location":
        entries *= 0.4 * others
        entries[own] = 1.0
        return facility_location(entries, weights)
    if family == "probabilistic coverage":
        entries *= 0.1 * others
        entries[own] = 0.95
        return probabilistic_coverage(entries, weights)
    rewards = others * rng.beta(1.0, 8.0, (rounds, N_ARMS))
    rewards[np.arange(rounds), hidden[rng.integers(target_budget, size=rounds)]] = 1.0
    return best_of(rewards)


def _measured(
    jobs: TableJobs,
    target_budget: int,
    usual: int,
    seed: int,
    replicates: int,
    tamper: Callable[[OnlineGreedy], OnlineGreedy] | None,
) -> Iterator[dict[str, Any]]:
    """Row by row, OG_hybrid first."""
    n_arms, rounds = jobs.n_arms, jobs.rounds
    best = best_schedule(jobs, target_budget).value

    def row(name: str, learner: OnlineGreedy, bound: float, share: float = 1.0) -> dict[str, Any]:
        regret = play_jobs(learner, jobs, replicates, seed).regret(share * best)
        error = standard_error(regret) if replicates > 1 else None
        return {
            "learner": name,
            "slot_budget": learner.inner.budget,
            "budget": learner.budget,
            "against": "OPT(B')" if share == 1.0 else "(1 - 1/e) OPT(B')",
            "regret": float(regret.mean()),
            "standard_error": error,
            "bound": bound,
            "under_bound": bool(regret.mean() <= bound),
        }

    goal = {"target_budget": target_budget, "rounds": rounds}
    for slot_budget in sorted({1, usual, theory.constant_regret_budget(rounds)}):
        budget = theory.hybrid_budget(slot_budget=slot_budget, **goal)
        bound = theory.hybrid_regret_bound(n_arms=n_arms, slot_budget=slot_budget, **goal)
        learner = online_hybrid(n_arms, budget, rounds, slot_budget)
        learner = tamper(learner) if tamper else learner
        yield row("OG_hybrid", learner, bound)
    slots = theory.hybrid_slots(**goal)
    bound = theory.og_regret_bound(n_arms=n_arms, budget=slots, **goal)
    learner = online_greedy(n_arms, slots, rounds, tuning="theorem")
    # Lemma 12, then Streeter and Golovin.
    yield row("OG", learner, bound)
    bound = theory.og_hedge_regret_bound(n_arms=n_arms, budget=target_budget, rounds=rounds)
    learner = online_greedy(n_arms, target_budget, rounds, tuning="theorem")
    share = 1.0 - math.exp(-1.0)
    yield row("OG", learner, bound, share)
    left_open = bound + (1.0 - share) * best
    yield row("OG", learner, left_open)
