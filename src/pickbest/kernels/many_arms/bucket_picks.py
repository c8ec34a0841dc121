"""FPML's pick from buckets: the arms with the smallest T_a = U_a / w_a.

Weights are relative to 2^-reference. Because P(T_a < t) = min(1, w_a t), the arms whose T lies
below a level are an independent thinning of each bucket: where no arm of a bucket is below
with more than probability p, jumps that meet each arm with probability p pass through the
bucket, and an arm that they meet draws its T given U < p. The level is such that a few more
arms than the budget are expected below it. If fewer are found, those between it and a higher
level follow, drawn given that they were not below. So the law is exactly FPML's, and only
a few arms are touched.
"""

import math
from typing import NamedTuple

import numpy as np

from pickbest.core import FloatArray, IntArray
from pickbest.kernels.compiled import allocating, kernel
from pickbest.kernels.heap import EMPTY, keep_smallest, sort_kept
from pickbest.kernels.many_arms.buckets import (
    BLOCK,
    HEAVY,
    LN2,
    RING,
    WIDE,
    WINDOW,
    Buckets,
    least_bits,
    mantissa,
    sum_scale,
)
from pickbest.kernels.random import STEP, uniform_at

# T of heavier arms underflows; they are all picked, so that their order does not matter.
_FURTHEST = 900.0


class Filled(NamedTuple):
    """The window's buckets that hold arms, heaviest first; each array is (WINDOW,).

    bucket: which they are.
    most: 2^(reference - key), which no arm of the bucket exceeds in weight.
    rest: the sum of all weights from this bucket on.
    """

    bucket: IntArray
    most: FloatArray
    rest: FloatArray


@allocating
def none_filled() -> Filled:
    """Arrays for `list_filled`."""
    return Filled(np.empty(WINDOW, np.int64), np.empty(WINDOW), np.empty(WINDOW))


@kernel
def list_filled(buckets: Buckets, filled: Filled) -> int:
    """List the window's buckets that hold arms; returns how many they are."""
    n_filled = 0
    begin = buckets.base[0] * BLOCK
    reference = least_bits(buckets.reference[0])
    for key in range(begin, begin + WINDOW):
        if buckets.size[key % RING] > 0:
            filled.bucket[n_filled] = key % RING
            # Keys beyond 2^53 may be any number of bits apart.
            ahead = min(max(reference - least_bits(key), -1100.0), _FURTHEST)
            filled.most[n_filled] = math.ldexp(1.0, int(ahead))
            n_filled += 1
    unit = 1.0 / sum_scale(buckets.places.shape[0])
    total = 0.0
    for i in range(n_filled - 1, -1, -1):
        total += buckets.sums[filled.bucket[i], 0] * unit * filled.most[i]
        if filled.most[i] == 1.0:
            # Heavy arms weigh more than 1: count them as if they were at the reference.
            total += buckets.size[HEAVY]
        filled.rest[i] = total
    return n_filled


@kernel
def level_for(target: float, filled: Filled, n_filled: int) -> float:
    """A level below which at least `target` arms are expected, or 2 if that is less.

    All arms up to the reference, at least the budget, have T < 2.
    """
    certain = 0.0
    for i in range(n_filled):
        level: float = (target - certain) / filled.rest[i]
        if level * filled.most[i] <= 1.0:
            return min(level, 2.0)
        rest = filled.rest[i + 1] if i + 1 < n_filled else 0.0
        # Of an arm with mantissa m, at least m is expected below a level beyond 1 / weight.
        certain += (filled.rest[i] - rest) / filled.most[i]
    return 2.0


@kernel
def draw(
    bits: FloatArray,
    buckets: Buckets,
    filled: Filled,
    n_filled: int,
    counter: np.uint64,
    noisy: FloatArray,
    arms: IntArray,
) -> None:
    """The arms with the smallest T, ascending, and their T in `noisy`."""
    budget = arms.shape[0]
    reference = least_bits(buckets.reference[0])
    found = EMPTY
    for i in range(buckets.size[HEAVY]):
        arm: int = buckets.pool[buckets.first[HEAVY] + i] + WIDE
        counter += STEP
        ahead = min(reference - bits[arm], _FURTHEST)
        value = uniform_at(counter) * math.exp(-LN2 * ahead)
        found = keep_smallest(noisy, arms, found, value, arm)
    low = 0.0
    high = level_for(budget + 3.0 * math.sqrt(budget), filled, n_filled)
    while True:
        counter, found = _draw_between(
            bits, buckets, filled, n_filled, counter, low, high, noisy, arms, found
        )
        # Heavy arms were found whatever their T: they may lie above arms that were not yet.
        if found == budget and noisy[0] <= high:
            break
        low = high
        high *= 2.0
    sort_kept(noisy, arms)


@kernel
def _draw_between(
    bits: FloatArray,
    buckets: Buckets,
    filled: Filled,
    n_filled: int,
    counter: np.uint64,
    low: float,
    high: float,
    noisy: FloatArray,
    arms: IntArray,
    found: int,
) -> tuple[np.uint64, int]:
    """Find the arms of the window with low <= T < high, given that all below were found.

    An arm is met where an arrival of a Poisson process falls into its stretch of the line, on
    which the buckets lie one behind the other: so one jump can pass many buckets.
    """
    counter += STEP
    jump = -math.log(uniform_at(counter))
    for i in range(n_filled):
        weight = filled.most[i]
        first, count = buckets.first[filled.bucket[i]], buckets.size[filled.bucket[i]]
        chance = 1.0
        stretch = 0.0
        if weight * high < 1.0:
            chance = weight * (high - low) / (1.0 - weight * low)
            stretch = stretch_of(chance)
        place = 0
        while place < count:
            if chance < 1.0:
                if jump >= stretch * (count - place):
                    jump -= stretch * (count - place)
                    break
                place = min(place + int(jump / stretch), count - 1)
                counter += STEP
                jump = -math.log(uniform_at(counter))
            arm: int = buckets.pool[first + place] + WIDE
            place += 1
            own = weight * mantissa(bits[arm])
            if own * low >= 1.0:
                continue
            counter += STEP
            value = low + uniform_at(counter) * chance * (1.0 - own * low) / own
            if value < high and not (low > 0.0 and _holds(arms, found, arm)):
                found = keep_smallest(noisy, arms, found, value, arm)
    return counter, found


@kernel
def stretch_of(chance: float) -> float:
    """-ln(1 - chance): the length in which a unit Poisson process arrives with this chance."""
    if chance < 1e-4:
        return chance * (1.0 + chance * (0.5 + chance * (1.0 / 3.0 + 0.25 * chance)))
    return -math.log1p(-chance) if chance < 1.0 else np.inf


@kernel
def _holds(arms: IntArray, found: int, arm: int) -> bool:
    held = False
    for j in range(found):
        held |= arms[j] == arm
    return held
