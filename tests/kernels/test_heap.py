"""The heap that keeps the few smallest of many values."""

from __future__ import annotations

import numpy as np
import pytest

from pickbest.kernels.heap import keep_smallest, sort_kept


@pytest.mark.parametrize("size", [1, 2, 7, 64])
def test_the_heap_keeps_the_smallest_and_breaks_ties_by_index(size):
    values = np.random.default_rng(size).integers(0, 40, 200).astype(float)
    kept, items = np.empty(size), np.empty(size, np.int64)
    filled = 0
    for item, value in enumerate(values):
        filled = keep_smallest(kept, items, filled, value, item)
    sort_kept(kept, items)
    expected = np.argsort(values, kind="stable")[:size]
    np.testing.assert_array_equal(items, expected)
    np.testing.assert_array_equal(kept, values[expected])
