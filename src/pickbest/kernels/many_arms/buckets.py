"""Arms kept in buckets of similar weight, so that a pick touches only a few of them.

The weight of arm a is w_a = 2^-bits[a], where bits[a] = ε C_a / ln 2 is its cumulative cost in
bits: it only grows, and its difference to another arm's never over- or underflows. An arm's
key is floor(bits[a]), and its bucket follows from the key:

- window: a bucket for each key in three blocks of 64 keys. The first block has the key of the
  budget-th heaviest arm, the reference, so at least 128 keys behind it are in the window: arms
  beyond have less than 2^-128 of its weight, and no machine lives to see one of them picked.
- heavy: the arms before the window, fewer than the budget.
- far: the arms behind the window, in a radix heap (Ahuja, Mehlhorn, Orlin and Tarjan 1990)
  over their block numbers. As weights only fall, the window only moves forward, and whenever
  it reaches a far bucket, the arms there descend by at least one of 15 levels.

A bucket is an array that doubles when it is full, in a pool that is compacted when it is
exhausted: on average constant work for an arm that moves, and 28 bytes an arm in all.

Kernels take the bits of one row, a replicate, and its buckets from `row_of`.
"""

import math
from typing import Annotated, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from pickbest.core import FloatArray, IntArray, PickbestError
from pickbest.core.states import derived
from pickbest.kernels.compiled import borrowing, kernel, part
from pickbest.kernels.integrals import POWERS

ArmArray = NDArray[np.int32]

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
N_BUCKETS = FAR + LEVELS * DIGITS

# Added to what is called with an int32 or a constant, for which Numba would compile the callee
# once more than for int64.
WIDE = cast(int, np.int64(0))

SMALLEST_ROOM = 4
LN2 = 0.6931471805599453
MOST_ARMS = 1 << 28
MOST_BITS = 1.7e308
# From 2^52 bits on, neighbouring floats are a bit or more apart, and each is its own key.
_LINEAR = 2.0**52


class Buckets(NamedTuple):
    """Where the arms of every row stand; all of it follows from their bits and the past.

    base: (rows,), the window's first block.
    reference: (rows,), the key of the budget-th heaviest arm.
    places: (rows, n_arms), where each arm stands in its bucket.
    pool: (rows, pool_size(n_arms)), the arms of one bucket after the other.
    used: (rows,), where the used part of the pool ends.
    first, size, room: (rows, N_BUCKETS), where in the pool a bucket begins, and how many arms
        it has and has room for. Buckets 0 to RING - 1 are the window's, by key modulo RING.
    sums: (rows, RING, POWERS), for each bucket of the window the power sums Σ m^k, k = 1, …,
        POWERS, of the mantissas m = 2^(key - bits), in units of 1 / sum_scale(n_arms). As whole
        numbers these never drift: an arm takes away exactly what it brought.
    """

    base: Annotated[IntArray, derived()]
    reference: Annotated[IntArray, derived()]
    places: Annotated[ArmArray, derived(-1)]
    pool: Annotated[ArmArray, derived()]
    used: Annotated[IntArray, derived()]
    first: Annotated[IntArray, derived()]
    size: Annotated[IntArray, derived()]
    room: Annotated[IntArray, derived()]
    sums: Annotated[IntArray, derived()]


def empty_buckets(rows: int, n_arms: int) -> Buckets:
    """Buckets without arms."""
    each, table = (rows,), (rows, N_BUCKETS)
    return Buckets(
        base=np.zeros(each, np.int64),
        reference=np.zeros(each, np.int64),
        places=np.zeros((rows, n_arms), np.int32),
        pool=np.zeros((rows, pool_size(n_arms)), np.int32),
        used=np.zeros(each, np.int64),
        first=np.zeros(table, np.int64),
        size=np.zeros(table, np.int64),
        room=np.zeros(table, np.int64),
        sums=np.zeros((rows, RING, POWERS), np.int64),
    )


def pool_size(n_arms: int) -> int:
    """Room for all buckets to move to double rooms after a compaction."""
    return 4 * n_arms + 2 * SMALLEST_ROOM * N_BUCKETS


def check_buckets(bits: FloatArray, buckets: Buckets) -> None:
    """Raise unless the buckets, from a file, are those of the bits: kernels trust every index.

    Which arms a bucket has follows from the bits; where they stand in the pool does not.
    """
    if bits.min() < 0.0 or bits.max() > MOST_BITS:
        raise PickbestError("the saved bits must be at least 0")
    for row in range(len(bits)):
        one = row_of(buckets, row)
        if not _fits_pool(one) or not _fits_bits(bits[row : row + 1], one):
            raise PickbestError("the saved buckets are not those of the saved bits")


