"""solve_feasibility: verdicts beside HiGHS, Proposition 8's promise, certificates, learners."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from pickbest.catalog import make_learner
from pickbest.feasibility import (
    Box,
    Feasibility,
    FeasibilityStatus,
    Polytope,
    Simplex,
    solve_feasibility,
    solve_game,
)
from pickbest.feasibility.sets import ConvexSet, System
from studies.linear_programs.generated_problems import (
    AtMost,
    MinimalOracle,
    best_worst_slack,
    exact_value,
    random_problem,
    set_cover,
)


def a_set(kind: int, rng: np.random.Generator, dimension: int) -> ConvexSet:
    if kind == 0:
        return Box.cube(dimension, -1.0, 1.0)
    if kind == 1:
        return Simplex(dimension, 1.0 + rng.random())
    return Polytope(rng.normal(size=(4, dimension)), np.ones(4), -1.0, 1.0)


def check(found: Feasibility, rows: np.ndarray, bounds: np.ndarray, convex: ConvexSet) -> None:
    """The verdict's own evidence, without any solver."""
    assert found.calls <= found.calls_bound
    if found.status is FeasibilityStatus.FEASIBLE:
        assert found.x is not None
        assert (rows @ found.x - bounds).min() >= -found.epsilon
        assert found.worst_slack == pytest.approx((rows @ found.x - bounds).min(), abs=1e-12)
    if found.status is FeasibilityStatus.INFEASIBLE:
        assert found.certificate is not None
        y = found.certificate.multipliers
        assert y.min() >= 0.0
        assert y.sum() == pytest.approx(1.0, abs=1e-9)
        x, _ = convex.maximize(rows.T @ y)
        assert y @ (rows @ x - bounds) == pytest.approx(found.certificate.value, abs=1e-6)
        assert found.certificate.value < 0.0


