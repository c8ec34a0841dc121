"""Exponential weights in the log domain: what Hedge, AdaHedge and Exp3 share."""

import math
from typing import Annotated, NamedTuple

import numpy as np

from pickbest.core import BoolArray, FloatArray
from pickbest.core.states import sums
from pickbest.kernels.compiled import allocating, exp_or_inf, inlined, kernel
from pickbest.kernels.random import STEP, uniform_at
from pickbest.kernels.rules import Pick

BLOCK = 64.0


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
            shares[a] = exp_or_inf(rate * scores[a] - wanted)
    return wanted


@kernel
def draw_share(
    shares: FloatArray, taken: BoolArray, mixing: float, key: np.uint64
) -> tuple[int, float]:
    """(arm, weight) from (1 - mixing) shares / total + mixing / n_arms, free arms only.

    weight = 1 / probability.
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
    return chosen, 1.0 / law


class ShareLaw(NamedTuple):
    """P(arm) = (1 - mixing) softmax(rate · gains) + mixing / n_arms; see draw_share."""

    rate: float
    mixing: float


class ShareState(NamedTuple):
    """gains: cumulative gains, or their estimates; a cost counts as -cost, or as 1 - cost."""

    gains: Annotated[FloatArray, sums(-1)]


class ShareWork(NamedTuple):
    """shares, base: of every row (see fill_shares), from one round to the next; base is NaN where
    nothing is kept."""

    shares: FloatArray
    base: FloatArray


@allocating
def new_share_work(law: ShareLaw, state: ShareState, budget: int) -> ShareWork:
    return ShareWork(np.empty(state.gains.shape), np.full(state.gains.shape[0], np.nan))


@inlined
def pick_share(law: ShareLaw, state: ShareState, row: int, work: ShareWork, pick: Pick) -> None:
    """One arm, and its weight: the pick of Hedge and Exp3."""
    taken, key, arms, weights = pick.taken, pick.key, pick.arms, pick.weights
    shares = work.shares[row]
    work.base[row] = fill_shares(state.gains[row], taken, law.rate, work.base[row], shares)
    arms[0], weights[0] = draw_share(shares, taken, law.mixing, key)


@inlined
def add_gain(
    law: ShareLaw, state: ShareState, row: int, arm: int, gain: float, work: ShareWork
) -> None:
    """Add an estimated gain of one arm, and keep its share in step."""
    if gain != 0.0:
        state.gains[row, arm] += gain
        if not math.isnan(work.base[row]):
            scaled = law.rate * state.gains[row, arm]
            work.shares[row, arm] = exp_or_inf(scaled - work.base[row])