def _fits_pool(one: Buckets) -> bool:
    """Whether rooms lie apart in the used part of the pool, and hold every arm once."""
    ends = one.first + one.room
    order = np.argsort(one.first, kind="stable")
    order = order[one.room[order] > 0]
    within = (
        0 <= one.used[0] <= len(one.pool)
        and np.all((one.first >= 0) & (one.first <= len(one.pool)))
        and np.all((one.size >= 0) & (one.size <= one.room) & (one.room <= len(one.pool)))
        and np.all(ends[order] <= one.used[0])
        and np.all(ends[order[:-1]] <= one.first[order[1:]])
        and one.size.sum() == len(one.places)
    )
    if not within:
        return False
    filled = np.flatnonzero(one.size)
    stands = np.concatenate([np.arange(n) for n in one.size[filled]])
    arms = one.pool[np.repeat(one.first[filled], one.size[filled]) + stands]
    each_once = np.array_equal(np.sort(arms), np.arange(len(one.places)))
    return each_once and np.array_equal(one.places[arms], stands)


def _fits_bits(bits: FloatArray, one: Buckets) -> bool:
    """Whether every arm is in the bucket of its bits, and the sums are theirs."""
    base = int(one.base[0])
    if not 0 <= base <= key_of(float(bits.max())) // BLOCK or one.reference[0] // BLOCK != base:
        return False
    for bucket in np.flatnonzero(one.size):
        arms = one.pool[one.first[bucket] : one.first[bucket] + one.size[bucket]]
        if any(bucket_of(base, bits[0, arm]) != bucket for arm in arms):
            return False
    again = np.zeros_like(one.sums)
    for arm, each in enumerate(bits[0]):
        own = bucket_of(base, each)
        if own < RING:
            _count_powers(bits[0], again[own], arm, 1.0)
    return np.array_equal(again, one.sums)


@part
def row_of(buckets: Buckets, row: int) -> Buckets:
    """The buckets of one row, without the axis of rows; what was (rows,) is (1,)."""
    one = slice(row, row + 1)
    return Buckets(
        buckets.base[one],
        buckets.reference[one],
        buckets.places[row],
        buckets.pool[row],
        buckets.used[one],
        buckets.first[row],
        buckets.size[row],
        buckets.room[row],
        buckets.sums[row],
    )


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
    return math.exp((np.floor(bits) - bits) * LN2)


@borrowing
def fill_buckets(bits: FloatArray, buckets: Buckets, budget: int) -> None:
    """Put the arms of every row into its empty buckets."""
    for row in range(bits.shape[0]):
        _fill_row(bits[row], row_of(buckets, row), budget)


@kernel
def _fill_row(bits: FloatArray, buckets: Buckets, budget: int) -> None:
    lowest = bits[0]
    for arm in range(1, bits.shape[0]):
        lowest = min(lowest, bits[arm])
    buckets.base[0] = key_of(lowest) // BLOCK
    for arm in range(bits.shape[0]):
        _enter(bits, buckets, arm)
    _settle(bits, buckets, budget)


@kernel
def add_bits(bits: FloatArray, buckets: Buckets, arms: IntArray, added: FloatArray) -> None:
    """bits[arms[j]] += added[j], which must not be negative; as many arms as the budget."""
    for j in range(arms.shape[0]):
        arm = arms[j]
        later = min(bits[arm] + added[j], MOST_BITS)
        old = bucket_of(buckets.base[0], bits[arm])
        new = bucket_of(buckets.base[0], later)
        if old < RING:
            _count_powers(bits, buckets.sums[old], arm, -1.0)
        bits[arm] = later
        if new != old:
            _remove(buckets, old, arm)
            _append(buckets, new, arm)
        if new < RING:
            _count_powers(bits, buckets.sums[new], arm, 1.0)
    _settle(bits, buckets, arms.shape[0])


@kernel
def _settle(bits: FloatArray, buckets: Buckets, budget: int) -> None:
    """Find the reference, and move the window forward until it begins with its block."""
    while True:
        begin = buckets.base[0] * BLOCK
        met = buckets.size[HEAVY]
        key = begin - 1
        while met < budget and key + 1 < begin + WINDOW:
            key += 1
            met += buckets.size[key % RING]
        if met < budget:
            _leap(bits, buckets)
        elif key >= begin + BLOCK:
            _step(bits, buckets)
        else:
            buckets.reference[0] = key
            return


@kernel
def bucket_of(base: int, bits: float) -> int:
    """The bucket of an arm with this many bits, where the window begins with block `base`."""
    key = key_of(bits)
    block = key // BLOCK
    ahead = block - base
    if ahead < 0:
        return HEAVY
    if ahead < BLOCKS:
        return key % RING
    return _far_bucket(block, base + BLOCKS)


