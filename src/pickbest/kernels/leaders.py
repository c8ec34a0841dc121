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
from pickbest.kernels.random import STEP, round_key, slot_key, uniform_at

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
    redrawn: IntArray,
    best: FloatArray,
    spread: FloatArray,
    noisy: FloatArray,
) -> None:
    """FPML's pick for one replicate, with the weights that `source` asks for."""
    fill_spread(costs, taken, epsilon, arms, best, spread)
    counter = draw_leaders(spread, key, arms, best, noisy)
    if source == EXACT:
        inclusion_probabilities(spread, arms, weights)
        for j in range(arms.shape[0]):
            weights[j] = 1.0 / weights[j]
    elif source == GEOMETRIC:
        geometric_weights(spread, counter, arms, cap, redrawn, best, noisy, weights)
    elif source == EXPLORE:
        explore_one(spread, counter, probability, arms, weights)


@kernel
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
    budget = arms.shape[1]
    redrawn = np.empty(budget, np.int64)
    best = np.empty(budget)
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
            redrawn,
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


@kernel
def play_leaders(
    totals: FloatArray,
    learned: IntArray,
    table: FloatArray,
    lasting: KeyArray,
    first_round: int,
    epsilon: float,
    decay: float,
    fresh: bool,
    full: bool,
    distinct: bool,
    source: int,
    cap: int,
    probability: float,
    budget: int,
    paid: FloatArray,
) -> None:
    """Whole games of OG_hybrid, or of FPML where there is one slot.

    totals is (slots, replicates, n_arms) and learned (slots, replicates); table is
    (replicates or 1, rounds, n_arms); budget is that of a slot; paid is filled.
    """
    slots, replicates, n_arms = totals.shape
    arms = np.empty((slots, budget), np.int64)
    weights = np.empty((slots, budget))
    redrawn = np.empty(budget, np.int64)
    best = np.empty(budget)
    spread = np.empty(n_arms)
    noisy = np.empty(n_arms)
    taken = np.zeros(n_arms if distinct and slots > 1 else 0, np.bool_)
    for r in range(replicates):
        game = table[r if table.shape[0] > 1 else 0]
        for t in range(game.shape[0]):
            costs = game[t]
            key = round_key(lasting[r], first_round + t) if fresh else lasting[r]
            taken[:] = False
            for slot in range(slots):
                pick_row(
                    totals[slot, r],
                    taken,
                    decayed(epsilon, decay, learned[slot, r]),
                    slot_key(key, slot),
                    source,
                    cap,
                    probability,
                    arms[slot],
                    weights[slot],
                    redrawn,
                    best,
                    spread,
                    noisy,
                )
                if taken.shape[0] > 0:
                    for j in range(budget):
                        taken[arms[slot, j]] = True
            lowest = 1.0
            for slot in range(slots):
                own = totals[slot, r]
                if full:
                    for a in range(n_arms):
                        own[a] += costs[a] if slot == 0 else 1.0 - max(lowest - costs[a], 0.0)
                else:
                    for j in range(budget):
                        cost = costs[arms[slot, j]]
                        if slot > 0:
                            cost = 1.0 - max(lowest - cost, 0.0)
                        own[arms[slot, j]] += weights[slot, j] * cost
                    if taken.shape[0] > 0:
                        for earlier in range(slot):
                            for j in range(budget):
                                own[arms[earlier, j]] += 1.0
                learned[slot, r] += 1
                for j in range(budget):
                    lowest = min(lowest, costs[arms[slot, j]])
            paid[r, t] = lowest
