"""Full feedback over many arms: one pass over memory updates the costs and finds the leaders.

The pass keeps the lowest cost of every block of arms. With s_a = ε C_a + ln U_a, FPML picks the
arms with the smallest s, and P(s_a < θ) = exp(θ - ε C_a) is for no arm of a block greater than
for its lowest cost. So once the budget is filled and θ is the largest s kept, jumps that meet
each arm with that chance pass through the blocks, and only the few arms that they meet are
drawn. Blocks with the lowest costs come first, so that θ is low from the beginning.
"""

import math
from typing import NamedTuple

import numpy as np

from pickbest.core import BoolArray, FloatArray, IntArray
from pickbest.kernels.compiled import allocating, kernel
from pickbest.kernels.heap import EMPTY, keep_smallest, sort_kept
from pickbest.kernels.many_arms.bucket_picks import stretch_of
from pickbest.kernels.random import STEP, uniform_at

ARMS_PER_BLOCK = 512
# No uniform number of ours is below exp(-NEVER).
NEVER = 38.0
_ALL_BUT_SIGN = np.int64((1 << 63) - 1)


def block_minima(costs: FloatArray) -> FloatArray:
    """(rows, blocks): the lowest cost of each block."""
    begins = np.arange(0, costs.shape[1], ARMS_PER_BLOCK)
    lowest: FloatArray = np.minimum.reduceat(costs, begins, axis=1)
    return lowest


@kernel
def add_costs(costs: FloatArray, seen: FloatArray, lowest: FloatArray) -> None:
    """costs += seen, and lowest[b] = the lowest cost in block b; all of one row.

    Read as whole numbers, with all but the sign flipped where it is set, floats keep their
    order; and a minimum of whole numbers compiles to vector instructions: 2.5 times faster.
    """
    words, least_words = costs.view(np.int64), lowest.view(np.int64)
    n_arms = costs.shape[0]
    # This bound shows the compiler that no index is negative or too large; without it, it
    # uses no vector instructions either.
    for block in range(n_arms // ARMS_PER_BLOCK):
        least = _ALL_BUT_SIGN
        for a in range(block * ARMS_PER_BLOCK, block * ARMS_PER_BLOCK + ARMS_PER_BLOCK):
            costs[a] += seen[a]
            word = words[a]
            least = min(least, word ^ ((word >> 63) & _ALL_BUT_SIGN))
        least_words[block] = least ^ ((least >> 63) & _ALL_BUT_SIGN)
    last = n_arms // ARMS_PER_BLOCK
    if last < lowest.shape[0]:
        lowest[last] = np.inf
        for a in range(last * ARMS_PER_BLOCK, n_arms):
            costs[a] += seen[a]
            lowest[last] = min(lowest[last], costs[a])


class BlockWork(NamedTuple):
    """Scratch of a pick.

    first, least: the blocks with the lowest costs, at most the budget's number, and these costs.
    noisy: (budget,), s of the arms kept so far. visited: (blocks,).
    """

    first: IntArray
    least: FloatArray
    noisy: FloatArray
    visited: BoolArray


@allocating
def block_work(blocks: int, budget: int) -> BlockWork:
    """Scratch for this number of blocks and of arms to pick."""
    few = min(blocks, budget)
    return BlockWork(
        np.empty(few, np.int64), np.empty(few), np.empty(budget), np.empty(blocks, np.bool_)
    )


@kernel
def pick_from_blocks(
    costs: FloatArray,
    lowest: FloatArray,
    epsilon: float,
    key: np.uint64,
    work: BlockWork,
    arms: IntArray,
) -> None:
    """FPML's pick of one row, ascending by s; `lowest` is that of `add_costs`."""
    first, least, noisy = work.first, work.least, work.noisy
    blocks = lowest.shape[0]
    kept = EMPTY
    for block in range(blocks):
        work.visited[block] = False
        kept = keep_smallest(least, first, kept, lowest[block], block)
    sort_kept(least, first)
    found = EMPTY
    counter = key + STEP
    jump = -math.log(uniform_at(counter))
    for i in range(first.shape[0] + blocks):
        block = first[i] if i < first.shape[0] else i - first.shape[0]
        if work.visited[block]:
            continue
        work.visited[block] = True
        behind = epsilon * (lowest[block] - least[0])
        if found == noisy.shape[0] and noisy[0] < behind:
            passed = ARMS_PER_BLOCK * _stretch(noisy[0] - behind)
            if jump >= passed and (block + 1) * ARMS_PER_BLOCK <= costs.shape[0]:
                jump -= passed
                continue
        counter, jump, found = _visit(
            costs, block, behind, least[0], epsilon, counter, jump, noisy, arms, found
        )
    sort_kept(noisy, arms)


@kernel
def _visit(
    costs: FloatArray,
    block: int,
    behind: float,
    reference: float,
    epsilon: float,
    counter: np.uint64,
    jump: float,
    noisy: FloatArray,
    arms: IntArray,
    found: int,
) -> tuple[np.uint64, float, int]:
    """Offer the arms of a block to the heap; `behind` is ε (its lowest cost - reference)."""
    budget = noisy.shape[0]
    a = block * ARMS_PER_BLOCK
    end = min(a + ARMS_PER_BLOCK, costs.shape[0])
    # How far θ is below an arm with the block's lowest cost, and what a jump takes to pass it.
    level = min(0.0, noisy[0] - behind) if found == budget else 0.0
    stretch = _stretch(level)
    while a < end:
        if level < 0.0:
            if jump >= stretch * (end - a):
                jump -= stretch * (end - a)
                break
            a = min(a + int(jump / stretch), end - 1)
            counter += STEP
            jump = -math.log(uniform_at(counter))
        value = epsilon * (costs[a] - reference) + level
        if found < budget or value - NEVER < noisy[0]:
            counter += STEP
            value += math.log(uniform_at(counter))
            if found < budget or value < noisy[0]:
                found = keep_smallest(noisy, arms, found, value, a)
                if found == budget:
                    level = min(0.0, noisy[0] - behind)
                    stretch = _stretch(level)
        a += 1
    return counter, jump, found


@kernel
def _stretch(level: float) -> float:
    """Minus the logarithm of the chance that an arm's noise is not below `level`."""
    return stretch_of(math.exp(level))
