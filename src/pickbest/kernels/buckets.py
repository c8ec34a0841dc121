"""Arms kept in buckets of similar weight, so that a pick touches only a few of them.

The weight of arm a is w_a = 2^-bits[a], where bits[a] = ε C_a / ln 2 is its cumulative cost in
bits: it only grows, and its difference to another arm's never over- or underflows. An arm's
key is floor(bits[a]), and its slot follows from the key:

- window: a bucket for each key in three blocks of 64 keys. The first block has the key of the
  budget-th heaviest arm, the reference, so at least 128 keys behind it are in the window: arms
  beyond have less than 2^-128 of its weight, and no machine lives to see one of them picked.
- heavy: the arms before the window, fewer than the budget.
- far: the arms behind the window, in a radix heap (Ahuja, Mehlhorn, Orlin and Tarjan 1990)
  over their block numbers. As weights only fall, the window only moves forward, and whenever
  it reaches a far slot, the arms there descend by at least one of 15 levels.

A slot is an array that doubles when it is full, in a pool that is compacted when it is
exhausted: on average constant work for an arm that moves, and 28 bytes an arm in all.

Kernels take one replicate's three arrays:

bits: (n_arms,), as above.
links: (links_size(n_arms),): where each arm stands in its slot, then the pool.
slots: (SLOTS_SIZE,): the window's first block, the reference, where in links the pool begins
    and its used part ends; for each slot where it begins, how many arms it has and has room
    for; for each window bucket the power sums Σ m^k, k = 1, …, POWERS, of the mantissas
    m = 2^(key - bits), in units of 1 / sum_scale(n_arms). As whole numbers these never drift:
    an arm takes away exactly what it brought.
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np
from numpy.typing import NDArray

from pickbest.core import FloatArray, IntArray
from pickbest.kernels.compiled import kernel
from pickbest.kernels.integrals import POWERS

LinkArray = NDArray[np.int32]

BLOCK = 64
BLOCKS = 3
WINDOW = BLOCKS * BLOCK
# Four blocks, so that the ring has room for the next block before the first is given up.
RING = 4 * BLOCK
HEAVY = RING
FAR = HEAVY + 1
DIGIT_BITS = 4
DIGITS = 1 << DIGIT_BITS
LEVELS = 15
SLOTS = FAR + LEVELS * DIGITS

# Offsets in the array `slots`: four single values, then a value for each slot.
BASE, REFERENCE, POOL, USED = 0, 1, 2, 3
FIRST = 4
COUNT = FIRST + SLOTS
ROOM = COUNT + SLOTS
SUMS = ROOM + SLOTS
SLOTS_SIZE = SUMS + RING * POWERS

# Added to what is called with an int32 or a constant, for which Numba would compile the callee
# once more than for int64.
WIDE = cast(int, np.int64(0))

SMALLEST_ROOM = 4
MOST_ARMS = 1 << 28
# From 2^52 bits on, neighbouring floats are a bit or more apart, and each is its own key.
_LINEAR = 2.0**52
_MOST_BITS = 1.7e308


def links_size(n_arms: int) -> int:
    """Places, and a pool where all slots can move to double rooms after a compaction."""
    return 5 * n_arms + 2 * SMALLEST_ROOM * SLOTS


@kernel
def sum_scale(n_arms: int) -> float:
    """What 1 is in the power sums: as fine as a sum of n_arms ones allows in 62 bits."""
    return math.ldexp(1.0, 62 - math.frexp(float(n_arms))[1])


@kernel
def key_of(bits: float) -> int:
    """A whole number that grows with `bits`, by at most 1 a bit."""
    if bits < _LINEAR:
        return int(bits)
    fraction, exponent = math.frexp(bits)
    return int(math.ldexp(fraction, 53)) + ((exponent - 53) << 52)


@kernel
def least_bits(key: int) -> float:
    """The smallest number of bits that has this key."""
    if key < 2.0 * _LINEAR:
        return float(key)
    exponent = (key >> 52) - 1
    return math.ldexp(float(key - (exponent << 52)), int(exponent))


@kernel
def mantissa(bits: float) -> float:
    """2^(key - bits), in (1/2, 1]."""
    return math.exp((np.floor(bits) - bits) * 0.6931471805599453)


@kernel
def fill(bits: FloatArray, links: LinkArray, slots: IntArray, budget: int) -> None:
    """Put every arm where its bits say, from nothing."""
    lowest = bits[0]
    for arm in range(1, bits.shape[0]):
        lowest = min(lowest, bits[arm])
    slots[:] = 0
    slots[BASE] = key_of(lowest) // BLOCK
    slots[POOL] = bits.shape[0]
    slots[USED] = bits.shape[0]
    for arm in range(bits.shape[0]):
        _enter(bits, links, slots, arm)
    settle(bits, links, slots, budget)


@kernel
def learn(
    bits: FloatArray, links: LinkArray, slots: IntArray, arms: IntArray, added: FloatArray
) -> None:
    """bits[arms[j]] += added[j], which must not be negative; as many arms as the budget."""
    for j in range(arms.shape[0]):
        arm = arms[j]
        later = min(bits[arm] + added[j], _MOST_BITS)
        old = slot_of(slots, bits[arm])
        new = slot_of(slots, later)
        if old < RING:
            _count_powers(bits, slots, old, arm, -1.0)
        bits[arm] = later
        if new != old:
            _remove(links, slots, old, arm)
            _append(links, slots, new, arm)
        if new < RING:
            _count_powers(bits, slots, new, arm, 1.0)
    settle(bits, links, slots, arms.shape[0])


@kernel
def settle(bits: FloatArray, links: LinkArray, slots: IntArray, budget: int) -> None:
    """Find the reference, and move the window forward until it begins with its block."""
    while True:
        begin = slots[BASE] * BLOCK
        met = slots[COUNT + HEAVY]
        key = begin - 1
        while met < budget and key + 1 < begin + WINDOW:
            key += 1
            met += slots[COUNT + key % RING]
        if met < budget:
            _leap(bits, links, slots)
        elif key >= begin + BLOCK:
            _step(bits, links, slots)
        else:
            slots[REFERENCE] = key
            return


@kernel
def slot_of(slots: IntArray, bits: float) -> int:
    """The slot of an arm with so many bits."""
    key = key_of(bits)
    block = key // BLOCK
    ahead = block - slots[BASE]
    if ahead < 0:
        return HEAVY
    if ahead < BLOCKS:
        return key % RING
    return _far_slot(block, slots[BASE] + BLOCKS)


@kernel
def _far_slot(block: int, frontier: int) -> int:
    """By level and value of the highest digit in which a block differs from the frontier.

    The frontier's own block is at level 0, so the slots of that level have one block each.
    """
    level = _level(block, frontier)
    return FAR + level * DIGITS + ((block >> (DIGIT_BITS * level)) & (DIGITS - 1))


@kernel
def _level(block: int, frontier: int) -> int:
    difference = (block ^ frontier) >> DIGIT_BITS
    level = 0
    while difference > 0:
        difference >>= DIGIT_BITS
        level += 1
    return level


@kernel
def _step(bits: FloatArray, links: LinkArray, slots: IntArray) -> None:
    """Move the window by one block; what is left in its first block becomes heavy."""
    base = slots[BASE]
    frontier = base + BLOCKS
    for key in range(base * BLOCK, (base + 1) * BLOCK):
        _drain(links, slots, key % RING)
    slots[BASE] = base + 1
    _scatter(bits, links, slots, FAR + (frontier & (DIGITS - 1)))
    # A carry in the frontier's digits opens a slot of a higher level.
    level = _level(frontier, frontier + 1)
    if level > 0:
        digit = ((frontier + 1) >> (DIGIT_BITS * level)) & (DIGITS - 1)
        _scatter(bits, links, slots, FAR + level * DIGITS + digit)


@kernel
def _leap(bits: FloatArray, links: LinkArray, slots: IntArray) -> None:
    """Begin the window at the first far block with arms; all that were in it become heavy."""
    for slot in range(RING):
        _drain(links, slots, slot)
    slot = FAR
    while slots[COUNT + slot] == 0:
        slot += 1
    first = slots[FIRST + slot]
    nearest = key_of(bits[links[first]]) // BLOCK
    for i in range(first, first + slots[COUNT + slot]):
        nearest = min(nearest, key_of(bits[links[i]]) // BLOCK)
    # First the frontier, so that arms of the higher levels find their slots relative to it.
    slots[BASE] = nearest - BLOCKS
    if slot >= FAR + DIGITS:
        _scatter(bits, links, slots, slot)
    for _ in range(BLOCKS):
        _step(bits, links, slots)


@kernel
def _drain(links: LinkArray, slots: IntArray, slot: int) -> None:
    """Make the arms of a window bucket heavy."""
    if slots[COUNT + slot] > 0:
        for k in range(POWERS):
            slots[SUMS + slot * POWERS + k] = 0
    while slots[COUNT + slot] > 0:
        slots[COUNT + slot] -= 1
        arm: int = links[slots[FIRST + slot] + slots[COUNT + slot]] + WIDE
        _append(links, slots, HEAVY + WIDE, arm)


@kernel
def _scatter(bits: FloatArray, links: LinkArray, slots: IntArray, slot: int) -> None:
    """Empty a far slot: each of its arms goes to a lower level, or into the window."""
    # From the end, because an arm that enters another slot may move this one in the pool.
    while slots[COUNT + slot] > 0:
        slots[COUNT + slot] -= 1
        arm: int = links[slots[FIRST + slot] + slots[COUNT + slot]] + WIDE
        _enter(bits, links, slots, arm)


@kernel
def _enter(bits: FloatArray, links: LinkArray, slots: IntArray, arm: int) -> None:
    slot = slot_of(slots, bits[arm])
    _append(links, slots, slot, arm)
    if slot < RING:
        _count_powers(bits, slots, slot, arm, 1.0)


@kernel
def _append(links: LinkArray, slots: IntArray, slot: int, arm: int) -> None:
    if slots[COUNT + slot] == slots[ROOM + slot]:
        _widen(links, slots, slot)
    links[slots[FIRST + slot] + slots[COUNT + slot]] = arm
    links[arm] = slots[COUNT + slot]
    slots[COUNT + slot] += 1


@kernel
def _remove(links: LinkArray, slots: IntArray, slot: int, arm: int) -> None:
    """Take an arm out of its slot; the slot's last arm takes its place."""
    slots[COUNT + slot] -= 1
    last = links[slots[FIRST + slot] + slots[COUNT + slot]]
    links[slots[FIRST + slot] + links[arm]] = last
    links[last] = links[arm]


