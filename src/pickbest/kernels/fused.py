"""Full feedback over many arms: one pass over memory updates the costs and finds the leaders.

The pass keeps the lowest cost of every block of arms. With s_a = ε C_a + ln U_a, FPML picks the
arms with the smallest s, and P(s_a < θ) = exp(θ - ε C_a) is for no arm of a block greater than
for its lowest cost. So once the budget is filled and θ is the largest s kept, jumps that meet
each arm with that chance pass through the blocks, and only the few arms that they meet are
drawn. Blocks with the lowest costs come first, so that θ is low from the beginning.
"""

from __future__ import annotations

import math

import numpy as np

from pickbest.core import FloatArray, IntArray, KeyArray
from pickbest.kernels.bucket_picks import stretch_of
from pickbest.kernels.compiled import kernel
from pickbest.kernels.heap import EMPTY, keep_smallest, sort_kept
from pickbest.kernels.random import STEP, uniform_at

ARMS_PER_BLOCK = 512
# No uniform number of ours is below exp(-NEVER).
NEVER = 38.0
_ALL_BUT_SIGN = np.int64((1 << 63) - 1)


def n_blocks(n_arms: int) -> int:
    """How many blocks so many arms make."""
    return -(-n_arms // ARMS_PER_BLOCK)


@kernel
def add_costs(costs: FloatArray, seen: FloatArray, lowest: FloatArray) -> None:
    """costs += seen, and lowest[r, b] = the lowest cost in block b of replicate r."""
    for r in range(costs.shape[0]):
        _add_row(costs[r], seen[r], lowest[r])


@kernel
def _add_row(costs: FloatArray, seen: FloatArray, lowest: FloatArray) -> None:
    """As `add_costs`, for one replicate.

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


@kernel
def pick_from_blocks(
    costs: FloatArray, lowest: FloatArray, epsilon: FloatArray, keys: KeyArray, arms: IntArray
) -> None:
    """FPML's pick for every replicate, ascending by s; `lowest` is that of `add_costs`."""
    blocks = lowest.shape[1]
    first = np.empty(min(blocks, arms.shape[1]), np.int64)
    least = np.empty(first.shape[0])
    noisy = np.empty(arms.shape[1])
    visited = np.empty(blocks, np.bool_)
    for r in range(costs.shape[0]):
        kept = EMPTY
        for block in range(blocks):
            visited[block] = False
            kept = keep_smallest(least, first, kept, lowest[r, block], block)
        sort_kept(least, first)
        found = EMPTY
        counter = keys[r] + STEP
        jump = -math.log(uniform_at(counter))
        for i in range(first.shape[0] + blocks):
            block = first[i] if i < first.shape[0] else i - first.shape[0]
            if visited[block]:
                continue
            visited[block] = True
            behind = epsilon[r] * (lowest[r, block] - least[0])
            if found == noisy.shape[0] and noisy[0] < behind:
                passed = ARMS_PER_BLOCK * stretch_of(math.exp(noisy[0] - behind))
                if jump >= passed and (block + 1) * ARMS_PER_BLOCK <= costs.shape[1]:
                    jump -= passed
                    continue
            counter, jump, found = _visit(
                costs[r], block, behind, least[0], epsilon[r], counter, jump, noisy, arms[r], found
            )
        sort_kept(noisy, arms[r])


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
    # The logarithm of the chance that an arm is met, and what a jump takes to pass an arm.
    log_chance = min(0.0, noisy[0] - behind) if found == budget else 0.0
    stretch = stretch_of(math.exp(log_chance))
    while a < end:
        if log_chance < 0.0:
            if jump >= stretch * (end - a):
                jump -= stretch * (end - a)
                break
            a = min(a + int(jump / stretch), end - 1)
            counter += STEP
            jump = -math.log(uniform_at(counter))
        value = epsilon * (costs[a] - reference) + log_chance
        if found < budget or value - NEVER < noisy[0]:
            counter += STEP
            value += math.log(uniform_at(counter))
            if found < budget or value < noisy[0]:
                found = keep_smallest(noisy, arms, found, value, a)
                if found == budget:
                    log_chance = min(0.0, noisy[0] - behind)
                    stretch = stretch_of(math.exp(log_chance))
        a += 1
    return counter, jump, found
