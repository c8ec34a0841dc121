"""What the theorems promise of OG and OG_hybrid, on jobs of every family."""

import math

import numpy as np
import pytest

from pickbest import theory
from pickbest.submodular import online_greedy, online_hybrid, play_jobs
from pickbest.submodular.jobs import (
    TableJobs,
    best_schedule,
    coverage,
    greedy_schedule,
    time_to_solve,
)
from studies.paper.parts.hybrid_jobs import FAMILIES, hidden_jobs

SHARE = 1.0 - math.exp(-1.0)


def coverage_task(n_arms: int, n_items: int, density: float, noise: float) -> TableJobs:
    """5,000 rounds of coverage; noise is the share of the weights that is new in every round."""
    rng = np.random.default_rng([n_arms, n_items])
    covers = rng.random((n_arms, n_items)) < density
    new = rng.dirichlet(np.full(n_items, 0.3), 5_000)
    return coverage(covers, noise * new + (1.0 - noise) * rng.dirichlet(np.full(n_items, 0.5)))


@pytest.mark.parametrize(
    ("n_arms", "n_items", "budget", "density", "noise"),
    [(40, 60, 5, 0.1, 0.5), (20, 40, 3, 0.2, 0.9), (60, 100, 8, 0.08, 0.2), (15, 30, 4, 0.15, 1.0)],
)
def test_og_on_coverage_meets_its_bound_and_nears_offline_greedy(
    n_arms: int, n_items: int, budget: int, density: float, noise: float
) -> None:
    jobs = coverage_task(n_arms, n_items, density, noise)
    best, greedy = best_schedule(jobs, budget), greedy_schedule(jobs, budget)
    assert best.proven
    size = {"n_arms": n_arms, "budget": budget, "rounds": 5_000}
    tuned = play_jobs(online_greedy(n_arms, budget, 5_000, tuning="theorem"), jobs, 4)
    assert tuned.regret(SHARE * best.value).mean() <= theory.og_hedge_regret_bound(**size)
    adaptive = play_jobs(online_greedy(n_arms, budget, 5_000), jobs, 4)
    assert adaptive.regret(SHARE * best.value).mean() <= theory.og_adahedge_regret_bound(**size)
    assert adaptive.values.sum(axis=1).mean() >= 0.95 * greedy.value


def test_og_with_durations_meets_its_bound() -> None:
    rng = np.random.default_rng(2)
    quick = rng.random((3_000, 6)) < 0.3
    times = np.where(quick, rng.uniform(0, 2, quick.shape), rng.uniform(2, 12, quick.shape))
    jobs = time_to_solve(times, durations=[1, 2, 4], horizon=12.0)
    budget = 5
    best = best_schedule(jobs, budget)
    assert best.proven
    learner = online_greedy(jobs.actions, budget, jobs.rounds)
    run = play_jobs(learner, jobs, 20)
    assert abs(run.lengths.mean() - budget) < 0.05
    size = {"n_arms": jobs.n_arms, "budget": budget, "rounds": jobs.rounds}
    bound = theory.og_adahedge_regret_bound(**size)
    assert run.regret(SHARE * best.value).mean() <= bound


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("target", [1, 3])
def test_og_hybrid_stays_under_theorem_6(family: str, target: int) -> None:
    rounds = 200
    jobs = hidden_jobs(family, rounds, target, seed=3)
    best = best_schedule(jobs, target)
    assert best.proven
    settings = {"target_budget": target, "rounds": rounds}
    for slot_budget in (1, 2, theory.constant_regret_budget(rounds)):
        budget = theory.hybrid_budget(slot_budget=slot_budget, **settings)
        for distinct in (False, True):
            if distinct and budget > jobs.n_arms:
                continue
            learner = online_hybrid(jobs.n_arms, budget, rounds, slot_budget, distinct=distinct)
            regret = play_jobs(learner, jobs, 5).regret(best.value).mean()
            bound = theory.hybrid_regret_bound(
                n_arms=jobs.n_arms, slot_budget=slot_budget, **settings
            )
            assert regret <= bound