@kernel
def _widen(links: LinkArray, slots: IntArray, slot: int) -> None:
    """Move a slot to a room twice as large at the end of the pool."""
    room = max(SMALLEST_ROOM, 2 * slots[COUNT + slot])
    if slots[USED] + room > links.shape[0]:
        _compact(links, slots)
    old, new = slots[FIRST + slot], slots[USED]
    for i in range(slots[COUNT + slot]):
        links[new + i] = links[old + i]
    slots[FIRST + slot] = new
    slots[ROOM + slot] = room
    slots[USED] = new + room


@kernel
def _compact(links: LinkArray, slots: IntArray) -> None:
    """Close the gaps in the pool. Places within slots stay, so no arm needs to be told."""
    used = slots[POOL]
    reached = -1
    while True:
        slot = -1
        nearest = links.shape[0]
        for other in range(SLOTS):
            if slots[ROOM + other] > 0 and reached < slots[FIRST + other] < nearest:
                slot, nearest = other, slots[FIRST + other]
        if slot < 0:
            break
        reached = nearest
        for i in range(slots[COUNT + slot]):
            links[used + i] = links[nearest + i]
        slots[FIRST + slot] = used
        slots[ROOM + slot] = slots[COUNT + slot]
        used += slots[COUNT + slot]
    slots[USED] = used


@kernel
def _count_powers(bits: FloatArray, slots: IntArray, slot: int, arm: int, sign: float) -> None:
    """Add an arm's powers to the sums of its bucket, or take exactly the same away."""
    base = mantissa(bits[arm])
    square = base * base
    fourth = square * square
    scale = sum_scale(bits.shape[0])
    # Four products at a time, because each waits for the one before it.
    first, second, third, last = scale * base, scale * square, scale * square * base, scale * fourth
    for place in range(SUMS + slot * POWERS, SUMS + (slot + 1) * POWERS, 4):
        slots[place] += int(sign * np.floor(first + 0.5))
        slots[place + 1] += int(sign * np.floor(second + 0.5))
        slots[place + 2] += int(sign * np.floor(third + 0.5))
        slots[place + 3] += int(sign * np.floor(last + 0.5))
        first *= fourth
        second *= fourth
        third *= fourth
        last *= fourth
