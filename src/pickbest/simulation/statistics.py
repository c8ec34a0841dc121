"""How far a mean over replicates may be off."""

from __future__ import annotations

import math

from pickbest.core import FloatArray


def standard_error(samples: FloatArray) -> float:
    """Of the mean of (replicates,) samples; 0 for a single one.

    >>> import numpy as np
    >>> standard_error(np.array([1.0, 3.0]))
    1.0
    """
    return float(samples.std(ddof=1)) / math.sqrt(len(samples)) if len(samples) > 1 else 0.0
