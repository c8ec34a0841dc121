"""Perturbed leaders whose weights are asked for, and what all perturbed leaders share.

Algorithm 1 ranks arms by ε C_a - Exp(1). Here an equal law is drawn: with U uniform, -ln U is
Exp(1), so the same arms have the smallest U_a · h_a with h_a = exp(ε C_a - base). That costs one
exponential for each arm whose estimate
changed, and none per redraw. The base is a multiple of BLOCK that the leader's ε C determines,
so that h stays as it is, bit for bit, while an arm's own estimate stays.
"""

import math
from typing import NamedTuple

import numpy as np

from pickbest.core import BoolArray, FloatArray, IntArray
from pickbest.kernels.compiled import allocating, exp_or_inf, inlined, kernel
from pickbest.kernels.heap import EMPTY, keep_smallest, sort_kept
from pickbest.kernels.random import STEP, uniform_at

BLOCK = 64.0
# With five bits a rank, a word has room for so many.
RANKS = 12
SMALLEST = 1e-300
# Up to so many arms, ranks are counted.
FEW = 24


class Scratch(NamedTuple):
    """Scratch of length n_arms: what arms are ranked by, and what ranking them needs."""

    values: FloatArray
    best: FloatArray


@allocating
def new_scratch(law: object, state: tuple[FloatArray, *tuple[object, ...]], budget: int) -> Scratch:
    """For states whose first field is (rows, n_arms)."""
    n_arms = state[0].shape[1]
    return Scratch(np.empty(n_arms), np.empty(n_arms))


