"""Whole games of FPML, FPML-partial and OG_hybrid in one compiled loop.

Equal bit for bit to picking and learning round by round with `kernels.leaders`.
"""

from __future__ import annotations

import math

import numpy as np

from pickbest.core import FloatArray, IntArray, KeyArray
from pickbest.kernels.compiled import kernel
from pickbest.kernels.leaders import (
    BLOCK,
    COUNTED,
    NO_WEIGHTS,
    decayed,
    draw_leaders,
    draw_perturbed,
    fill_spread,
    weigh,
)
from pickbest.kernels.random import STEP, exponential_at, round_key, slot_key
from pickbest.kernels.shared_slots import shared_weight


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
    shared: bool,
    source: int,
    cap: int,
    probability: float,
    budget: int,
    paid: FloatArray,
) -> None:
    """Games of OG_hybrid, or of FPML and FPML-partial where there is one slot.

    totals is (slots, replicates, n_arms) and learned (slots, replicates); table is
    (replicates or 1, rounds, n_arms); budget is that of a slot; paid is filled.
    """
    slots, replicates, n_arms = totals.shape
    arms = np.empty((slots, budget), np.int64)
    weights = np.empty((slots, budget))
    best = np.empty(n_arms)
    noisy = np.empty(n_arms)
    spread = np.empty(n_arms)
    kept = np.empty((slots, n_arms))
    bases = np.empty(slots)
    taken = np.zeros(n_arms if distinct and slots > 1 else 0, np.bool_)
    for r in range(replicates):
        bases[:] = np.nan
        game = table[r if table.shape[0] > 1 else 0]
        for t in range(game.shape[0]):
            costs = game[t]
            key = round_key(lasting[r], first_round + t) if fresh else lasting[r]
            for a in range(taken.shape[0]):
                taken[a] = False
            for slot in range(slots):
                rate = decayed(epsilon, decay, learned[slot, r])
                own_key = slot_key(key, slot)
                chosen = arms[slot]
                if source == NO_WEIGHTS:
                    draw_perturbed(totals[slot, r], taken, rate, own_key, chosen, best, noisy)
                else:
                    if decay != 0.0:
                        bases[slot] = np.nan
                    bases[slot] = _refresh(
                        totals[slot, r], taken, rate, bases[slot], kept[slot], chosen, best, spread
                    )
                    counter = draw_leaders(spread, own_key, chosen, best, noisy)
                    weigh(
                        spread,
                        taken,
                        counter,
                        source,
                        cap,
                        probability,
                        chosen,
                        weights[slot],
                        noisy,
                    )
                if taken.shape[0] > 0:
                    for j in range(budget):
                        taken[chosen[j]] = True
            together = taken.shape[0] > 0
            paid[r, t] = _learn(
                totals[:, r], costs, arms, weights, full, together, shared, epsilon, bases, kept
            )
            for slot in range(slots):
                learned[slot, r] += 1


@kernel
def play_full(
    totals: FloatArray,
    learned: IntArray,
    table: FloatArray,
    lasting: KeyArray,
    first_round: int,
    epsilon: float,
    decay: float,
    fresh: bool,
    budget: int,
    paid: FloatArray,
) -> None:
    """Games of FPML (Algorithm 1): play_leaders for one slot that sees all costs, tighter.

    totals is (replicates, n_arms), learned (replicates,).
    """
    replicates, n_arms = totals.shape
    arms = np.empty(budget, np.int64)
    best = np.empty(n_arms)
    noisy = np.empty(n_arms)
    nobody = np.zeros(0, np.bool_)
    for r in range(replicates):
        own = totals[r]
        game = table[r if table.shape[0] > 1 else 0]
        for t in range(game.shape[0]):
            key = round_key(lasting[r], first_round + t) if fresh else lasting[r]
            rate = decayed(epsilon, decay, learned[r])
            lowest = 1.0
            pairs = -1
            if n_arms <= COUNTED:
                pairs = 0
                counter = key
                for a in range(n_arms):
                    counter += STEP
                    noisy[a] = rate * own[a] - exponential_at(counter)
                for a in range(n_arms):
                    value = noisy[a]
                    rank = 0
                    for b in range(n_arms):
                        rank += 1 if noisy[b] < value else 0
                    pairs += rank
                    lowest = min(lowest, game[t, a] if rank < budget else 1.0)
            if pairs != n_arms * (n_arms - 1) // 2:
                # Many arms, or equal values, which ranks by counting do not tell apart.
                draw_perturbed(own, nobody, rate, key, arms, best, noisy)
                lowest = 1.0
                for j in range(budget):
                    lowest = min(lowest, game[t, arms[j]])
            paid[r, t] = lowest
            for a in range(n_arms):
                own[a] += game[t, a]
            learned[r] += 1


@kernel
def _refresh(
    costs: FloatArray,
    taken: np.ndarray,
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
            kept[a] = math.exp(epsilon * costs[a] - base)
    else:
        for a in range(n_arms):
            kept[a] = spread[a]
    return base


@kernel
def _learn(
    totals: FloatArray,
    costs: FloatArray,
    arms: IntArray,
    weights: FloatArray,
    full: bool,
    distinct: bool,
    shared: bool,
    epsilon: float,
    bases: FloatArray,
    kept: FloatArray,
) -> float:
    """Feed every slot one minus what its arms add to the slots before; returns the cost paid."""
    slots, budget = arms.shape
    n_arms = totals.shape[1]
    all_arms, all_weights = arms.ravel(), weights.ravel()
    lowest = 1.0
    for slot in range(slots):
        own = totals[slot]
        if full:
            if slot == 0:
                for a in range(n_arms):
                    own[a] += costs[a]
            else:
                for a in range(n_arms):
                    own[a] += 1.0 - max(lowest - costs[a], 0.0)
        else:
            first = 0 if distinct or shared else slot * budget
            last = slots * budget if shared else (slot + 1) * budget
            for j in range(first, last):
                arm = all_arms[j]
                cost = costs[arm] if slot == 0 else 1.0 - max(lowest - costs[arm], 0.0)
                # What earlier slots took costs 1 here, with certainty.
                weight = all_weights[j] if j >= slot * budget else 1.0
                if shared:
                    weight = shared_weight(all_arms, all_weights, slots, slot, j)
                if weight * cost != 0.0:
                    own[arm] += weight * cost
                    kept[slot, arm] = math.exp(epsilon * own[arm] - bases[slot])
        for j in range(budget):
            lowest = min(lowest, costs[arms[slot, j]])
    return lowest
