"""The few smallest of many values, in time that grows with the logarithm of how few.

A max-heap holds the smallest values met so far; its top is the threshold that the next value
must undercut. Equal values are ordered by their item, so that the lowest index wins.
"""

from typing import cast

import numpy as np

from pickbest.core import FloatArray, IntArray
from pickbest.kernels.compiled import kernel

# What `filled` begins with. Not a plain 0: Numba takes that for a type of its own, and
# compiles everything that is called with it once more.
EMPTY = cast(int, np.int64(0))


@kernel
def keep_smallest(values: FloatArray, items: IntArray, filled: int, value: float, item: int) -> int:
    """Offer (value, item) to the heap, whose first `filled` places are in use; returns filled."""
    if filled < values.shape[0]:
        place = filled
        filled += 1
        while place > 0:
            parent = (place - 1) // 2
            if values[parent] < value or (values[parent] == value and items[parent] < item):
                values[place] = values[parent]
                items[place] = items[parent]
                place = parent
            else:
                break
        values[place] = value
        items[place] = item
    elif value < values[0] or (value == values[0] and item < items[0]):
        _sink(values, items, filled, value, item)
    return filled


@kernel
def sort_kept(values: FloatArray, items: IntArray) -> None:
    """Turn a full heap into ascending order."""
    for last in range(values.shape[0] - 1, 0, -1):
        value, item = values[last], items[last]
        values[last], items[last] = values[0], items[0]
        _sink(values, items, last, value, item)


@kernel
def _sink(values: FloatArray, items: IntArray, filled: int, value: float, item: int) -> None:
    """Replace the top by (value, item) and restore the heap's order."""
    place = 0
    while True:
        child = 2 * place + 1
        if child >= filled:
            break
        other = child + 1
        if other < filled and (
            values[other] > values[child]
            or (values[other] == values[child] and items[other] > items[child])
        ):
            child = other
        if values[child] > value or (values[child] == value and items[child] > item):
            values[place] = values[child]
            items[place] = items[child]
            place = child
        else:
            break
    values[place] = value
    items[place] = item
