"""Sets that linear rows describe: any polytope, and boxes and simplices seen as one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pickbest.core import FloatArray, PickbestError
from pickbest.feasibility.constraints import System, as_numbers
from pickbest.feasibility.highs import PURPOSE, LinearProgram, is_sparse, load
from pickbest.feasibility.sets import Box, ConvexSet, Simplex, ranges_by_maximizing

# Up to this many rows of A their ranges are exact, by two programs a row; beyond, they come
# from the smallest box around P, which makes the width larger than it need be.
EXACT_RANGES = 200

# How large a reduced cost of a variable without bounds may be to pass for 0.
ROUNDING = 1e-9


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
    """All x with inequalities · x ≤ limits and lower ≤ x ≤ upper; bounded, not empty.

    inequalities may be sparse; lower and upper may be numbers, vectors, or infinite.
    """

    inequalities: Any
    limits: FloatArray
    lower: FloatArray | float = -np.inf
    upper: FloatArray | float = np.inf
    rows: Rows = field(init=False, repr=False, compare=False)
    _program: LinearProgram = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        system = System.of(self.inequalities, self.limits)
        shape = (system.dimension,)
        bounds = [as_numbers("lower", self.lower), as_numbers("upper", self.upper)]
        for bound in bounds:
            if bound.shape not in ((1,), shape) or np.isnan(bound).any():
                raise PickbestError(
                    f"the bounds of a polytope must be {shape[0]} numbers, got {bound!r}"
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
        return best.x, self._dual_bound(direction, best.row_duals)

    def _dual_bound(self, direction: FloatArray, duals: FloatArray) -> float:
        """limits · z + the best of the rest over the bounds, for any z ≥ 0: weak duality."""
        z = np.maximum(duals, 0.0)
        rest = direction - self.rows.matrix.T @ z
        ends = np.where(rest > 0.0, self.rows.upper, self.rows.lower)
        rest[(np.abs(rest) <= ROUNDING * (1.0 + np.abs(direction))) & ~np.isfinite(ends)] = 0.0
        ends[rest == 0.0] = 0.0
        return float(self.rows.row_upper @ z + rest @ ends)

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


def stacked(rows: Rows, extra_columns: int) -> Any:
    """The matrix of the rows, with columns of zeros for variables that are not x."""
    sparse = load("scipy.sparse", PURPOSE)
    own = rows.matrix if is_sparse(rows.matrix) else sparse.csr_array(rows.matrix)
    return sparse.hstack([own, sparse.csr_array((own.shape[0], extra_columns))])
