"""Entries of any size: the verdicts are those of the same problem in other units."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from pickbest.feasibility import (
    Box,
    ConvexSet,
    FeasibilityStatus,
    Polytope,
    Simplex,
    solve_feasibility,
)
from pickbest.feasibility.oracles import proved_bound
from pickbest.feasibility.sets import System

SIZES = [1e-4, 1e-6, 1e-8, 1e-9]


@pytest.mark.parametrize("budget", [1, 2])
@pytest.mark.parametrize("size", SIZES)
def test_a_variable_in_other_units(size: float, budget: int) -> None:
    """size · x + y ≤ 1: x goes up to 1 / size, and no smaller bound says so."""
    triangle = Polytope([[size, 1.0]], np.array([1.0]), 0.0, np.array([1.0 / size, 1.0]))
    rows = [[size, 0.0], [0.0, 1.0]]
    found = solve_feasibility(rows, [0.5, 0.2], triangle, 0.05, budget)
    assert found.status is FeasibilityStatus.FEASIBLE
    assert found.width == pytest.approx(0.8)
    refused = solve_feasibility(rows, [0.8, 0.4], triangle, 0.05, budget)
    assert refused.status is FeasibilityStatus.INFEASIBLE
    assert refused.certificate is not None
    assert refused.certificate.value >= -0.2 * (1 + 1e-9)


def test_random_polytopes_in_random_units() -> None:
    """x_j counted in units from 1e-5 to 1e5."""
    rng = np.random.default_rng(8)
    seen = []
    for k in range(40):
        rows, limits = rng.normal(size=(6, 4)), rng.uniform(0.5, 1.0, 6)
        walls = np.vstack([rows, np.eye(4), -np.eye(4)])
        units = 10.0 ** rng.uniform(-5, 5, 4)
        set_limits = np.concatenate([limits, np.ones(8)])
        convex = Polytope(walls / units, set_limits, -2.0 * units, 2.0 * units)
        constraints, bounds = rng.normal(size=(10, 4)), rng.normal(size=10) * 0.5 - 0.2
        best = -linprog(
            np.append(np.zeros(4), -1.0),
            A_ub=np.block([[walls, np.zeros((14, 1))], [-constraints, np.ones((10, 1))]]),
            b_ub=np.concatenate([set_limits, -bounds]),
            bounds=[(None, None)] * 5,
        ).fun
        found = solve_feasibility(constraints / units, bounds, convex, 0.05, 1 + k % 3)
        seen.append(found.status)
        if found.status is FeasibilityStatus.INFEASIBLE:
            assert best < 0.0
        else:
            assert found.status is FeasibilityStatus.FEASIBLE
            assert best >= -0.05 - 1e-6
    assert min(seen.count(FeasibilityStatus.FEASIBLE), seen.count(FeasibilityStatus.INFEASIBLE)) > 5


@pytest.mark.parametrize("name", ["box", "simplex", "polytope"])
def test_proved_bounds_hold_in_exact_arithmetic(name: str) -> None:
    """y · (A x - b) in fractions, at points of P, with terms that cancel to 16 digits."""
    rng = np.random.default_rng(0)
    sets: dict[str, ConvexSet] = {
        "box": Box.cube(3, -1.0, 1.0),
        "simplex": Simplex(3),
        "polytope": Polytope(np.ones((1, 3)), np.array([1.0]), -1.0, 1.0),
    }
    convex = sets[name]
    for _ in range(20):
        large = rng.normal(size=(1, 3)) * 1e9
        rows = np.vstack([large, -large * (1 + 1e-16), rng.normal(size=(2, 3))])
        bounds = np.array([3e8, -3e8, *rng.normal(size=2)])
        y = rng.dirichlet(np.ones(4))
        bound = Fraction(proved_bound(System.of(rows, bounds), convex, y))
        for _ in range(20):
            x, _ = convex.maximize(rng.normal(size=3))
            x = x * (1 - 1e-7) if name == "polytope" else x * (1 - 1e-15)
            if name == "simplex":
                x = np.round(x)
            exact = sum(
                Fraction(y[i])
                * (
                    sum(Fraction(rows[i, j]) * Fraction(x[j]) for j in range(3))
                    - Fraction(bounds[i])
                )
                for i in range(4)
            )
            assert exact <= bound


def test_a_certificate_within_rounding_is_not_claimed() -> None:
    """The slack at x = 1 is 0 exactly; sums of numbers of 1e12 would say -1e-4 or so."""
    rows = [[1e12 + 0.1, -1e12], [-1.0, 1.0]]
    bounds = [np.float64(1e12 + 0.1) - 1e12, 0.0]
    found = solve_feasibility(rows, bounds, Box(np.ones(2), np.ones(2)), 1e-6, max_calls=5)
    assert found.status is not FeasibilityStatus.INFEASIBLE
