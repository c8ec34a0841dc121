"""Hindsight against brute force, plain loops and the paper's rewards."""

import itertools
import time
from pathlib import Path

import numpy as np
import pytest

from pickbest.core import PickbestError
from pickbest.hindsight import (
    Subset,
    best_arm,
    best_subset,
    greedy_subset,
    subset_cost,
    subset_search,
    top_arms,
)

KINDS = ["uniform", "binary", "ties", "equal arms", "equal rounds", "mostly ones", "constant"]


def random_table(kind: str, rng: np.random.Generator) -> np.ndarray:
    rounds, n_arms = rng.integers(1, 25), rng.integers(1, 9)
    costs = rng.random((rounds, n_arms))
    match kind:
        case "binary":
            return (costs > 0.6).astype(float)
        case "ties":
            return np.round(3 * costs) / 3
        case "equal arms":
            return costs[:, rng.integers(n_arms, size=n_arms)]
        case "equal rounds":
            return costs[rng.integers(rounds, size=rounds)]
        case "mostly ones":
            return np.where(rng.random(costs.shape) < 0.8, 1.0, costs)
        case "constant":
            return np.repeat(costs[:, :1], n_arms, axis=1)
    return costs


def brute_force(costs: np.ndarray, budget: int) -> float:
    subsets_of_size = itertools.combinations(range(costs.shape[1]), budget)
    return min(costs[:, list(arms)].min(axis=1).sum() for arms in subsets_of_size)


@pytest.fixture
def branching(monkeypatch: pytest.MonkeyPatch) -> None:
    """Never enumerate, bound in single steps, go depth first soon: the tree does all."""
    monkeypatch.setattr(subset_search, "ENTRIES_IN_NUMPY", 0.0)
    monkeypatch.setattr(subset_search, "ENTRIES_AT_ONCE", 1.0)
    monkeypatch.setattr(subset_search, "OPEN_NODE_NUMBERS", 60.0)


def assert_optimal(costs: np.ndarray, budget: int) -> None:
    found = best_subset(costs, budget)
    assert found.proven
    assert found.bound == found.cost
    assert len(set(found.arms)) == budget
    assert found.arms == tuple(sorted(found.arms))
    assert found.cost == subset_cost(costs, found.arms)
    assert found.cost == pytest.approx(brute_force(costs, budget), abs=1e-9)


@pytest.mark.parametrize("in_numpy", [0.0, subset_search.ENTRIES_IN_NUMPY])
@pytest.mark.parametrize("kind", KINDS)
def test_best_subset_equals_brute_force(
    kind: str, in_numpy: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subset_search, "ENTRIES_IN_NUMPY", in_numpy)
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(60):
        costs = random_table(kind, rng)
        assert_optimal(costs, int(rng.integers(1, costs.shape[1] + 1)))


@pytest.mark.usefixtures("branching")
@pytest.mark.parametrize("kind", KINDS)
def test_branch_and_bound_equals_brute_force(kind: str) -> None:
    rng = np.random.default_rng(100 + KINDS.index(kind))
    for _ in range(60):
        costs = random_table(kind, rng)
        assert_optimal(costs, int(rng.integers(1, costs.shape[1] + 1)))