def test_200_random_problems_agree_with_highs() -> None:
    """Mixed sizes, sets and budgets, feasible and not: every verdict is HiGHS's."""
    rng = np.random.default_rng(2024)
    verdicts = []
    for k in range(200):
        kind, budget = k % 3, 1 + (k // 3) % 3
        n, m = int(rng.integers(4, 120)), int(rng.integers(2, 16))
        convex = a_set(kind, rng, m)
        rows = rng.normal(size=(n, m)) / np.sqrt(m)
        inside = (
            convex.maximize(rng.normal(size=m))[0] + convex.maximize(rng.normal(size=m))[0]
        ) / 2
        margin = float(rng.choice([0.05, 0.0, -0.1, -0.3]))
        bounds = rows @ inside - margin - 0.1 * rng.exponential(size=n) * (rng.random(n) < 0.7)
        found = solve_feasibility(rows, bounds, convex, 0.05, budget)
        check(found, rows, bounds, convex)
        exact = best_worst_slack(System.of(rows, bounds), convex)
        verdicts.append(found.status)
        if found.status is FeasibilityStatus.INFEASIBLE:
            assert exact < 0.0
        elif found.status is FeasibilityStatus.FEASIBLE:
            assert exact >= -found.epsilon - 1e-7
    assert verdicts.count(FeasibilityStatus.UNDECIDED) == 0
    assert verdicts.count(FeasibilityStatus.FEASIBLE) > 50
    assert verdicts.count(FeasibilityStatus.INFEASIBLE) > 50


@pytest.mark.parametrize(("budget", "learner"), [(1, None), (1, "fpml"), (2, "fpml"), (3, "fpml")])
def test_proposition_8_holds_for_an_oracle_that_does_the_least(
    budget: int, learner: str | None
) -> None:
    """Even then the mean answer is within epsilon after T calls."""
    for seed in range(3):
        rows, bounds = random_problem(np.random.default_rng(seed), 8, 3, margin=0.0)
        box = Box.cube(3, -1.0, 1.0)
        oracle = MinimalOracle(System.of(rows, bounds), box, budget)
        found = solve_feasibility(rows, bounds, oracle, 0.3, budget, learner=learner)
        check(found, rows, bounds, box)
        assert found.status is FeasibilityStatus.FEASIBLE
        assert found.samples == (None if budget == 1 else 256)


def test_infeasible_by_more_than_epsilon_is_always_decided() -> None:
    for budget in (1, 2, 3):
        found = solve_feasibility(
            [[1.0], [-1.0], [0.0]], [0.6, -0.4, -5.0], Box.cube(1), 0.05, budget
        )
        assert found.status is FeasibilityStatus.INFEASIBLE
        assert found.certificate is not None
        assert found.certificate.value == pytest.approx(-0.1, abs=0.1)


@pytest.mark.parametrize(("name", "budget"), [("hedge", 1), ("fpml", 2), ("og", 2), ("exp3", 1)])
def test_any_learner_may_be_plugged_in(name: str, budget: int) -> None:
    rows, bounds = random_problem(np.random.default_rng(7), 10, 3, margin=0.02)
    box = Box.cube(3, -1.0, 1.0)
    found = solve_feasibility(rows, bounds, box, 0.2, budget, learner=name)
    check(found, rows, bounds, box)
    assert found.status is FeasibilityStatus.FEASIBLE
    made = make_learner(name, 10, budget, found.calls_bound)
    again = solve_feasibility(rows, bounds, box, 0.2, budget, learner=made)
    assert again.calls == found.calls


def test_a_learner_that_does_not_learn_decides_nothing() -> None:
    rows, bounds = random_problem(np.random.default_rng(7), 10, 3, margin=0.02)
    box = Box.cube(3, -1.0, 1.0)
    found = solve_feasibility(rows, bounds, box, 0.05, 1, learner="uniform", max_calls=50)
    assert found.status is FeasibilityStatus.UNDECIDED


def test_sparse_and_dense_give_the_same() -> None:
    cover = set_cover(np.random.default_rng(0), 300, 40, sets_each=4)
    for budget in (1, 2):
        sparse = solve_feasibility(cover, np.ones(300), Box.cube(40), 0.1, budget, seed=3)
        dense = solve_feasibility(cover.toarray(), np.ones(300), Box.cube(40), 0.1, budget, seed=3)
        assert sparse.calls == dense.calls
        np.testing.assert_allclose(sparse.x, dense.x, atol=1e-9)


def test_set_cover_with_20000_elements() -> None:
    cover = set_cover(np.random.default_rng(0), 20_000, 200, sets_each=10)
    enough, few = AtMost(130.0, 200), AtMost(80.0, 200)
    found = solve_feasibility(cover, np.ones(20_000), enough, 0.1)
    check(found, cover, np.ones(20_000), enough)
    assert found.status is FeasibilityStatus.FEASIBLE
    refused = solve_feasibility(cover, np.ones(20_000), few, 0.1)
    check(refused, cover, np.ones(20_000), few)
    assert refused.status is FeasibilityStatus.INFEASIBLE


def test_calls_allowed_and_progress() -> None:
    rows, bounds = random_problem(np.random.default_rng(0), 50, 10, margin=0.0, slack=0.0)
    seen: list[tuple[int, int]] = []
    found = solve_feasibility(
        rows,
        bounds,
        Box.cube(10, -1, 1),
        1e-6,
        max_calls=7,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert found.status is FeasibilityStatus.UNDECIDED
    assert seen == [(k, 7) for k in range(1, 8)]
    assert found.worst_slack is not None
    assert found.worst_slack < -1e-6


def test_everything_is_feasible_where_the_width_is_below_epsilon() -> None:
    found = solve_feasibility([[0.0, 0.0]], [0.0], Box.cube(2), 0.1)
    assert found.status is FeasibilityStatus.FEASIBLE
    assert found.calls == 1
    sparse = solve_feasibility(csr_array([[1e-3, 0.0]]), [0.0], Box.cube(2), 0.1)
    assert sparse.calls == 1


def test_same_seed_same_bits_where_laws_are_sampled() -> None:
    rows, bounds = random_problem(np.random.default_rng(3), 60, 5, margin=0.0, slack=0.02)
    box = Box.cube(5, -1.0, 1.0)

    def run(seed: int) -> list[float]:
        found = solve_feasibility(
            rows, bounds, box, 1e-4, 2, seed=seed, max_calls=2, learner="fpml"
        )
        assert found.samples == 256
        assert found.x is not None
        return list(found.x)

    assert run(1) == run(1) != run(2)


# Zero-sum games through the same loop, beside their exact value -----------------------------------


@pytest.mark.parametrize(("budget", "learner"), [(1, None), (1, "fpml"), (2, None), (3, None)])
@pytest.mark.parametrize("shape", [(3, 3), (12, 7), (5, 40)])
def test_value_lies_between_the_bounds(
    shape: tuple[int, int], budget: int, learner: str | None
) -> None:
    payoffs = np.random.default_rng(shape[0]).uniform(-2.0, 3.0, shape)
    game = solve_game(payoffs, 0.1, budget, learner=learner)
    value = exact_value(payoffs)
    assert game.solved
    assert game.upper - game.lower <= 0.1
    assert game.lower - 1e-9 <= value <= game.upper + 1e-9
    assert game.value == pytest.approx(value, abs=0.05 + 1e-9)
    for strategy in (game.rows, game.columns):
        assert strategy.min() >= -1e-12
        assert strategy.sum() == pytest.approx(1.0, abs=1e-9)
    assert (game.rows @ payoffs).min() == pytest.approx(game.lower)
    assert (payoffs @ game.columns).max() == pytest.approx(game.upper)
    assert game.calls <= game.calls_bound


def test_calls_allowed_of_a_game() -> None:
    payoffs = np.random.default_rng(1).uniform(-1.0, 1.0, (6, 6))
    game = solve_game(payoffs, 1e-6, max_calls=5)
    assert (game.solved, game.calls) == (False, 5)


def test_a_constant_game() -> None:
    game = solve_game([[0.5, 0.5]], 0.1)
    assert game.solved
    assert (game.lower, game.upper) == (0.5, 0.5)
