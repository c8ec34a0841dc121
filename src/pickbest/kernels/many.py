"""Rounds of FPML-partial over arms in buckets; `kernels.buckets` explains the arrays."""

from __future__ import annotations

import numpy as np

from pickbest.core import FloatArray, IntArray, KeyArray
from pickbest.kernels.bucket_picks import draw, list_filled
from pickbest.kernels.bucket_weights import inclusion
from pickbest.kernels.buckets import WINDOW, LinkArray, learn
from pickbest.kernels.compiled import kernel


@kernel
def pick_many(
    bits: FloatArray,
    links: LinkArray,
    slots: IntArray,
    keys: KeyArray,
    weigh: bool,
    arms: IntArray,
    weights: FloatArray,
) -> None:
    """The picked arms of every replicate, and if `weigh` 1 / P(arm picked) for each."""
    filled, heft = np.empty(WINDOW, np.int64), np.empty((2, WINDOW))
    noisy = np.empty(arms.shape[1])
    for r in range(bits.shape[0]):
        n_filled = list_filled(slots[r], bits.shape[1], filled, heft)
        draw(bits[r], links[r], slots[r], keys[r], filled, n_filled, heft, noisy, arms[r])
        if weigh:
            inclusion(bits[r], links[r], slots[r], filled, n_filled, heft, arms[r], weights[r])
            for j in range(arms.shape[1]):
                weights[r, j] = 1.0 / weights[r, j]


@kernel
def learn_many(
    bits: FloatArray,
    links: LinkArray,
    slots: IntArray,
    bits_per_cost: float,
    arms: IntArray,
    weights: FloatArray,
    seen: FloatArray,
) -> bool:
    """Add weight · cost to every picked arm; False, and nothing added, if one is not >= 0."""
    added = np.empty(arms.shape)
    for r in range(arms.shape[0]):
        for j in range(arms.shape[1]):
            added[r, j] = bits_per_cost * weights[r, j] * seen[r, j]
            if not added[r, j] >= 0.0:
                return False
    for r in range(arms.shape[0]):
        learn(bits[r], links[r], slots[r], arms[r], added[r])
    return True
