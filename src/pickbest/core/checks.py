"""Checks of input: a clear error, or the value as it is used from there on."""

from math import inf
from numbers import Integral, Real

from pickbest.core.errors import PickbestError

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
