"""Columns of text cells as numbers: categories one-hot, numbers as they are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from pickbest.core import FloatArray

MISSING = frozenset({"", "?", "na", "nan", "null", "none"})
MOST_CATEGORIES = 10
CATEGORY_RULE = (
    "a column is a category, one-hot, if a cell of it is no number, or if it holds between 3 and "
    f"{MOST_CATEGORIES} different values that are all integers; columns with one value are "
    "left out"
)


def encode(
    columns: Mapping[str, Sequence[str]], most: int, rng: np.random.Generator
) -> tuple[FloatArray, list[str]]:
    """(rows, features) of at most `most` features, and the names of the columns left out."""
    encoded = {name: encode_column(cells) for name, cells in columns.items()}
    blocks = {name: block for name, block in encoded.items() if block is not None}
    if sum(block.shape[1] for block in blocks.values()) > most:
        blocks = _that_fit(blocks, most, rng)
    rows = len(next(iter(columns.values()), ()))
    features = np.hstack(list(blocks.values())) if blocks else np.empty((rows, 0))
    return features, [name for name in columns if name not in blocks]


def encode_column(cells: Sequence[str]) -> FloatArray | None:
    """(rows, features) of a column, NaN where a number is missing; None if it is constant."""
    values = ["" if cell.strip().lower() in MISSING else cell.strip() for cell in cells]
    numbers = [_number(value) for value in values]
    if any(number is None for number in numbers):
        return _one_hot(values) if len(set(values)) > 1 else None
    known = {number for number in numbers if number is not None and not math.isnan(number)}
    if len(known) < 2:
        return None
    if 3 <= len(known) <= MOST_CATEGORIES and all(number.is_integer() for number in known):
        return _one_hot([repr(number) for number in numbers])
    return np.array(numbers, dtype=np.float64)[:, None]


def _that_fit(
    blocks: dict[str, FloatArray], most: int, rng: np.random.Generator
) -> dict[str, FloatArray]:
    """Whole columns, taken in a random order as long as they fit, in their own order."""
    names, kept, used = list(blocks), set(), 0
    for place in rng.permutation(len(names)):
        width = blocks[names[place]].shape[1]
        if used + width <= most:
            kept.add(names[place])
            used += width
    return {name: block for name, block in blocks.items() if name in kept}


def _number(value: str) -> float | None:
    """A finite number, NaN for a missing one, None for text."""
    if not value:
        return math.nan
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else math.nan


def _one_hot(values: Sequence[str]) -> FloatArray:
    names = sorted(set(values))
    return np.array([[float(value == name) for name in names] for value in values])
