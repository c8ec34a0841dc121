"""Sets that linear rows describe, and upper bounds over any set that rounding cannot spoil.

A certificate of infeasibility is claimed only where `proved_bound` is negative. Every sum in it
carries the a-priori bound on its rounding errors, n · 2^-52 · Σ |terms| (Higham 2002, section 3.1).
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pickbest.core import FloatArray, PickbestError
from pickbest.feasibility.constraints import System, as_numbers
from pickbest.feasibility.highs import PURPOSE, LinearProgram, load
from pickbest.feasibility.sets import Ball, Box, ConvexSet, Simplex, ranges_by_maximizing

# Up to this many rows of A their ranges are exact, by two programs a row; beyond, they come
# from the smallest box around P, which makes the width larger than it need be.
EXACT_RANGES = 200

EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Rows:
    """row_lower ≤ matrix · x ≤ row_upper and lower ≤ x ≤ upper."""

    matrix: Any
    row_lower: FloatArray
    row_upper: FloatArray
    lower: FloatArray
    upper: FloatArray

    def program(self) -> LinearProgram:
        return LinearProgram(self.matrix, self.row_lower, self.row_upper, self.lower, self.upper)


@dataclass(frozen=True)
class Polytope:
    """All x with inequalities · x ≤ limits and lower ≤ x ≤ upper; not empty.

    inequalities may be sparse; lower and upper are finite, numbers or vectors.
    """

    inequalities: Any
    limits: FloatArray
    lower: FloatArray | float
    upper: FloatArray | float
    rows: Rows = field(init=False, repr=False, compare=False)
    _program: LinearProgram = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        system = System.of(self.inequalities, self.limits)
        shape = (system.dimension,)
        bounds = [as_numbers("lower", self.lower), as_numbers("upper", self.upper)]
        for bound in bounds:
            if bound.shape not in ((), (1,), shape) or not np.isfinite(bound).all():
                raise PickbestError(
                    f"the bounds of a polytope must be {shape[0]} finite numbers, got {bound!r}"
                )
        lower, upper = (np.array(np.broadcast_to(bound, shape)) for bound in bounds)
        free = np.full(system.n_constraints, -np.inf)
        rows = Rows(system.matrix, free, system.bounds, lower, upper)
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "_program", rows.program())
        # Says at once where the set is empty.
        self._program.maximize(np.zeros(system.dimension))

    @property
    def dimension(self) -> int:
        return len(self.rows.lower)

    def maximize(self, direction: FloatArray) -> tuple[FloatArray, float]:
        best = self._program.maximize(direction)
        # limits · z + the best of the rest over the bounds, for any z ≥ 0: weak duality.
        z = np.maximum(best.row_duals, 0.0)
        rest = direction - self.rows.matrix.T @ z
        ends = np.where(rest > 0.0, self.rows.upper, self.rows.lower)
        return best.x, float(self.rows.row_upper @ z + rest @ ends)

    def duals(self, direction: FloatArray) -> FloatArray:
        """z ≥ 0, one per row: direction - z · inequalities is the rest in weak duality."""
        return np.maximum(self._program.maximize(direction).row_duals, 0.0)

    def ranges(self, system: System) -> tuple[FloatArray, FloatArray]:
        if system.n_constraints <= EXACT_RANGES:
            return ranges_by_maximizing(self, system)
        axes = System.of(np.eye(self.dimension), np.zeros(self.dimension))
        return Box(*ranges_by_maximizing(self, axes)).ranges(system)


def as_rows(convex: ConvexSet) -> Rows | None:
    """The linear description of a set, or None where it has none that we know."""
    if isinstance(convex, Polytope):
        return convex.rows
    sparse = load("scipy.sparse", PURPOSE)
    if isinstance(convex, Box):
        nothing = np.empty(0)
        matrix = sparse.csr_array((0, convex.dimension))
        return Rows(matrix, nothing, nothing, convex.lower, convex.upper)
    if isinstance(convex, Simplex):
        total = np.array([convex.total])
        bounds = np.zeros(convex.dimension), np.full(convex.dimension, convex.total)
        return Rows(sparse.csr_array(np.ones((1, convex.dimension))), total, total, *bounds)
    return None


def extended(
    rows: Rows, matrix: Any, low: FloatArray, high: FloatArray, coming: Any = None
) -> LinearProgram:
    """P's own rows, then low ≤ matrix · (x, more) ≤ high; the variables beyond x are free.

    coming: rows that will be added, as for LinearProgram.
    """
    sparse = load("scipy.sparse", PURPOSE)
    own = sparse.csr_array(rows.matrix)
    more = np.full(matrix.shape[1] - own.shape[1], np.inf)
    wider = sparse.hstack([own, sparse.csr_array((own.shape[0], len(more)))])
    return LinearProgram(
        sparse.vstack([wider, matrix]),
        np.concatenate([rows.row_lower, low]),
        np.concatenate([rows.row_upper, high]),
        np.concatenate([rows.lower, -more]),
        np.concatenate([rows.upper, more]),
        coming,
    )


def best_worst_slack(system: System, convex: ConvexSet) -> float:
    """The largest smallest slack over P, by HiGHS: at least 0 where A x ≥ b is feasible."""
    rows = as_rows(convex)
    if rows is None:
        raise PickbestError(f"HiGHS needs linear rows, which {type(convex).__name__} has not")
    sparse = load("scipy.sparse", PURPOSE)
    ones = np.ones((system.n_constraints, 1))
    slacks = sparse.hstack([sparse.csr_array(system.matrix), -ones])
    program = extended(rows, slacks, system.bounds, np.full(len(ones), np.inf))
    return program.maximize(np.append(np.zeros(system.dimension), 1.0)).value


def proved_bound(system: System, convex: ConvexSet, multipliers: FloatArray) -> float:
    """No x in P has a larger y · (A x - b), for y ≥ 0.

    For a set that is known by its linear maximiser alone, this is as right as that routine.
    """
    direction = system.direction(multipliers)
    sizes = abs(system.transposed) @ multipliers
    doubt = sizes * ((system.n_constraints + 4) * EPSILON)
    best = proved_maximum(convex, direction, doubt)
    return upper_sum(np.append(-multipliers * system.bounds, best))


def proved_maximum(convex: ConvexSet, direction: FloatArray, doubt: FloatArray) -> float:
    """An upper bound on c · x over P for every c with |c - direction| ≤ doubt."""
    if isinstance(convex, Box):
        return _over_box(convex, direction, doubt)
    if isinstance(convex, Simplex):
        return upper_sum(np.array([convex.total * float((direction + doubt).max())]))
    if isinstance(convex, Ball):
        reach = convex.radius * float(np.linalg.norm(np.abs(direction) + doubt))
        exact = convex.radius * float(np.linalg.norm(direction))
        wrong = (reach - exact) + reach * ((len(direction) + 8) * EPSILON)
        wrong += float(np.abs(convex.center) @ doubt) * (1.0 + 1e-9)
        return upper_sum(np.append(direction * convex.center, [exact, wrong]))
    if isinstance(convex, Polytope):
        z = convex.duals(direction)
        matrix = convex.rows.matrix
        rounding = (np.abs(direction) + abs(matrix).T @ z) * ((len(z) + 4) * EPSILON)
        hull = Box(convex.rows.lower, convex.rows.upper)
        over = _over_box(hull, direction - matrix.T @ z, rounding + doubt)
        return upper_sum(np.append(convex.rows.row_upper * z, over))
    return convex.maximize(direction)[1]


def upper_sum(terms: FloatArray) -> float:
    """An upper bound on the exact sum of products that were each rounded once."""
    return float(terms.sum() + np.abs(terms).sum() * ((len(terms) + 4) * EPSILON))


def _over_box(box: Box, direction: FloatArray, doubt: FloatArray) -> float:
    best = np.maximum(direction * box.lower, direction * box.upper)
    wrong = doubt * np.maximum(np.abs(box.lower), np.abs(box.upper))
    return upper_sum(np.append(best, wrong))