@kernel
def _far_bucket(block: int, frontier: int) -> int:
    """By level and value of the highest digit in which a block differs from the frontier.

    The frontier's own block is at level 0, so the buckets of that level have one block each.
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
def _step(bits: FloatArray, buckets: Buckets) -> None:
    """Move the window by one block; what is left in its first block becomes heavy."""
    base = buckets.base[0]
    frontier = base + BLOCKS
    for key in range(base * BLOCK, (base + 1) * BLOCK):
        _drain(buckets, key % RING)
    buckets.base[0] = base + 1
    _scatter(bits, buckets, FAR + (frontier & (DIGITS - 1)))
    # A carry in the frontier's digits opens a bucket of a higher level.
    level = _level(frontier, frontier + 1)
    if level > 0:
        digit = ((frontier + 1) >> (DIGIT_BITS * level)) & (DIGITS - 1)
        _scatter(bits, buckets, FAR + level * DIGITS + digit)


@kernel
def _leap(bits: FloatArray, buckets: Buckets) -> None:
    """Begin the window at the first far block with arms; all that were in it become heavy."""
    for bucket in range(RING):
        _drain(buckets, bucket)
    bucket = FAR
    while buckets.size[bucket] == 0:
        bucket += 1
    first = buckets.first[bucket]
    nearest = key_of(bits[buckets.pool[first]]) // BLOCK
    for i in range(first, first + buckets.size[bucket]):
        nearest = min(nearest, key_of(bits[buckets.pool[i]]) // BLOCK)
    # First the frontier, so that arms of the higher levels find their buckets relative to it.
    buckets.base[0] = nearest - BLOCKS
    if bucket >= FAR + DIGITS:
        _scatter(bits, buckets, bucket)
    for _ in range(BLOCKS):
        _step(bits, buckets)


@kernel
def _drain(buckets: Buckets, bucket: int) -> None:
    """Make the arms of a bucket of the window heavy."""
    if buckets.size[bucket] > 0:
        for k in range(POWERS):
            buckets.sums[bucket, k] = 0
    while buckets.size[bucket] > 0:
        _append(buckets, HEAVY + WIDE, _pop(buckets, bucket))


@kernel
def _scatter(bits: FloatArray, buckets: Buckets, bucket: int) -> None:
    """Empty a far bucket: each of its arms goes to a lower level, or into the window."""
    while buckets.size[bucket] > 0:
        _enter(bits, buckets, _pop(buckets, bucket))


@kernel
def _enter(bits: FloatArray, buckets: Buckets, arm: int) -> None:
    bucket = bucket_of(buckets.base[0], bits[arm])
    _append(buckets, bucket, arm)
    if bucket < RING:
        _count_powers(bits, buckets.sums[bucket], arm, 1.0)


@kernel
def _append(buckets: Buckets, bucket: int, arm: int) -> None:
    if buckets.size[bucket] == buckets.room[bucket]:
        _widen(buckets, bucket)
    buckets.pool[buckets.first[bucket] + buckets.size[bucket]] = arm
    buckets.places[arm] = buckets.size[bucket]
    buckets.size[bucket] += 1


@kernel
def _pop(buckets: Buckets, bucket: int) -> int:
    """Take out the last arm: one that then enters another bucket may move this one."""
    buckets.size[bucket] -= 1
    arm: int = buckets.pool[buckets.first[bucket] + buckets.size[bucket]] + WIDE
    return arm


@kernel
def _remove(buckets: Buckets, bucket: int, arm: int) -> None:
    """Take an arm out of its bucket; the bucket's last arm takes its place."""
    last = _pop(buckets, bucket)
    buckets.pool[buckets.first[bucket] + buckets.places[arm]] = last
    buckets.places[last] = buckets.places[arm]


@kernel
def _widen(buckets: Buckets, bucket: int) -> None:
    """Move a bucket to a room twice as large at the end of the pool."""
    room = max(SMALLEST_ROOM, 2 * buckets.size[bucket])
    if buckets.used[0] + room > buckets.pool.shape[0]:
        _compact(buckets)
    old, new = buckets.first[bucket], buckets.used[0]
    for i in range(buckets.size[bucket]):
        buckets.pool[new + i] = buckets.pool[old + i]
    buckets.first[bucket] = new
    buckets.room[bucket] = room
    buckets.used[0] = new + room


@kernel
def _compact(buckets: Buckets) -> None:
    """Close the gaps in the pool. Places within buckets stay, so no arm needs to be told."""
    used = 0
    reached = -1
    while True:
        bucket = -1
        nearest = buckets.pool.shape[0]
        for other in range(N_BUCKETS):
            if buckets.room[other] > 0 and reached < buckets.first[other] < nearest:
                bucket, nearest = other, buckets.first[other]
        if bucket < 0:
            break
        reached = nearest
        for i in range(buckets.size[bucket]):
            buckets.pool[used + i] = buckets.pool[nearest + i]
        buckets.first[bucket] = used
        buckets.room[bucket] = buckets.size[bucket]
        used += buckets.size[bucket]
    buckets.used[0] = used


@kernel
def _count_powers(bits: FloatArray, sums: IntArray, arm: int, sign: float) -> None:
    """Add an arm's powers to the sums of its bucket, or take exactly the same away."""
    base = mantissa(bits[arm])
    square = base * base
    fourth = square * square
    scale = sum_scale(bits.shape[0])
    # Four products at a time, because each waits for the one before it.
    first, second, third, last = scale * base, scale * square, scale * square * base, scale * fourth
    for k in range(0, POWERS, 4):
        sums[k] += int(sign * np.floor(first + 0.5))
        sums[k + 1] += int(sign * np.floor(second + 0.5))
        sums[k + 2] += int(sign * np.floor(third + 0.5))
        sums[k + 3] += int(sign * np.floor(last + 0.5))
        first *= fourth
        second *= fourth
        third *= fourth
        last *= fourth
