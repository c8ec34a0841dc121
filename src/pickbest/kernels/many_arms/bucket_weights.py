"""Exact inclusion probabilities of arms picked from buckets; the time does not grow with N."""

import math

import numpy as np

from pickbest.core import FloatArray, IntArray
from pickbest.kernels.compiled import allocating, kernel
from pickbest.kernels.integrals import (
    HEAVIEST_BITS,
    LIGHT,
    NONE,
    POWERS,
    enough_below,
    insert_edge,
    integrate,
)
from pickbest.kernels.many_arms.bucket_picks import Filled, level_for
from pickbest.kernels.many_arms.buckets import HEAVY, LN2, Buckets, bucket_of, least_bits, sum_scale


@allocating
def bucket_inclusion(
    bits: FloatArray,
    buckets: Buckets,
    filled: Filled,
    n_filled: int,
    arms: IntArray,
    out: FloatArray,
) -> None:
    """out[j] = P(arm arms[j] is picked); filled and n_filled are from `list_filled`.

    Buckets that are heavy at the end of the range have few arms, which enter one by one; the
    others enter through their power sums.
    """
    budget = arms.shape[0]
    if budget == bits.shape[0]:
        for j in range(budget):
            out[j] = 1.0
        return
    reference = least_bits(buckets.reference[0])
    end = level_for(enough_below(budget), filled, n_filled)
    n_heavy = 0
    n_others = buckets.size[HEAVY]
    while n_heavy < n_filled and filled.most[n_heavy] * end > LIGHT:
        n_others += buckets.size[filled.bucket[n_heavy]]
        n_heavy += 1

    mine, edges, others = np.empty(budget), np.empty(budget), np.empty(n_others)
    n_edges = NONE
    n_others = NONE
    for i in range(-1, n_heavy):
        bucket = HEAVY if i < 0 else filled.bucket[i]
        first = buckets.first[bucket]
        for place in range(first, first + buckets.size[bucket]):
            weight = _scaled(reference - bits[buckets.pool[place]], end)
            if weight > 1.0:
                n_edges = insert_edge(edges, n_edges, 1.0 / weight)
            others[n_others] = weight
            n_others += 1
            for j in range(budget):
                if arms[j] == buckets.pool[place]:
                    n_others -= 1
                    break

    sums = np.zeros(POWERS)
    heaviest = 0.0
    unit = 1.0 / sum_scale(bits.shape[0])
    for i in range(n_heavy, n_filled):
        weight = filled.most[i] * end
        heaviest = max(heaviest, weight)
        power = unit
        for k in range(POWERS):
            power *= weight
            sums[k] += power * buckets.sums[filled.bucket[i], k]
            # However many arms there are, the powers that follow do not matter.
            if power * buckets.size[filled.bucket[i]] < 1e-20 * unit:
                break
    for j in range(budget):
        mine[j] = _scaled(reference - bits[arms[j]], end)
        bucket = bucket_of(buckets.base[0], bits[arms[j]])
        for i in range(n_heavy, n_filled):
            if filled.bucket[i] == bucket:
                power = 1.0
                for k in range(POWERS):
                    power *= mine[j]
                    sums[k] -= power
                break
    integrate(mine, others, n_others, sums, heaviest, edges, n_edges, out)


@kernel
def _scaled(ahead: float, end: float) -> float:
    """The weight of an arm this many bits ahead, where the range of integration ends at 1."""
    return end * math.exp(LN2 * min(ahead, HEAVIEST_BITS))
