"""Sets that linear rows describe: any polytope, and boxes and simplices seen as one."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from pickbest.core import FloatArray, PickbestError
from pickbest.feasibility.constraints import System, as_numbers
from pickbest.feasibility.highs import PURPOSE, LinearProgram, load
from pickbest.feasibility.sets import Box, ConvexSet, Simplex, ranges_by_maximizing

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
        ends[rest == 0.0] = 0.0
        if not np.isfinite(ends).all():
            ends = np.where(rest > 0.0, self.hull.upper, self.hull.lower)
        return float(self.rows.row_upper @ z + rest @ ends)

    def duals(self, direction: FloatArray) -> FloatArray:
        """z ≥ 0, one a row: direction - z · inequalities is the rest in weak duality."""
        return np.maximum(self._program.maximize(direction).row_duals, 0.0)

    @cached_property
    def hull(self) -> Box:
        """A box that holds P, proved: bounds that are given, else from rows (see `proved_hull`)."""
        return proved_hull(self.rows, self.duals)

    def ranges(self, system: System) -> tuple[FloatArray, FloatArray]:
        if system.n_constraints <= EXACT_RANGES:
            return ranges_by_maximizing(self, system)
        axes = System.of(np.eye(self.dimension), np.zeros(self.dimension))
        return Box(*ranges_by_maximizing(self, axes)).ranges(system)


def proved_hull(rows: Rows, duals: Callable[[FloatArray], FloatArray]) -> Box:
    """Finite bounds of each variable over matrix · x ≤ row_upper, lower ≤ x ≤ upper.

    For any z ≥ 0, x_j ≤ row_upper · z + rest · x with rest = e_j - z · matrix, which has the sign
    of a finite bound, or is 0 up to rounding, for the duals z. Of what pulls towards a missing
    bound only the sum r of the coefficients is known: with M the largest such |x_k| of a point of
    P, M ≤ β + r M, so M ≤ β / (1 - r), whatever the duals.
    """
    open_low, open_high = ~np.isfinite(rows.lower), ~np.isfinite(rows.upper)
    ends = np.where(open_low, 0.0, rows.lower), np.where(open_high, 0.0, rows.upper)
    # x_k ≤ known + unknown · M in both directions, for those that need it.
    known, unknown = np.zeros((2, len(ends[0]))), np.zeros((2, len(ends[0])))
    for side, (needed, sign) in enumerate(((open_low, -1.0), (open_high, 1.0))):
        for j in np.flatnonzero(needed):
            direction = np.zeros(len(needed))
            direction[j] = sign
            z = duals(direction)
            rest, doubt = rest_and_doubt(rows.matrix, z, direction)
            least, most = rest - doubt, rest + doubt
            products = [factor * end for factor in (least, most) for end in ends]
            known[side, j] = upper_sum(np.append(rows.row_upper * z, np.max(products, axis=0)))
            pulls = np.maximum(most[open_high], 0.0).sum() - np.minimum(least[open_low], 0.0).sum()
            unknown[side, j] = pulls * (1.0 + 1e-9)
    given = np.where(open_low | open_high, np.abs(ends[0]) + np.abs(ends[1]), 0.0)
    share = float(unknown.max())
    if share >= 0.5:
        raise PickbestError(
            "the set P could not be proved to be bounded: give its variables finite bounds"
        )
    largest = max(float(known.max()), float(given.max())) / (1.0 - share)
    low = np.where(open_low, -(known[0] + unknown[0] * largest), rows.lower)
    high = np.where(open_high, known[1] + unknown[1] * largest, rows.upper)
    return Box(np.minimum(low, high), np.maximum(low, high))


def rest_and_doubt(matrix: Any, z: FloatArray, direction: FloatArray) -> tuple[FloatArray, Any]:
    """direction - z · matrix, and a bound on its rounding errors (Higham 2002, section 3.1)."""
    doubt = (np.abs(direction) + abs(matrix).T @ z) * ((len(z) + 4) * EPSILON)
    return direction - matrix.T @ z, doubt


def upper_sum(terms: FloatArray) -> float:
    """An upper bound on the exact sum of products that were each rounded once."""
    return float(terms.sum() + np.abs(terms).sum() * ((len(terms) + 4) * EPSILON))


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