@inlined
def smallest_counted(values: FloatArray, arms: IntArray, bits: int) -> bool:
    """As smallest, for few arms: to count how many are smaller has no branches, as sorting has.

    The order is kept in one word, `bits` for each rank. Values that are equal share a rank: then
    the answer is no.
    """
    n_arms = values.shape[0]
    pairs, order = 0, 0
    for a in range(n_arms):
        value = values[a]
        rank = 0
        for b in range(n_arms):
            rank += 1 if values[b] < value else 0
        pairs += rank
        order |= a << bits * (rank if bits == 4 else min(rank, RANKS))
    for j in range(arms.shape[0]):
        arms[j] = (order >> bits * j) & ((1 << bits) - 1)
    return bool(pairs == n_arms * (n_arms - 1) // 2)


@kernel
def smallest(values: FloatArray, arms: IntArray, best: FloatArray) -> None:
    """arms: where the len(arms) smallest values stand, ascending; ties: lowest index.

    best is scratch of the length of values.
    """
    n_arms, size = values.shape[0], arms.shape[0]
    if size == 1:
        lowest, arms[0] = values[0], 0
        for a in range(1, n_arms):
            if values[a] < lowest:
                lowest, arms[0] = values[a], a
        return
    if n_arms <= 16 and smallest_counted(values, arms, 4):
        return
    if 16 < n_arms <= FEW and size <= RANKS and smallest_counted(values, arms, 5):
        return
    heap = best[:size]
    filled = EMPTY
    for a in range(n_arms):
        filled = keep_smallest(heap, arms, filled, values[a], a)
    sort_kept(heap, arms)


@kernel
def fill_spread(
    costs: FloatArray,
    taken: BoolArray,
    epsilon: float,
    arms: IntArray,
    best: FloatArray,
    spread: FloatArray,
) -> float:
    """spread[a] = h_a, infinite where the arm is taken; returns the base."""
    n_arms, budget = costs.shape[0], arms.shape[0]
    lowest = np.inf
    for a in range(n_arms):
        if not (taken.shape[0] > 0 and taken[a]):
            lowest = min(lowest, epsilon * costs[a])
    base = float(np.floor(lowest / BLOCK) * BLOCK)
    within = 0
    for a in range(n_arms):
        spread[a] = exp_or_inf(epsilon * costs[a] - base)
        if taken.shape[0] > 0 and taken[a]:
            spread[a] = np.inf
        within += spread[a] < np.inf
    if within < budget:
        base = spread_far(costs, taken, epsilon, arms, best, spread)
    return base


@kernel
def spread_far(
    costs: FloatArray,
    taken: BoolArray,
    epsilon: float,
    arms: IntArray,
    best: FloatArray,
    spread: FloatArray,
) -> float:
    """As fill_spread, where arms that must be picked lie hundreds of orders behind the leader.

    The base is then the last of the leaders' ε C: those ahead are certain (h may be 0), those
    behind may be impossible (h may be infinite), and neither loses the order.
    """
    for a in range(costs.shape[0]):
        spread[a] = np.inf if taken.shape[0] > 0 and taken[a] else epsilon * costs[a]
    smallest(spread, arms, best)
    base = float(spread[arms[arms.shape[0] - 1]])
    for a in range(costs.shape[0]):
        spread[a] = exp_or_inf(spread[a] - base)
        # The reciprocal of a smaller number may be infinite.
        if spread[a] < SMALLEST:
            spread[a] = 0.0
    return base


@kernel
def refresh_spread(
    costs: FloatArray,
    taken: BoolArray,
    epsilon: float,
    base: float,
    kept: FloatArray,
    arms: IntArray,
    best: FloatArray,
    spread: FloatArray,
) -> float:
    """Fill spread from the h that are kept for this base, or anew; returns the base.

    NaN as a base says that nothing is kept.
    """
    n_arms = costs.shape[0]
    if not math.isnan(base):
        lowest = np.inf
        within = 0
        for a in range(n_arms):
            free = taken.shape[0] == 0 or not taken[a]
            spread[a] = kept[a] if free else np.inf
            within += 1 if spread[a] < np.inf else 0
            lowest = min(lowest, epsilon * costs[a] if free else np.inf)
        if within >= arms.shape[0] and np.floor(lowest / BLOCK) * BLOCK == base:
            return base
    base = fill_spread(costs, taken, epsilon, arms, best, spread)
    if taken.shape[0] > 0 or np.floor(base / BLOCK) * BLOCK != base:
        for a in range(n_arms):
            kept[a] = exp_or_inf(epsilon * costs[a] - base)
    else:
        for a in range(n_arms):
            kept[a] = spread[a]
    return base


@inlined
def draw_leaders(
    spread: FloatArray, counter: np.uint64, arms: IntArray, best: FloatArray, noisy: FloatArray
) -> np.uint64:
    """One pick: the arms with the smallest U_a · h_a. Returns the advanced counter."""
    for a in range(spread.shape[0]):
        counter += STEP
        noisy[a] = uniform_at(counter) * spread[a]
    smallest(noisy, arms, best)
    return counter


@kernel
def geometric_weights(
    spread: FloatArray,
    counter: np.uint64,
    arms: IntArray,
    cap: int,
    noisy: FloatArray,
    weights: FloatArray,
) -> None:
    """How many redraws until an arm is picked again, at most `cap` (Neu and Bartók 2013)."""
    n_arms, budget = spread.shape[0], arms.shape[0]
    for j in range(budget):
        weights[j] = 0.0
    waiting = budget
    for k in range(1, cap):
        for a in range(n_arms):
            counter += STEP
            noisy[a] = uniform_at(counter) * spread[a]
        # Only arms that still wait are ranked: they are few after some redraws.
        for j in range(budget):
            if weights[j] == 0.0:
                value = noisy[arms[j]]
                rank = 0
                for b in range(n_arms):
                    rank += 1 if noisy[b] < value else 0
                if rank < budget:
                    weights[j] = k
                    waiting -= 1
        if waiting == 0:
            return
    for j in range(budget):
        if weights[j] == 0.0:
            weights[j] = cap


@kernel
def explore_one(
    taken: BoolArray,
    counter: np.uint64,
    probability: float,
    n_arms: int,
    arms: IntArray,
    weights: FloatArray,
) -> None:
    """With the given probability the last arm is a uniform one, and only its cost is learned.

    If that arm leads already, it moves to the end, so the others stay the perturbed leaders.
    """
    budget = arms.shape[0]
    for j in range(budget):
        weights[j] = 0.0
    counter += STEP
    if uniform_at(counter) >= probability:
        return
    free = n_arms
    for a in range(taken.shape[0]):
        free -= taken[a]
    counter += STEP
    explored = int(uniform_at(counter) * free)
    for a in range(taken.shape[0]):
        # Count the free arms only: step over a taken one that stands at or before the aim.
        if taken[a] and a <= explored:
            explored += 1
    place = budget - 1
    for j in range(budget):
        if arms[j] == explored:
            place = j
    for j in range(place, budget - 1):
        arms[j] = arms[j + 1]
    arms[budget - 1] = explored
    weights[budget - 1] = free / probability
