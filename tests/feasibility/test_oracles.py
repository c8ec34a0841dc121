"""Oracles: the best expected smallest slack over P, its multipliers, and the width."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from pickbest.core import PickbestError
from pickbest.feasibility import Box, ConvexSet, Polytope, ProductLaw, Simplex, TupleLaw
from pickbest.feasibility.models import needing_the_bound
from pickbest.feasibility.oracles import oracle_for
from pickbest.feasibility.sets import System, width_over
from studies.linear_programs.generated_problems import AtMost

DIMENSION = 3


def sets() -> dict[str, ConvexSet]:
    octahedron = np.array([[a, b, c] for a in (1, -1) for b in (1, -1) for c in (1, -1)])
    return {
        "box": Box(np.array([-1.0, 0.0, 0.5]), np.array([1.0, 2.0, 0.5])),
        "simplex": Simplex(DIMENSION, 2.0),
        "polytope": Polytope(octahedron, np.ones(8), -1.0, 1.0),
        "bounded polytope": Polytope(csr_array([[1.0, 1.0, 1.0]]), np.array([1.0]), -1.0, 1.0),
    }


def random_law(rng: np.random.Generator, n: int, budget: int, tuples: int = 20) -> TupleLaw:
    chosen = np.array([rng.choice(n, budget, replace=False) for _ in range(tuples)])
    chances = rng.exponential(size=tuples)
    return TupleLaw(chosen, chances / chances.sum())


def points_of(convex: ConvexSet, rng: np.random.Generator) -> np.ndarray:
    """Many points of the set: mixtures of its extreme points."""
    extreme = np.array([convex.maximize(rng.normal(size=DIMENSION))[0] for _ in range(60)])
    return rng.dirichlet(np.full(60, 0.1), 2_000) @ extreme


@pytest.mark.parametrize("budget", [1, 2, 3])
@pytest.mark.parametrize("name", list(sets()))
def test_no_point_of_the_set_is_better(name: str, budget: int) -> None:
    """By more than the tolerance, and the multipliers prove it."""
    rng = np.random.default_rng(budget)
    convex, tolerance = sets()[name], 1e-3
    rows, bounds = rng.normal(size=(9, DIMENSION)), rng.normal(size=9)
    points = points_of(convex, rng)
    for law in (random_law(rng, 9, budget), ProductLaw(rng.dirichlet(np.full(9, 0.5)), budget)):
        for system in (System.of(rows, bounds), System.of(rows, bounds - 10.0)):
            oracle = oracle_for(convex, system, budget, tolerance)
            answer = oracle.answer(law)
            reached = law.expected_minimum(system.slacks(answer.x))
            others = [law.expected_minimum(system.slacks(x)) for x in points]
            assert answer.value >= max(others) - 1e-9
            assert reached == pytest.approx(answer.value, abs=1e-7 if budget == 1 else tolerance)
            assert answer.multipliers.min() >= 0.0
            assert answer.multipliers.sum() == pytest.approx(1.0, abs=1e-6)
            assert oracle.bound(answer.multipliers) == pytest.approx(answer.value, abs=1e-6)


@pytest.mark.parametrize("name", list(sets()))
@pytest.mark.parametrize("sparse", [False, True])
def test_ranges_are_those_of_the_points(name: str, sparse: bool) -> None:
    rng = np.random.default_rng(5)
    convex = sets()[name]
    dense = rng.normal(size=(7, DIMENSION)) * (rng.random((7, DIMENSION)) < 0.7)
    system = System.of(csr_array(dense) if sparse else dense, np.zeros(7))
    low, high = convex.ranges(system)
    values = dense @ points_of(convex, rng).T
    assert np.all(values.max(axis=1) <= high + 1e-9)
    assert np.all(values.min(axis=1) >= low - 1e-9)
    best = [dense[i] @ convex.maximize(dense[i])[0] for i in range(7)]
    np.testing.assert_allclose(high, best, atol=1e-7)


def test_width_of_many_rows_over_a_polytope_is_an_upper_bound() -> None:
    rng = np.random.default_rng(2)
    polytope = Polytope(np.ones((1, 3)), np.array([1.0]), 0.0, 1.0)
    rows = rng.normal(size=(300, 3))
    few = max(width_over(polytope, System.of(rows[k : k + 100], np.zeros(100))) for k in (0, 100))
    assert width_over(polytope, System.of(rows, np.zeros(300))) >= few


def test_polytope_bound_is_the_exact_maximum() -> None:
    rng = np.random.default_rng(1)
    rows, limits = rng.normal(size=(30, 4)), rng.uniform(0.5, 1.0, 30)
    polytope = Polytope(rows, limits, -5.0, 5.0)
    for _ in range(10):
        direction = rng.normal(size=4)
        exact = -linprog(-direction, A_ub=rows, b_ub=limits, bounds=(-5, 5)).fun
        x, bound = polytope.maximize(direction)
        assert bound == pytest.approx(exact, abs=1e-7)
        assert direction @ x == pytest.approx(exact, abs=1e-7)


def test_a_set_without_rows_is_for_budget_one() -> None:
    system, few = System.of(np.eye(2), np.zeros(2)), AtMost(1.5, 2)
    assert oracle_for(few, system, 1, 0.1).width() == width_over(few, system) == pytest.approx(1.0)
    with pytest.raises(PickbestError, match="allows budget 1, got 2"):
        oracle_for(few, system, 2, 0.1)


def test_where_nothing_is_to_be_gained_the_middle_is_taken() -> None:
    assert sets()["box"].maximize(np.zeros(3))[0].tolist() == [0.0, 1.0, 0.5]


def test_only_bounds_that_a_certificate_uses_are_named() -> None:
    columns = SimpleNamespace(
        A=np.array([[1.0, 0.0, -1.0]]),
        above=frozenset({0, 1, 2}),
        below=frozenset({0, 1, 2}),
        variables=("x", "y", "z"),
    )
    assert needing_the_bound(columns, np.ones(1)) == ["x", "z"]
