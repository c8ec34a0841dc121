"""Cells of instances: rounds with similar features, found by k-means."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core import (
    FloatArray,
    IntArray,
    PickbestError,
    check_count,
)

Rows = tuple[tuple[float, ...], ...]
Row = tuple[float, ...]

FEWEST, MOST, ROWS_A_CELL = 2, 20, 15
FARTHEST = 5.0
STEPS = 20


def cells_of(features: ArrayLike, count: int | None = None) -> tuple[Rows, Row, Row]:
    """(centers, shift, scale) for `Contextual`, from the raw features of past instances.

    features: (rows, n_features), finite.
    count: of cells; from 2 to 20 by the number of rows if None. Fewer where rows coincide.

    >>> cells_of([[0.0], [1.0], [10.0], [11.0]], count=2)[0]
    ((-0.5263157894736842,), (0.5263157894736842,))
    """
    raw = checked_features(features)
    if raw.ndim != 2 or not raw.size:
        raise PickbestError(f"features must have shape (rows, n_features), got {raw.shape}")
    if count is None:
        count = min(MOST, max(FEWEST, len(raw) // ROWS_A_CELL))
    shift = np.median(raw, axis=0)
    scale = np.subtract(*np.quantile(raw, (0.75, 0.25), axis=0))
    # Columns that hardly vary have no quartiles apart; constant ones are 0 at any scale.
    scale = np.where(scale > 0.0, scale, np.std(raw, axis=0))
    scale = np.where(scale > 0.0, scale, 1.0)
    centers = _centers(standardised(raw, shift, scale), check_count("count", count))
    rows = tuple(tuple(center) for center in sorted(centers.tolist()))
    return rows, tuple(shift.tolist()), tuple(scale.tolist())


def checked_features(features: ArrayLike) -> FloatArray:
    """Finite numbers, as a float64 array."""
    try:
        array = np.asarray(features, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise PickbestError(f"features must be rows of numbers of one length ({error})") from error
    if not np.isfinite(array).all():
        raise PickbestError(
            "features must be finite numbers: fill missing ones in, for example with medians"
        )
    return array


def standardised(raw: FloatArray, shift: ArrayLike, scale: ArrayLike) -> FloatArray:
    """Features in units of their scale, outliers cut."""
    points: FloatArray = (raw - np.asarray(shift)) / np.asarray(scale)
    return points.clip(-FARTHEST, FARTHEST)


def nearest(points: FloatArray, centers: ArrayLike) -> IntArray:
    """(rows,) the center that is nearest to each point."""
    away: FloatArray = points[:, None, :] - np.asarray(centers)[None, :, :]
    found: IntArray = np.argmin((away * away).sum(axis=2), axis=1)
    return found


def _centers(points: FloatArray, count: int) -> FloatArray:
    """k-means++ with a fixed seed, then steps of Lloyd."""
    rng = np.random.default_rng(0)
    centers: FloatArray = points[rng.integers(len(points))][None]
    while len(centers) < count:
        away = points - centers[nearest(points, centers)]
        far = (away * away).sum(axis=1)
        if not far.any():
            break
        centers = np.vstack([centers, points[rng.choice(len(points), p=far / far.sum())]])
    for _ in range(STEPS):
        owner = nearest(points, centers)
        kept = np.unique(owner)
        centers = np.array([points[owner == cell].mean(axis=0) for cell in kept])
    return centers