@pytest.mark.usefixtures("branching")
@pytest.mark.parametrize("checks_before_the_deadline", [0, 3, 12, 40])
def test_bound_is_valid_when_time_runs_out(
    checks_before_the_deadline: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(7)
    unproven = 0
    for _ in range(40):
        costs = rng.random((20, 11))
        ticks = itertools.count()
        monkeypatch.setattr(
            subset_search._Search,
            "_late",
            lambda _search, ticks=ticks: next(ticks) >= checks_before_the_deadline,
        )
        found = best_subset(costs, 4, time_limit=60.0)
        least = brute_force(costs, 4)
        assert found.bound is not None
        assert 0.0 <= found.bound <= least + 1e-12
        assert found.cost >= least - 1e-12
        assert len(set(found.arms)) == 4
        unproven += not found.proven
        if not found.proven:
            assert found.bound is not None
            assert found.bound < found.cost
    assert unproven > 0


def test_time_limit_ends_a_hard_search() -> None:
    costs = np.random.default_rng(0).random((368, 200))
    started = time.monotonic()
    found = best_subset(costs, 10, time_limit=0.3)
    # Far above the 0.3 s that it takes, far below the days that a proof would.
    assert time.monotonic() - started < 20.0
    assert not found.proven
    assert found.bound is not None
    assert 0.0 <= found.bound < found.cost
    assert found.cost <= greedy_subset(costs, 10).cost


def test_large_structured_table_is_proven() -> None:
    rng = np.random.default_rng(3)
    fits = rng.integers(10, size=300)[None, :] == rng.integers(10, size=(200, 1))
    costs = np.clip(np.where(fits, 0.15, 0.8) + 0.1 * rng.standard_normal(fits.shape), 0, 1)
    found = best_subset(costs, 10)
    assert found.proven
    assert found.cost <= greedy_subset(costs, 10).cost + 1e-12


def test_repeated_rounds_and_arms_change_nothing() -> None:
    costs = np.random.default_rng(4).random((12, 7))
    once = best_subset(costs, 3)
    repeated = best_subset(np.tile(costs, (50, 4)), 3)
    assert repeated.cost == pytest.approx(50 * once.cost)
    assert {arm % 7 for arm in repeated.arms} == set(once.arms)


def test_budget_beyond_the_useful_arms_still_gives_that_many() -> None:
    costs = np.ones((3, 6))
    costs[:, 4] = 0.0
    assert best_subset(costs, 3) == Subset((0, 1, 4), 0.0, 0.0, proven=True)


def test_any_memory_layout_and_number_type() -> None:
    whole = np.random.default_rng(5).integers(0, 2, (30, 8))
    before = whole.copy()
    expected = best_subset(whole.astype(float), 3)
    for same in (whole, np.asfortranarray(whole), whole.tolist()):
        assert best_subset(same, 3) == expected
    np.testing.assert_array_equal(whole, before)


@pytest.mark.parametrize("kind", KINDS)
def test_greedy_top_and_best_arm_equal_plain_loops(kind: str) -> None:
    rng = np.random.default_rng(200 + KINDS.index(kind))
    for _ in range(20):
        # Multiples of 1/64 add up exactly, so that ties are ties.
        costs = np.round(64 * random_table(kind, rng)) / 64
        n_arms = costs.shape[1]
        budget = int(rng.integers(1, n_arms + 1))
        totals = costs.sum(axis=0)
        ranked = sorted(range(n_arms), key=lambda arm: (totals[arm], arm))
        assert top_arms(costs, budget).arms == tuple(sorted(ranked[:budget]))
        assert best_arm(costs) == Subset((ranked[0],), totals.min(), totals.min(), proven=True)
        taken: list[int] = []
        for _ in range(budget):
            left = [arm for arm in range(n_arms) if arm not in taken]
            taken.append(min(left, key=lambda arm: costs[:, [*taken, arm]].min(axis=1).sum()))
        greedy = greedy_subset(costs, budget)
        assert greedy == Subset(tuple(sorted(taken)), subset_cost(costs, taken))
        assert greedy.bound is None


def test_paper_rewards(paper_rewards: Path) -> None:
    rewards = np.loadtxt(paper_rewards, delimiter=",", skiprows=1, usecols=range(1, 10))
    means = [1 - best_subset(1 - rewards, b).mean_cost(len(rewards)) for b in range(1, 7)]
    assert [round(mean, 3) for mean in means] == [0.574, 0.710, 0.779, 0.836, 0.874, 0.901]


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([0.1, 0.2], r"table \(rounds, n_arms\).*got shape \(2,\)"),
        (np.empty((0, 3)), "at least 1 of each"),
        (np.empty((3, 0)), "at least 1 of each"),
        ([[0.1, 0.2], [0.3]], "rows of equal length"),
        ([[0.1, 1.5]], "between 0 and 1, got 1.5"),
        ([[0.1, np.nan]], "finite"),
        ([["a", "b"]], "must be numbers"),
    ],
)
def test_bad_tables(costs: object, message: str) -> None:
    for function in (
        best_arm,
        lambda table: best_subset(table, 1),
        lambda table: greedy_subset(table, 1),
        lambda table: top_arms(table, 1),
        lambda table: subset_cost(table, [0]),
    ):
        with pytest.raises(PickbestError, match=message):
            function(costs)


@pytest.mark.parametrize("budget", [0, 4, 1.5, True])
def test_bad_budgets(budget: int) -> None:
    for function in (best_subset, greedy_subset, top_arms):
        with pytest.raises(PickbestError, match="budget must be between 1 and n_arms=3"):
            function(np.zeros((2, 3)), budget)


@pytest.mark.parametrize("time_limit", [0.0, -1.0, np.nan, "soon"])
def test_bad_time_limits(time_limit: float) -> None:
    with pytest.raises(PickbestError, match="time_limit must be a number above 0"):
        best_subset(np.zeros((2, 3)), 2, time_limit)


@pytest.mark.parametrize(
    ("arms", "message"),
    [
        ([], "distinct whole numbers between 0 and 2, at least one"),
        ([3], "between 0 and 2"),
        ([-1], "between 0 and 2"),
        ([0.5], "whole number"),
        ([1, 1], "distinct"),
    ],
)
def test_bad_arms(arms: list[int], message: str) -> None:
    with pytest.raises(PickbestError, match=message):
        subset_cost(np.zeros((2, 3)), arms)
