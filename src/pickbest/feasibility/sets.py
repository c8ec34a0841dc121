"""The constraints A x ≥ b, and the convex set P where x may lie whatever they say.

A set knows how to maximise a linear function, which is all that an oracle needs at B = 1, and
how large and small each A_i x can get, which gives the width rho of Proposition 8.
"""

from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core import FloatArray, IntArray, PickbestError, check_count
from pickbest.feasibility.highs import PURPOSE, SMALLEST_ENTRY, LinearProgram, Rows, is_sparse, load

# Up to this many rows of A their ranges are exact, by two programs a row; beyond, they come
# from the smallest box around P, which makes the width larger than it need be.
EXACT_RANGES = 200


def as_numbers(name: str, values: ArrayLike) -> FloatArray:
    """An array of floats, or one sentence."""
    try:
        return np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise PickbestError(f"{name} must be numbers: {error}") from error


@dataclass(frozen=True)
class System:
    """A x ≥ b.

    matrix: (n_constraints, dimension), a NumPy array or a SciPy csr_array.
    transposed: the same, transposed and stored by rows, since Aᵀ y is computed in every call.
    """

    matrix: Any
    transposed: Any
    bounds: FloatArray

    @staticmethod
    def of(matrix: Any, bounds: ArrayLike) -> "System":
        """The system of A and b, or one sentence about what is wrong with them."""
        if is_sparse(matrix):
            checked = load("scipy.sparse", "sparse A").csr_array(matrix).astype(np.float64)
            entries: FloatArray = checked.data
        else:
            checked = entries = as_numbers("A", matrix)
        if checked.ndim != 2 or 0 in checked.shape:
            raise PickbestError(
                "A must be a matrix with a row for each constraint and a column for each "
                f"variable, got shape {checked.shape}"
            )
        if not np.isfinite(entries).all():
            raise PickbestError("A must hold finite numbers, got NaN or infinity")
        right = as_numbers("b", bounds)
        if right.shape != checked.shape[:1]:
            raise PickbestError(
                f"b must have one number for each of the {checked.shape[0]} rows of A, "
                f"got shape {right.shape}"
            )
        if not np.isfinite(right).all():
            raise PickbestError("b must hold finite numbers, got NaN or infinity")
        across = checked.T.tocsr() if is_sparse(checked) else np.ascontiguousarray(checked.T)
        return System(checked, across, right)

    @property
    def n_constraints(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def dimension(self) -> int:
        return int(self.matrix.shape[1])

    def slacks(self, x: FloatArray) -> FloatArray:
        """A x - b: what is left of each constraint, negative where it is violated."""
        slack: FloatArray = self.matrix @ x - self.bounds
        return slack

    def direction(self, multipliers: FloatArray) -> FloatArray:
        """Aᵀ y: the gradient of the weighted sum of the slacks."""
        gradient: FloatArray = self.transposed @ multipliers
        return gradient

    def rows(self, chosen: IntArray) -> FloatArray:
        """Some rows of A, as a dense array."""
        part = self.matrix[chosen]
        dense: FloatArray = part.toarray() if is_sparse(part) else part
        return dense


@runtime_checkable
class ConvexSet(Protocol):
    """A bounded convex set of points."""

    @property
    def dimension(self) -> int: ...

    def maximize(self, direction: FloatArray) -> tuple[FloatArray, float]:
        """(x, bound): a point of P where direction · x is largest, and an upper bound on it."""
        ...

    def ranges(self, system: System) -> tuple[FloatArray, FloatArray]:
        """(low, high): A_i x lies between them for every x in P, for each row i of A."""
        ...


@dataclass(frozen=True)
class Box:
    """All x with lower ≤ x ≤ upper.

    >>> Box.cube(2, -1.0, 1.0).maximize(np.array([3.0, -2.0]))
    (array([ 1., -1.]), 5.0)
    """

    lower: FloatArray
    upper: FloatArray

    def __post_init__(self) -> None:
        lower, upper = np.broadcast_arrays(
            np.atleast_1d(as_numbers("lower", self.lower)),
            np.atleast_1d(as_numbers("upper", self.upper)),
        )
        if lower.ndim != 1:
            raise PickbestError(f"the bounds of a box must be vectors, got shape {lower.shape}")
        for j in np.flatnonzero(~(np.isfinite(lower) & np.isfinite(upper)))[:1]:
            raise PickbestError(
                f"the bounds of a box must be finite, got {lower[j]} and {upper[j]} "
                f"for variable {j}"
            )
        for j in np.flatnonzero(lower > upper)[:1]:
            raise PickbestError(
                f"the box is empty: variable {j} has lower bound {lower[j]:g} "
                f"above its upper bound {upper[j]:g}"
            )
        object.__setattr__(self, "lower", np.array(lower))
        object.__setattr__(self, "upper", np.array(upper))

    @staticmethod
    def cube(dimension: int, low: float = 0.0, high: float = 1.0) -> "Box":
        """The box with the same bounds for every variable."""
        ones = np.ones(check_count("dimension", dimension))
        return Box(low * ones, high * ones)

    @property
    def dimension(self) -> int:
        return len(self.lower)

    def maximize(self, direction: FloatArray) -> tuple[FloatArray, float]:
        x = np.where(direction > 0.0, self.upper, self.lower)
        # Where nothing is to be gained, the middle moves the fewest constraints.
        x = np.where(direction == 0.0, (self.lower + self.upper) / 2.0, x)
        return x, float(direction @ x)

    def ranges(self, system: System) -> tuple[FloatArray, FloatArray]:
        middle = system.matrix @ ((self.lower + self.upper) / 2.0)
        reach = abs(system.matrix) @ ((self.upper - self.lower) / 2.0)
        return middle - reach, middle + reach


@dataclass(frozen=True)
class Simplex:
    """All x ≥ 0 whose entries sum to `total`: for total = 1, the mixtures of `dimension` things.

    >>> Simplex(3).maximize(np.array([0.2, 0.5, 0.1]))
    (array([0., 1., 0.]), 0.5)
    """

    dimension: int
    total: float = 1.0

    def __post_init__(self) -> None:
        check_count("dimension", self.dimension)
        if not np.isfinite(self.total) or self.total < 0.0:
            raise PickbestError(
                f"the simplex is empty: its total must be at least 0, got {self.total!r}"
            )

    def maximize(self, direction: FloatArray) -> tuple[FloatArray, float]:
        best = int(np.argmax(direction))
        x = np.zeros(self.dimension)
        x[best] = self.total
        return x, float(self.total * direction[best])

    def ranges(self, system: System) -> tuple[FloatArray, FloatArray]:
        low, high = system.matrix.min(axis=1), system.matrix.max(axis=1)
        if is_sparse(system.matrix):
            low, high = low.toarray().ravel(), high.toarray().ravel()
        return self.total * low, self.total * high


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
        check_sizes(system.matrix)
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
        object.__setattr__(self, "_program", LinearProgram(rows))
        self._program.maximize(np.zeros(system.dimension))  # says at once if the set is empty

    @property
    def dimension(self) -> int:
        return len(self.rows.lower)

    def maximize(self, direction: FloatArray) -> tuple[FloatArray, float]:
        x, z = self.solve(direction)
        # limits · z + the best of the rest over the bounds, for any z ≥ 0: weak duality.
        rest = direction - self.rows.matrix.T @ z
        ends = np.where(rest > 0.0, self.rows.upper, self.rows.lower)
        return x, float(self.rows.row_upper @ z + rest @ ends)

    def solve(self, direction: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(x, z): the best point, and duals z ≥ 0 of the inequalities, which bound all others."""
        best = self._program.maximize(direction)
        return best.x, np.maximum(best.row_duals, 0.0)

    def ranges(self, system: System) -> tuple[FloatArray, FloatArray]:
        if system.n_constraints <= EXACT_RANGES:
            return ranges_by_maximizing(self, system)
        axes = System.of(np.eye(self.dimension), np.zeros(self.dimension))
        return Box(*ranges_by_maximizing(self, axes)).ranges(system)


def check_sizes(inequalities: Any) -> None:
    """HiGHS takes tiny entries for 0, which would make P larger than it is."""
    sizes = np.abs(inequalities.data if is_sparse(inequalities) else np.ravel(inequalities))
    sizes = sizes[sizes > 0.0]
    if len(sizes) and not SMALLEST_ENTRY <= sizes.min() <= sizes.max() <= 1.0 / SMALLEST_ENTRY:
        raise PickbestError(
            f"the inequalities of a polytope must have entries of 0 or of {SMALLEST_ENTRY:g} to "
            f"{1.0 / SMALLEST_ENTRY:g} in size, got {sizes.min():g} to {sizes.max():g}: count "
            "their variables in other units"
        )


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


def ranges_by_maximizing(convex: ConvexSet, system: System) -> tuple[FloatArray, FloatArray]:
    """`ConvexSet.ranges` through two maximisations for each row."""
    low, high = np.empty(system.n_constraints), np.empty(system.n_constraints)
    for i in range(system.n_constraints):
        row = system.rows(np.array([i]))[0]
        high[i] = convex.maximize(row)[1]
        low[i] = -convex.maximize(-row)[1]
    return low, high


def width_over(convex: ConvexSet, system: System) -> float:
    """rho: the largest |A_i x - b_i| over all x in P and all constraints i."""
    low, high = convex.ranges(system)
    return float(np.maximum(np.abs(low - system.bounds), np.abs(high - system.bounds)).max())
