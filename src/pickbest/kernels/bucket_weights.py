"""Exact inclusion probabilities of arms picked from buckets; the time does not grow with N."""

from __future__ import annotations

import math

import numpy as np

from pickbest.core import FloatArray, IntArray
from pickbest.kernels.bucket_picks import level_for
from pickbest.kernels.buckets import (
    COUNT,
    FIRST,
    HEAVY,
    REFERENCE,
    SUMS,
    LinkArray,
    least_bits,
    slot_of,
    sum_scale,
)
from pickbest.kernels.compiled import kernel
from pickbest.kernels.integrals import (
    HEAVIEST_BITS,
    LIGHT,
    NONE,
    POWERS,
    enough_below,
    insert_edge,
    integrate,
)

_LN2 = 0.6931471805599453


@kernel
def inclusion(
    bits: FloatArray,
    links: LinkArray,
    slots: IntArray,
    filled: IntArray,
    n_filled: int,
    heft: FloatArray,
    arms: IntArray,
    out: FloatArray,
) -> None:
    """out[j] = P(arm arms[j] is picked); filled, n_filled and heft are from `list_filled`.

    Buckets that are heavy at the end of the range have few arms, which enter one by one; the
    others enter through their power sums.
    """
    budget = arms.shape[0]
    if budget == bits.shape[0]:
        for j in range(budget):
            out[j] = 1.0
        return
    reference = least_bits(slots[REFERENCE])
    end = level_for(enough_below(budget), n_filled, heft)
    n_heavy = 0
    n_others = slots[COUNT + HEAVY]
    while n_heavy < n_filled and heft[0, n_heavy] * end > LIGHT:
        n_others += slots[COUNT + filled[n_heavy]]
        n_heavy += 1

    mine, edges, others = np.empty(budget), np.empty(budget), np.empty(n_others)
    n_edges = NONE
    n_others = NONE
    for i in range(-1, n_heavy):
        slot = HEAVY if i < 0 else filled[i]
        for place in range(slots[FIRST + slot], slots[FIRST + slot] + slots[COUNT + slot]):
            weight = _scaled(reference - bits[links[place]], end)
            if weight > 1.0:
                n_edges = insert_edge(edges, n_edges, 1.0 / weight)
            others[n_others] = weight
            n_others += 1
            for j in range(budget):
                if arms[j] == links[place]:
                    n_others -= 1
                    break

    sums = np.zeros(POWERS)
    heaviest = 0.0
    unit = 1.0 / sum_scale(bits.shape[0])
    for i in range(n_heavy, n_filled):
        weight = heft[0, i] * end
        heaviest = max(heaviest, weight)
        power = unit
        for k in range(POWERS):
            power *= weight
            sums[k] += power * slots[SUMS + filled[i] * POWERS + k]
            # However many arms there are, the powers that follow do not matter.
            if power * slots[COUNT + filled[i]] < 1e-20 * unit:
                break
    for j in range(budget):
        mine[j] = _scaled(reference - bits[arms[j]], end)
        slot = slot_of(slots, bits[arms[j]])
        for i in range(n_heavy, n_filled):
            if filled[i] == slot:
                power = 1.0
                for k in range(POWERS):
                    power *= mine[j]
                    sums[k] -= power
                break
    integrate(mine, others, n_others, sums, heaviest, edges, n_edges, out)


@kernel
def _scaled(ahead: float, end: float) -> float:
    """The weight of an arm so many bits ahead, where the range of integration ends at 1."""
    return end * math.exp(_LN2 * min(ahead, HEAVIEST_BITS))
