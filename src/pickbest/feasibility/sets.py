"""The convex set P of a feasibility problem: where x may lie whatever the constraints say.

A set knows how to maximise a linear function, which is all that an oracle needs at B = 1, and
how large and small each A_i x can get, which gives the width rho of Proposition 8.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core import FloatArray, PickbestError, check_count
from pickbest.feasibility.constraints import System, as_numbers
from pickbest.feasibility.highs import is_sparse


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
class Ball:
    """All x at a Euclidean distance of at most `radius` from `center`.

    >>> Ball(np.zeros(2), 5.0).maximize(np.array([3.0, 4.0]))
    (array([3., 4.]), 25.0)
    """

    center: FloatArray
    radius: float

    def __post_init__(self) -> None:
        center = as_numbers("center", self.center)
        if center.ndim != 1 or not len(center) or not np.isfinite(center).all():
            raise PickbestError("the center of a ball must be a vector of finite numbers")
        if not np.isfinite(self.radius) or self.radius < 0.0:
            raise PickbestError(
                f"the ball is empty: its radius must be at least 0, got {self.radius!r}"
            )
        object.__setattr__(self, "center", center)

    @property
    def dimension(self) -> int:
        return len(self.center)

    def maximize(self, direction: FloatArray) -> tuple[FloatArray, float]:
        length = float(np.linalg.norm(direction))
        x = self.center + direction * (self.radius / length) if length > 0.0 else self.center.copy()
        return x, float(direction @ self.center) + self.radius * length

    def ranges(self, system: System) -> tuple[FloatArray, FloatArray]:
        middle = system.matrix @ self.center
        reach = self.radius * system.norms()
        return middle - reach, middle + reach


@dataclass(frozen=True)
class Maximizer:
    """Any convex set for which a routine maximises a linear function; for B = 1.

    function(direction) must return a point of P where direction · x is largest: a verdict of
    infeasibility is as right as this routine. The width takes two calls for each constraint
    unless it is given.

    >>> disk = Maximizer(lambda c: c / np.linalg.norm(c), dimension=2)
    >>> disk.maximize(np.array([0.0, 2.0]))
    (array([0., 1.]), 2.0)
    """

    function: Callable[[FloatArray], ArrayLike]
    dimension: int

    def __post_init__(self) -> None:
        check_count("dimension", self.dimension)

    def maximize(self, direction: FloatArray) -> tuple[FloatArray, float]:
        x = as_numbers("the answer of the maximiser", self.function(direction))
        if x.shape != (self.dimension,) or not np.isfinite(x).all():
            raise PickbestError(
                f"the maximiser must return {self.dimension} finite numbers, got {x!r}"
            )
        return x, float(direction @ x)

    def ranges(self, system: System) -> tuple[FloatArray, FloatArray]:
        return ranges_by_maximizing(self, system)


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


def check_dimension(convex: ConvexSet, system: System) -> None:
    """P must live where A's columns say."""
    if convex.dimension != system.dimension:
        raise PickbestError(
            f"A has {system.dimension} columns, but P has dimension {convex.dimension}"
        )
