"""Slots that share their feedback: the weight of an arm in a slot other than its own."""

from __future__ import annotations

from pickbest.core import FloatArray, IntArray
from pickbest.kernels.compiled import kernel


@kernel
def shared_weight(arms: IntArray, weights: FloatArray, slots: int, slot: int, column: int) -> float:
    """The weight in `slot` of the arm in a column, with all arms of the round in slot order.

    0 where the arm occurs in a column before. See learners.greedy.Greedy.shared.
    """
    for before in range(column):
        if arms[before] == arms[column]:
            return 0.0
    own_slot = column * slots // arms.shape[0]
    if own_slot < slot:
        return 1.0
    return float((weights[column] + (slots - 1 - own_slot)) / (slots - slot))
