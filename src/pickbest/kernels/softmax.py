"""Exponential weights, in the log domain: one arm for Hedge and Exp3, a subset for Exp3.M."""

from __future__ import annotations

import math

import numpy as np

from pickbest.core import (
    BoolArray,
    FloatArray,
    IntArray,
    KeyArray,
)
from pickbest.kernels.compiled import kernel
from pickbest.kernels.random import STEP, uniform_at

BLOCK = 64.0


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
def fill_shares(
    scores: FloatArray, taken: BoolArray, rate: float, base: float, shares: FloatArray
) -> float:
    """shares[a] = exp(rate · score - base), with the base that the best free arm determines.

    It is a multiple of BLOCK, so shares stay as they are, bit for bit, while scores do. If
    the given base is that one, shares are taken to be filled already. Returns the base.
    """
    highest = -np.inf
    if taken.shape[0] > 0:
        for a in range(scores.shape[0]):
            highest = max(highest, -np.inf if taken[a] else rate * scores[a])
    else:
        for a in range(scores.shape[0]):
            highest = max(highest, rate * scores[a])
    wanted = float(np.floor(highest / BLOCK) * BLOCK)
    if wanted != base:
        for a in range(scores.shape[0]):
            shares[a] = math.exp(rate * scores[a] - wanted)
    return wanted


@kernel
def draw_share(
    shares: FloatArray,
    taken: BoolArray,
    mixing: float,
    implicit: float,
    key: np.uint64,
) -> tuple[int, float]:
    """(arm, weight) from (1 - mixing) shares / total + mixing / n_arms, free arms only.

    weight = 1 / (probability + implicit): implicit exploration biases it down (Exp3-IX).
    """
    n_arms = shares.shape[0]
    total = 0.0
    for a in range(n_arms):
        total += shares[a]
    free_total, free = total, n_arms
    if taken.shape[0] > 0:
        free_total, free = 0.0, 0
        for a in range(n_arms):
            if not taken[a]:
                free_total += shares[a]
                free += 1
    # Without mixing, taken arms may hold all of the total: leave it out of the law then.
    scale = (1.0 - mixing) / total if mixing > 0.0 else 1.0 / free_total
    uniform_part = mixing * free / n_arms
    law_total = scale * free_total + uniform_part
    target = uniform_at(key + STEP) * law_total
    chosen = 0
    if target < uniform_part:
        chosen = int(target / uniform_part * free)
        for a in range(taken.shape[0]):
            if taken[a] and a <= chosen:
                chosen += 1
    else:
        target = (target - uniform_part) / scale
        for a in range(n_arms):
            if taken.shape[0] > 0 and taken[a]:
                continue
            chosen = a
            target -= shares[a]
            if target < 0.0:
                break
    law = (scale * shares[chosen] + mixing / n_arms) / law_total
    return chosen, 1.0 / (law + implicit)


@kernel
def pick_one_row(
    scores: FloatArray,
    taken: BoolArray,
    rate: float,
    mixing: float,
    implicit: float,
    key: np.uint64,
    shares: FloatArray,
) -> tuple[int, float]:
    """(arm, weight) of one replicate; shares is scratch."""
    fill_shares(scores, taken, rate, np.nan, shares)
    return draw_share(shares, taken, mixing, implicit, key)


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
    shares = np.empty(scores.shape[1])
    for r in range(scores.shape[0]):
        arms[r, 0], weights[r, 0] = pick_one_row(
            scores[r], taken[r], rate, mixing, implicit, keys[r], shares
        )


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
