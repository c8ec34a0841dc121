"""Exponential weights, in the log domain: one arm for Hedge and Exp3, a subset for Exp3.M."""

from __future__ import annotations

import math

import numpy as np

from pickbest.game import BoolArray, FloatArray, IntArray, KeyArray
from pickbest.kernels.compiled import kernel
from pickbest.kernels.random import STEP, round_key, slot_key, uniform_at


@kernel
def softmax(scores: FloatArray, rate: float, out: FloatArray) -> None:
    """out ∝ exp(rate · scores), summing to 1; the largest score never overflows."""
    highest = scores[0]
    for a in range(1, scores.shape[0]):
        highest = max(highest, scores[a])
    total = 0.0
    for a in range(scores.shape[0]):
        out[a] = math.exp(rate * (scores[a] - highest))
        total += out[a]
    for a in range(scores.shape[0]):
        out[a] /= total


@kernel
def pick_one_row(
    scores: FloatArray,
    taken: BoolArray,
    rate: float,
    mixing: float,
    implicit: float,
    key: np.uint64,
    law: FloatArray,
) -> tuple[int, float]:
    """(arm, weight) of one replicate, from (1 - mixing) softmax + mixing / n_arms, free arms only.

    weight = 1 / (probability + implicit): implicit exploration biases it down (Exp3-IX).
    """
    n_arms = scores.shape[0]
    softmax(scores, rate, law)
    total = 0.0
    for a in range(n_arms):
        if taken.shape[0] > 0 and taken[a]:
            law[a] = 0.0
        else:
            # The floor keeps a free arm choosable when all heavier ones are taken.
            law[a] = max((1.0 - mixing) * law[a] + mixing / n_arms, 1e-300)
            total += law[a]
    target = uniform_at(key + STEP) * total
    chosen = 0
    for a in range(n_arms):
        if law[a] > 0.0:
            chosen = a
            target -= law[a]
            if target < 0.0:
                break
    return chosen, 1.0 / (law[chosen] / total + implicit)


@kernel
def pick_one(
    scores: FloatArray,
    taken: BoolArray,
    keys: KeyArray,
    rate: float,
    mixing: float,
    implicit: float,
    arms: IntArray,
    weights: FloatArray,
) -> None:
    """One arm for every replicate; taken is (replicates, n_arms), or (replicates, 0)."""
    law = np.empty(scores.shape[1])
    for r in range(scores.shape[0]):
        arms[r, 0], weights[r, 0] = pick_one_row(
            scores[r], taken[r], rate, mixing, implicit, keys[r], law
        )


@kernel
def play_one(
    gains: FloatArray,
    table: FloatArray,
    lasting: KeyArray,
    first_round: int,
    rate: float,
    mixing: float,
    implicit: float,
    full: bool,
    fed_gains: bool,
    distinct: bool,
    paid: FloatArray,
) -> None:
    """Whole games of OG, or of Hedge, Exp3 and Exp3-IX where there is one slot.

    gains is (slots, replicates, n_arms); fed_gains: estimates are of 1 - cost (Exp3), else
    of -cost. With distinct slots Exp3 learns nothing of taken arms: their gain is 0.
    """
    slots, replicates, n_arms = gains.shape
    arms = np.empty(slots, np.int64)
    weights = np.empty(slots)
    law = np.empty(n_arms)
    taken = np.zeros(n_arms if distinct and slots > 1 else 0, np.bool_)
    for r in range(replicates):
        game = table[r if table.shape[0] > 1 else 0]
        for t in range(game.shape[0]):
            costs = game[t]
            key = round_key(lasting[r], first_round + t)
            taken[:] = False
            for slot in range(slots):
                arms[slot], weights[slot] = pick_one_row(
                    gains[slot, r], taken, rate, mixing, implicit, slot_key(key, slot), law
                )
                if taken.shape[0] > 0:
                    taken[arms[slot]] = True
            lowest = 1.0
            for slot in range(slots):
                own = gains[slot, r]
                if full:
                    for a in range(n_arms):
                        own[a] -= costs[a] if slot == 0 else 1.0 - max(lowest - costs[a], 0.0)
                else:
                    cost = costs[arms[slot]]
                    if slot > 0:
                        cost = 1.0 - max(lowest - cost, 0.0)
                    own[arms[slot]] += weights[slot] * (1.0 - cost if fed_gains else -cost)
                    if taken.shape[0] > 0 and not fed_gains:
                        for earlier in range(slot):
                            own[arms[earlier]] -= 1.0
                lowest = min(lowest, costs[arms[slot]])
            paid[r, t] = lowest


@kernel
def capped_law(scores: FloatArray, mixing: float, budget: int, law: FloatArray) -> None:
    """Exp3.M's inclusion probabilities: they sum to the budget, none above 1.

    Weights above a threshold are cut to it, so that the cut arms get probability exactly 1
    (Uchiya, Nakamura and Kudo 2010, Algorithm Exp3.M).
    """
    n_arms = scores.shape[0]
    if budget == n_arms or mixing == 1.0:
        for a in range(n_arms):
            law[a] = budget / n_arms
        return
    # The share of the cut weights at which an arm has probability exactly 1.
    limit = (1.0 / budget - mixing / n_arms) / (1.0 - mixing)
    order = np.argsort(-scores)
    for cut in range(budget):
        # Shares among the arms that are not cut, relative to the largest of them: nothing
        # cancels and nothing underflows, however far ahead the cut arms are.
        total = 0.0
        for i in range(cut, n_arms):
            law[order[i]] = math.exp(scores[order[i]] - scores[order[cut]])
            total += law[order[i]]
        left = 1.0 - cut * limit
        if left / total < limit or cut == budget - 1:
            for i in range(cut, n_arms):
                share = min(left * law[order[i]] / total, limit)
                law[order[i]] = budget * ((1.0 - mixing) * share + mixing / n_arms)
            return
        law[order[cut]] = 1.0


@kernel
def dependent_rounding(law: FloatArray, counter: np.uint64, arms: IntArray) -> None:
    """A subset whose inclusion probabilities are exactly `law` (DepRound, Gandhi et al. 2006)."""
    left = law.copy()
    n_arms = law.shape[0]
    i = 0
    for j in range(1, n_arms):
        # Arm i is the one still undecided; settle it or arm j.
        if left[i] <= 1e-12 or left[i] >= 1.0 - 1e-12:
            i = j
            continue
        if left[j] <= 1e-12 or left[j] >= 1.0 - 1e-12:
            continue
        up = min(1.0 - left[i], left[j])
        down = min(left[i], 1.0 - left[j])
        counter += STEP
        if uniform_at(counter) * (up + down) < down:
            left[i] += up
            left[j] -= up
        else:
            left[i] -= down
            left[j] += down
        if left[i] <= 1e-12 or left[i] >= 1.0 - 1e-12:
            i = j
    # Rounding errors leave at most one arm undecided: the largest values are the subset.
    order = np.argsort(-left)
    for j in range(arms.shape[0]):
        arms[j] = order[j]


@kernel
def pick_capped(
    scores: FloatArray, mixing: float, keys: KeyArray, arms: IntArray, weights: FloatArray
) -> None:
    """Exp3.M's pick for every replicate; the weight of a cut arm is exactly 1."""
    law = np.empty(scores.shape[1])
    for r in range(scores.shape[0]):
        capped_law(scores[r], mixing, arms.shape[1], law)
        dependent_rounding(law, keys[r], arms[r])
        for j in range(arms.shape[1]):
            weights[r, j] = 1.0 / law[arms[r, j]]
