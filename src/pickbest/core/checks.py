"""Checks of input: a clear error, or the value as it is used from there on."""

from __future__ import annotations

from math import inf
from numbers import Integral, Real
from typing import TYPE_CHECKING

from pickbest.core.errors import PickbestError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pickbest.core.arrays import FloatArray

LARGEST_SEED = (1 << 64) - 1


def check_seed(seed: int) -> int:
    """A seed is a whole number from 0 to 2^64 - 1."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= seed <= LARGEST_SEED:
        raise PickbestError(f"seed must be a whole number between 0 and 2^64 - 1, got {seed!r}")
    return int(seed)


def check_count(name: str, value: int, least: int = 1) -> int:
    """A whole number that is at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise PickbestError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def check_budget(budget: int, n_arms: int) -> int:
    """The budget is between 1 and the number of arms."""
    check_count("n_arms", n_arms)
    whole = isinstance(budget, Integral) and not isinstance(budget, bool)
    if not whole or not 1 <= budget <= n_arms:
        raise PickbestError(f"budget must be between 1 and n_arms={n_arms}, got {budget!r}")
    return int(budget)


def check_positive(name: str, value: float) -> float:
    """A finite number above 0."""
    if not _is_number(value) or not 0 < value < inf:
        raise PickbestError(f"{name} must be a number above 0, got {value!r}")
    return float(value)


def check_share(name: str, value: float) -> float:
    """A number above 0 and at most 1."""
    if not _is_number(value) or not 0 < value <= 1:
        raise PickbestError(f"{name} must be above 0 and at most 1, got {value!r}")
    return float(value)


def check_not_negative(name: str, value: float) -> float:
    """A finite number of at least 0."""
    if not _is_number(value) or not 0 <= value < inf:
        raise PickbestError(f"{name} must be a number of at least 0, got {value!r}")
    return float(value)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def check_costs(costs: ArrayLike, shape: tuple[int, ...], name: str = "costs") -> FloatArray:
    """Finite numbers in [0, 1] of the given shape, as a float64 array."""
    import numpy as np

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
