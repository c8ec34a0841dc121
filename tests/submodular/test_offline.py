"""Schedules in hindsight: greedy, exact, bounds, and Lemma 11."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

from pickbest import theory
from pickbest.submodular.jobs import (
    Action,
    TableJobs,
    best_of,
    best_schedule,
    coverage,
    greedy_schedule,
    offline as offline_module,
    probabilistic_coverage,
)
from pickbest.submodular.jobs.offline import Total, _upper_bound


def brute_force(jobs: TableJobs, budget: int) -> float:
    """The best total of any multiset of actions that fits."""
    best = 0.0
    for size in range(1, budget + 1):
        for arms in combinations_with_replacement(range(jobs.n_arms), size):
            if jobs.durations[list(arms)].sum() <= budget:
                best = max(best, float(jobs.values(list(arms)).sum()))
    return best


@pytest.mark.parametrize("budget", [1, 2, 5])
def test_best_schedule_is_the_best(jobs: TableJobs, budget: int) -> None:
    found = best_schedule(jobs, budget)
    assert found.proven
    assert found.value == pytest.approx(brute_force(jobs, budget), abs=1e-9)
    assert jobs.values(list(found.arms)).sum() == pytest.approx(found.value, abs=1e-9)
    assert jobs.durations[list(found.arms)].sum() <= budget
    assert _upper_bound(Total(jobs), budget) >= found.value - 1e-9


def with_durations(combine: str) -> TableJobs:
    rng = np.random.default_rng(5)
    actions = [Action(v, span) for v in range(5) for span in (1, 2, 4)]
    weights = rng.dirichlet(np.ones(8), 30)
    if combine == "coverage":
        return coverage(rng.random((15, 8)) < 0.3, weights, actions)
    if combine == "facility":
        return coverage(rng.random((30, 15, 8)), weights, actions)
    return probabilistic_coverage(rng.random((15, 8)), weights, actions)


@pytest.mark.parametrize("combine", ["coverage", "facility", "chances"])
def test_greedy_schedule_goes_by_gain_per_unit_of_time(combine: str) -> None:
    jobs = with_durations(combine)
    greedy = greedy_schedule(jobs, 7)
    assert sum(greedy.durations) <= 7
    every = np.array([jobs.values([arm]).sum() for arm in range(jobs.n_arms)]) / jobs.durations
    assert greedy.arms[0] == int(np.argmax(every))
    assert jobs.values(list(greedy.arms)).sum() == pytest.approx(greedy.value, abs=1e-9)
    assert greedy.durations == tuple(jobs.durations[list(greedy.arms)])


@pytest.mark.parametrize("combine", ["coverage", "facility", "chances"])
@pytest.mark.parametrize("target", [2, 4, 7])
def test_lemma_11_holds_with_the_errors_of_the_steps(combine: str, target: int) -> None:
    jobs = with_durations(combine)
    best = best_schedule(jobs, target).value
    for budget in (3, 6, 9):
        greedy = greedy_schedule(jobs, budget)
        least = theory.greedy_guarantee(
            best_value=best, target_budget=target, errors=greedy.errors, durations=greedy.durations
        )
        assert greedy.value >= least - 1e-9


def test_errors_are_what_the_budget_cost() -> None:
    jobs = best_of([[0.9, 0.3]], [Action("long", 2), Action("short", 1)])
    greedy = greedy_schedule(jobs, 1)
    assert greedy.arms == (1,)
    assert greedy.errors == pytest.approx((0.15,))


def test_large_coverage_is_solved_exactly() -> None:
    rng = np.random.default_rng(6)
    jobs = coverage(rng.random((60, 100)) < 0.08, rng.dirichlet(np.ones(100), 500))
    found = best_schedule(jobs, 8)
    assert found.proven
    assert found.value >= greedy_schedule(jobs, 8).value


def test_large_probabilistic_coverage_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    jobs = probabilistic_coverage(0.3 * rng.random((50, 20)), rng.dirichlet(np.ones(20), 40))
    monkeypatch.setattr(offline_module, "MOST_WORK", 1e5)
    found = best_schedule(jobs, 6)
    assert not found.proven
    assert found.value >= greedy_schedule(jobs, 6).value
    assert found.value <= found.bound <= found.value / (1 - np.exp(-1)) + 1e-9
