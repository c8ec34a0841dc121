"""How far a mean over replicates may be off."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from pickbest.core import FloatArray, PickbestError

MOST_DIGITS = 6


def standard_error(samples: FloatArray) -> float:
    """Of the mean of (replicates,) samples; 0 for a single one.

    >>> import numpy as np
    >>> standard_error(np.array([1.0, 3.0]))
    1.0
    """
    return float(samples.std(ddof=1)) / math.sqrt(len(samples)) if len(samples) > 1 else 0.0


def half_width(samples: FloatArray, confidence: float) -> FloatArray:
    """Of a normal confidence interval for the mean over axis 0; infinite for a single sample."""
    if not 0.0 < confidence < 1.0:
        raise PickbestError(f"confidence must be between 0 and 1, got {confidence!r}")
    count = len(samples)
    if count < 2:
        return np.full(samples.shape[1], np.inf)
    quantile = NormalDist().inv_cdf(0.5 + confidence / 2.0)
    half: FloatArray = quantile * samples.std(axis=0, ddof=1) / math.sqrt(count)
    return half


@dataclass(frozen=True)
class Estimate:
    """A mean and the half-width of its confidence interval; printed to two digits of the latter.

    >>> print(Estimate(0.41234, 0.0052), Estimate(1182.4, 31.0), Estimate(0.5, 0.0))
    0.4123 ± 0.0052 1,182 ± 31 0.5000
    """

    mean: float
    half_width: float

    @classmethod
    def of(cls, samples: FloatArray, confidence: float) -> Estimate:
        """Of the mean of (replicates,) samples."""
        return cls(float(samples.mean()), float(half_width(samples[:, None], confidence)[0]))

    @property
    def low(self) -> float:
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        return self.mean + self.half_width

    def __str__(self) -> str:
        # Equal samples differ by rounding: that is no interval.
        if self.half_width <= 1e-9 * max(1.0, abs(self.mean)) or math.isinf(self.half_width):
            return f"{self.mean:,.{_digits(self.mean, 4)}f}"
        digits = _digits(self.half_width, 2)
        return f"{self.mean:,.{digits}f} ± {self.half_width:,.{digits}f}"


def _digits(value: float, significant: int) -> int:
    """Number of decimals that shows this many significant digits."""
    first = math.floor(math.log10(abs(value))) if value else 0
    return min(max(0, significant - 1 - first), MOST_DIGITS)
