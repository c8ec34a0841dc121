"""Perturbed leaders: Algorithm 1's pick, and the weights of its partial-feedback versions.

Where no weights are needed, arms are ranked by ε C_a - Exp(1), as Algorithm 1 says. With
weights, by an equal law: with U uniform, -ln U is Exp(1), so the same arms have the smallest
U_a · h_a with h_a = exp(ε C_a - base). That costs one exponential for each arm whose estimate
changed, and none per redraw. The base is a multiple of BLOCK that the leader's ε C determines,
so that h stays as it is, bit for bit, while an arm's own estimate stays.
"""

from __future__ import annotations

import math

import numpy as np

from pickbest.core import (
    BoolArray,
    FloatArray,
    IntArray,
    KeyArray,
)
from pickbest.kernels.compiled import kernel, part
from pickbest.kernels.heap import EMPTY, keep_smallest, sort_kept
from pickbest.kernels.inclusion import inclusion_probabilities
from pickbest.kernels.random import STEP, exponential_at, uniform_at

# Where the weights come from.
NO_WEIGHTS, EXACT, GEOMETRIC, EXPLORE = -1, 0, 1, 2
BLOCK = 64.0
# Up to this number of arms, counting how many are smaller beats sorting: it has no branches.
COUNTED = 24
SMALLEST = 1e-300


@kernel
def smallest(values: FloatArray, arms: IntArray, best: FloatArray) -> None:
    """arms: where the len(arms) smallest values stand, ascending; ties: lowest index.

    best is scratch of the length of values.
    """
    n_arms, size = values.shape[0], arms.shape[0]
    if n_arms <= COUNTED:
        pairs = 0
        for a in range(n_arms):
            value = values[a]
            rank = 0
            for b in range(n_arms):
                rank += 1 if values[b] < value else 0
            pairs += rank
            best[rank] = a
        if pairs == n_arms * (n_arms - 1) // 2:
            for j in range(size):
                arms[j] = int(best[j])
            return
        # Some values are equal and shared a rank: take the way that tells them apart.
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
        spread[a] = math.exp(epsilon * costs[a] - base)
        if taken.shape[0] > 0 and taken[a]:
            spread[a] = np.inf
        within += spread[a] < np.inf
    if within < budget:
        base = _spread_far(costs, taken, epsilon, arms, best, spread)
    return base


@kernel
def _spread_far(
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
        spread[a] = math.exp(spread[a] - base)
        # The reciprocal of a smaller number may be infinite.
        if spread[a] < SMALLEST:
            spread[a] = 0.0
    return base


@part
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
def draw_perturbed(
    costs: FloatArray,
    taken: BoolArray,
    epsilon: float,
    counter: np.uint64,
    arms: IntArray,
    best: FloatArray,
    noisy: FloatArray,
) -> None:
    """Algorithm 1, steps 1 to 3, in units of 1 / ε."""
    for a in range(costs.shape[0]):
        counter += STEP
        noisy[a] = epsilon * costs[a] - exponential_at(counter)
    if taken.shape[0] > 0:
        for a in range(costs.shape[0]):
            if taken[a]:
                noisy[a] = np.inf
    smallest(noisy, arms, best)


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


@part
def weigh(
    spread: FloatArray,
    taken: BoolArray,
    counter: np.uint64,
    source: int,
    cap: int,
    probability: float,
    arms: IntArray,
    weights: FloatArray,
    noisy: FloatArray,
) -> None:
    """The weights of picked arms, from the source that was asked for."""
    if source == EXACT:
        inclusion_probabilities(spread, arms, weights)
        for j in range(arms.shape[0]):
            weights[j] = 1.0 / weights[j]
    elif source == GEOMETRIC:
        geometric_weights(spread, counter, arms, cap, noisy, weights)
    elif source == EXPLORE:
        explore_one(taken, counter, probability, spread.shape[0], arms, weights)


@kernel
def pick_row(
    costs: FloatArray,
    taken: BoolArray,
    epsilon: float,
    key: np.uint64,
    source: int,
    cap: int,
    probability: float,
    arms: IntArray,
    weights: FloatArray,
    best: FloatArray,
    spread: FloatArray,
    noisy: FloatArray,
) -> None:
    """FPML's pick for one replicate, with the weights that `source` asks for."""
    if source == NO_WEIGHTS:
        draw_perturbed(costs, taken, epsilon, key, arms, best, noisy)
        return
    fill_spread(costs, taken, epsilon, arms, best, spread)
    counter = draw_leaders(spread, key, arms, best, noisy)
    weigh(spread, taken, counter, source, cap, probability, arms, weights, noisy)


@part
def decayed(epsilon: float, decay: float, learned: int) -> float:
    """epsilon of the round after `learned` ones."""
    return epsilon if decay == 0.0 else epsilon * (learned + 1.0) ** -decay


@kernel
def pick_leaders(
    costs: FloatArray,
    learned: IntArray,
    taken: BoolArray,
    keys: KeyArray,
    epsilon: float,
    decay: float,
    source: int,
    cap: int,
    probability: float,
    arms: IntArray,
    weights: FloatArray,
) -> None:
    """FPML's pick for every replicate.

    taken is (replicates, n_arms), or (replicates, 0) where no arm is taken.
    """
    best = np.empty(costs.shape[1])
    spread = np.empty(costs.shape[1])
    noisy = np.empty(costs.shape[1])
    for r in range(costs.shape[0]):
        pick_row(
            costs[r],
            taken[r],
            decayed(epsilon, decay, learned[r]),
            keys[r],
            source,
            cap,
            probability,
            arms[r],
            weights[r],
            best,
            spread,
            noisy,
        )


@kernel
def add_weighted(totals: FloatArray, arms: IntArray, weights: FloatArray, seen: FloatArray) -> None:
    """totals[r, arm] += weight · seen, for every picked arm."""
    for r in range(arms.shape[0]):
        for j in range(arms.shape[1]):
            totals[r, arms[r, j]] += weights[r, j] * seen[r, j]


@kernel
def learn_picked(
    totals: FloatArray, learned: IntArray, arms: IntArray, weights: FloatArray, seen: FloatArray
) -> None:
    """FPML-partial's update: weighted costs of the picked arms, and one more round."""
    add_weighted(totals, arms, weights, seen)
    for r in range(learned.shape[0]):
        learned[r] += 1


@kernel
def learn_all(totals: FloatArray, learned: IntArray, seen: FloatArray) -> None:
    """FPML's update (Algorithm 1, step 4), and one more round."""
    for r in range(learned.shape[0]):
        for a in range(totals.shape[1]):
            totals[r, a] += seen[r, a]
        learned[r] += 1
