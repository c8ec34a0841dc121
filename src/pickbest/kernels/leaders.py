"""Perturbed leaders: Algorithm 1's pick, and the weights of its partial-feedback versions.

With U uniform, -ln U is Exp(1), so the arms with the smallest C_a - Exp/ε are those with the
smallest U_a · h_a, where h_a = exp(ε (C_a - C_ref)): one exponential per arm and round, and
none per redraw. C_ref is the budget-th smallest cost, so that neither the leaders' h (which
may underflow to 0) nor the laggards' (which may overflow to infinity) lose the order.
"""

from __future__ import annotations

import math

import numpy as np

from pickbest.game import BoolArray, FloatArray, IntArray, KeyArray
from pickbest.kernels.compiled import kernel
from pickbest.kernels.inclusion import inclusion_probabilities
from pickbest.kernels.random import STEP, uniform_at

# Where the weights come from.
EXACT, GEOMETRIC, EXPLORE = 0, 1, 2


@kernel
def smallest(values: FloatArray, arms: IntArray, best: FloatArray) -> None:
    """The len(arms) smallest values, ascending, and where they stand; ties: lowest index."""
    size = arms.shape[0]
    for j in range(size):
        best[j] = np.inf
        arms[j] = -1
    filled = 0
    for a in range(values.shape[0]):
        value = values[a]
        if filled == size and not value < best[size - 1]:
            continue
        j = min(filled, size - 1)
        while j > 0 and value < best[j - 1]:
            best[j] = best[j - 1]
            arms[j] = arms[j - 1]
            j -= 1
        best[j] = value
        arms[j] = a
        filled = min(filled + 1, size)


@kernel
def fill_spread(
    costs: FloatArray,
    taken: BoolArray,
    epsilon: float,
    arms: IntArray,
    best: FloatArray,
    spread: FloatArray,
) -> None:
    """spread[a] = h_a = exp(ε (C_a - C_ref)); infinite where the arm is taken."""
    n_arms = costs.shape[0]
    for a in range(n_arms):
        spread[a] = np.inf if taken.shape[0] > 0 and taken[a] else costs[a]
    smallest(spread, arms, best)
    reference = best[arms.shape[0] - 1]
    for a in range(n_arms):
        spread[a] = math.exp(epsilon * (spread[a] - reference))


@kernel
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
    redrawn: IntArray,
    best: FloatArray,
    noisy: FloatArray,
    weights: FloatArray,
) -> None:
    """How many redraws until an arm is picked again, at most `cap` (Neu and Bartók 2013)."""
    budget = arms.shape[0]
    for j in range(budget):
        weights[j] = 0.0
    waiting = budget
    for k in range(1, cap):
        counter = draw_leaders(spread, counter, redrawn, best, noisy)
        for j in range(budget):
            if weights[j] == 0.0:
                for i in range(budget):
                    if redrawn[i] == arms[j]:
                        weights[j] = k
                        waiting -= 1
                        break
        if waiting == 0:
            return
    for j in range(budget):
        if weights[j] == 0.0:
            weights[j] = cap


@kernel
def explore_one(
    spread: FloatArray, counter: np.uint64, probability: float, arms: IntArray, weights: FloatArray
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
    free = 0
    for a in range(spread.shape[0]):
        if spread[a] < np.inf:
            free += 1
    counter += STEP
    skip = int(uniform_at(counter) * free)
    explored = 0
    for a in range(spread.shape[0]):
        if spread[a] < np.inf:
            if skip == 0:
                explored = a
                break
            skip -= 1
    place = budget - 1
    for j in range(budget):
        if arms[j] == explored:
            place = j
    for j in range(place, budget - 1):
        arms[j] = arms[j + 1]
    arms[budget - 1] = explored
    weights[budget - 1] = free / probability


@kernel
def pick_leaders(
    costs: FloatArray,
    taken: BoolArray,
    epsilon: FloatArray,
    keys: KeyArray,
    source: int,
    cap: int,
    probability: float,
    arms: IntArray,
    weights: FloatArray,
) -> None:
    """FPML's pick for every replicate, with the weights that `source` asks for.

    taken is (replicates, n_arms), or (replicates, 0) where no arm is taken.
    """
    n_arms = costs.shape[1]
    budget = arms.shape[1]
    spread = np.empty(n_arms)
    noisy = np.empty(n_arms)
    best = np.empty(budget)
    redrawn = np.empty(budget, np.int64)
    for r in range(costs.shape[0]):
        fill_spread(costs[r], taken[r], epsilon[r], arms[r], best, spread)
        counter = draw_leaders(spread, keys[r], arms[r], best, noisy)
        if source == EXACT:
            inclusion_probabilities(spread, arms[r], weights[r])
            for j in range(budget):
                weights[r, j] = 1.0 / weights[r, j]
        elif source == GEOMETRIC:
            geometric_weights(spread, counter, arms[r], cap, redrawn, best, noisy, weights[r])
        elif source == EXPLORE:
            explore_one(spread, counter, probability, arms[r], weights[r])


@kernel
def add_weighted(totals: FloatArray, arms: IntArray, weights: FloatArray, seen: FloatArray) -> None:
    """totals[r, arm] += weight · seen, for every picked arm."""
    for r in range(arms.shape[0]):
        for j in range(arms.shape[1]):
            totals[r, arms[r, j]] += weights[r, j] * seen[r, j]
