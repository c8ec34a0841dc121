"""Means over runs, their distance from printed ones, and how they grow."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

# How far a fitted exponent may be from the theorem's: what is measured is a finite range of T.
NEAR = 0.05
# Printed means have three digits.
ROUNDING = 0.0005


@dataclass(frozen=True)
class Estimate:
    """A mean over independent runs with their standard deviation."""

    mean: float
    std: float
    runs: int

    @staticmethod
    def of(samples: ArrayLike) -> "Estimate":
        """From one number per run."""
        values = np.asarray(samples, dtype=np.float64)
        # Runs that are all the same differ by rounding only.
        spread = float(values.std(ddof=1)) if values.size > 1 else 0.0
        std = spread if spread > 1e-12 else 0.0
        return Estimate(float(values.mean()), std, values.size)

    @property
    def error(self) -> float:
        return self.std / math.sqrt(self.runs)

    def above(self, bound: float) -> bool:
        """Whether the mean is above a bound by more than two standard errors."""
        return self.mean - 2 * self.error > bound

    def off(self, exact: float) -> float:
        """How many standard errors the mean lies from what it should be.

        >>> round(Estimate(1.2, 0.5, 25).off(1.0), 9), Estimate(1.0, 0.0, 25).off(1.0)
        (2.0, 0.0)
        """
        distance = abs(self.mean - exact)
        if distance <= 1e-9:
            return 0.0
        return distance / self.error if self.error else math.inf


def z_score(ours: Estimate, printed: Estimate) -> float:
    """How many standard errors our mean lies above the printed one, beyond its rounding.

    >>> round(z_score(Estimate(0.430, 0.02, 100), Estimate(0.426, 0.02, 100)), 2)
    1.24
    """
    gap = ours.mean - printed.mean
    beyond = max(0.0, abs(gap) - ROUNDING)
    if beyond == 0.0:
        return 0.0
    variance = ours.std**2 / ours.runs + printed.std**2 / printed.runs
    return math.copysign(beyond / math.sqrt(variance) if variance > 0 else math.inf, gap)


def slope(x: Sequence[float], y: Sequence[float]) -> float | None:
    """The fitted exponent p of y ~ x^p; None unless all numbers are above 0.

    >>> slope([1, 10, 100], [2, 20, 200])
    1.0
    """
    if min(*x, *y) <= 0:
        return None
    return round(float(np.polyfit(np.log(x), np.log(y), 1)[0]), 12)


def growth(x: Sequence[float], y: Sequence[float]) -> str:
    """How y grows with x, the number of rounds, in words.

    >>> growth([1, 10, 100], [2, 20, 200])
    'T^1.00'
    """
    fitted = slope(x, y)
    return "no power of T" if fitted is None else f"T^{fitted:.2f}"
