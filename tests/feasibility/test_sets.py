"""Convex sets: what is largest over them, and how far rows reach."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from pickbest.feasibility.constraints import System
from pickbest.feasibility.polytopes import Polytope, proved_hull
from pickbest.feasibility.problems import needing_the_bound
from pickbest.feasibility.sets import Ball, Box, Simplex

SETS = {
    "box": Box(np.array([1.0, -2.0, 0.5]), np.array([2.0, -1.0, 4.0])),
    "ball": Ball(np.array([3.0, -1.0, 0.5]), 2.0),
    "simplex": Simplex(3, 2.5),
}


def inside(convex, x):
    if isinstance(convex, Box):
        return bool((convex.lower <= x).all() and (x <= convex.upper).all())
    if isinstance(convex, Ball):
        return np.linalg.norm(x - convex.center) <= convex.radius * (1 + 1e-12)
    return x.min() >= 0.0 and x.sum() == pytest.approx(convex.total)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(
    "direction", [(1.0, -2.0, 3.0), (0.0, 1.0, 0.0), (0.0, 0.0, 0.0), (-1.0, -1.0, -1.0)]
)
def test_the_largest_point_is_inside_and_worth_what_is_said(name, direction):
    c = np.array(direction)
    x, value = SETS[name].maximize(c)
    assert inside(SETS[name], x)
    assert value == pytest.approx(c @ x)


def test_where_nothing_is_to_be_gained_the_middle_is_taken():
    assert SETS["box"].maximize(np.zeros(3))[0].tolist() == [1.5, -1.5, 2.25]
    assert SETS["ball"].maximize(np.zeros(3))[0].tolist() == [3.0, -1.0, 0.5]


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("as_matrix", [np.asarray, sparse.csr_array])
def test_ranges_of_rows_are_their_largest_and_smallest_values(name, as_matrix):
    rows = np.array([[1.0, 2.0, -1.0], [0.0, -3.0, 0.5]])
    low, high = SETS[name].ranges(System.of(as_matrix(rows), np.zeros(2)))
    for i, row in enumerate(rows):
        assert high[i] == pytest.approx(SETS[name].maximize(row)[1])
        assert low[i] == pytest.approx(-SETS[name].maximize(-row)[1])


@pytest.mark.parametrize("seed", range(20))
def test_the_hull_holds_the_set_whatever_the_duals(seed):
    """Variables without bounds, and multipliers that are off by a tenth: it is proved anyway."""
    rng = np.random.default_rng(seed)
    dimension = 3
    # |x| summed is at most a limit, and some cuts.
    signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * dimension)).reshape(dimension, -1).T
    matrix = np.vstack([signs, rng.normal(size=(2, dimension))])
    limits = np.append(np.full(len(signs), 2.0), 0.5 + rng.random(2))
    polytope = Polytope(matrix, limits)
    spoiled = np.random.default_rng(seed)

    def duals(direction):
        exact = polytope.duals(direction)
        return exact * (1.0 + 0.1 * (spoiled.random(len(exact)) - 0.5))

    hull = proved_hull(polytope.rows, duals)
    for axis in np.eye(dimension):
        largest, smallest = polytope.maximize(axis)[0] @ axis, polytope.maximize(-axis)[0] @ axis
        assert hull.upper @ axis >= largest - 1e-9
        assert hull.lower @ axis <= smallest + 1e-9
        # Nor is it more than twice as wide.
        assert (hull.upper - hull.lower) @ axis <= 2.0 * (largest - smallest)


def test_only_bounds_that_a_certificate_uses_are_named():
    columns = SimpleNamespace(
        A=np.array([[1.0, 0.0, -1.0]]),
        above=frozenset({0, 1, 2}),
        below=frozenset({0, 1, 2}),
        variables=("x", "y", "z"),
    )
    assert needing_the_bound(columns, np.ones(1)) == ["x", "z"]
