"""The constraints A x ≥ b of a feasibility problem, dense or sparse, checked once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core import FloatArray, IntArray, PickbestError
from pickbest.feasibility.highs import is_sparse, load


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

    def check_budget(self, budget: int) -> None:
        """The learner plays this many different constraints at once."""
        most = self.n_constraints
        if not isinstance(budget, int | np.integer) or not 1 <= budget <= most:
            raise PickbestError(
                f"budget must be between 1 and the number of constraints, {most}, got {budget!r}"
            )

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

    def column_sizes(self) -> FloatArray:
        """The largest |entry| of each column of A."""
        largest = abs(self.matrix).max(axis=0)
        sizes: FloatArray = largest.toarray().ravel() if is_sparse(largest) else largest
        return sizes

    def norms(self) -> FloatArray:
        """The Euclidean length of each row of A."""
        squares = self.matrix * self.matrix
        lengths: FloatArray = np.sqrt(np.asarray(squares.sum(axis=1), dtype=np.float64).ravel())
        return lengths


def as_numbers(name: str, values: ArrayLike) -> FloatArray:
    """An array of floats, or one sentence."""
    try:
        return np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise PickbestError(f"{name} must be numbers: {error}") from error
