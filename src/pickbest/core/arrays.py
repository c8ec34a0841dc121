"""The kinds of arrays, and the check of arrays of costs."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pickbest.core.errors import PickbestError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
KeyArray = NDArray[np.uint64]


def check_costs(costs: ArrayLike, shape: tuple[int, ...], name: str = "costs") -> FloatArray:
    """Finite numbers in [0, 1] of the given shape, as a float64 array."""
    try:
        array = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise PickbestError(f"{name} must be numbers, got {costs!r}") from error
    if array.shape != shape:
        raise PickbestError(f"{name} must have shape {shape}, got {array.shape}")
    if not _in_unit_interval(array):
        bad = ~((array >= 0.0) & (array <= 1.0))
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        value = array[where]
        place = where[0] if len(where) == 1 else where
        if not np.isfinite(value):
            raise PickbestError(f"{name} must be finite numbers, got {value} at index {place}")
        raise PickbestError(
            f"{name} must be between 0 and 1, got {value:g} at index {place} "
            "(for rewards, pass 1 - reward)"
        )
    return array


def _in_unit_interval(array: FloatArray) -> bool:
    """Whether all values are in [0, 1]; NaN is not."""
    if array.ndim == 1 and array.size <= 32:
        # A live player's few costs: a plain loop is quicker than two reductions, and than all().
        for value in array.tolist():  # noqa: SIM110
            if not 0.0 <= value <= 1.0:
                return False
        return True
    return array.size == 0 or bool(array.min() >= 0.0 and array.max() <= 1.0)
