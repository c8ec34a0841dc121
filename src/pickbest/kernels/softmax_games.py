"""Whole games of Hedge, Exp3, Exp3-IX and OG in one compiled loop.

Equal bit for bit to picking and learning round by round with `kernels.softmax`.
"""

from __future__ import annotations

import math

import numpy as np

from pickbest.core import FloatArray, KeyArray
from pickbest.kernels.compiled import kernel
from pickbest.kernels.random import round_key, slot_key
from pickbest.kernels.shared_slots import shared_weight
from pickbest.kernels.softmax import draw_share, fill_shares


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
    shared: bool,
    paid: FloatArray,
) -> None:
    """Games of OG, or of Hedge, Exp3 and Exp3-IX where there is one slot.

    gains is (slots, replicates, n_arms); fed_gains: estimates are of 1 - cost (Exp3), else
    of -cost. With distinct slots Exp3 learns nothing of taken arms: their gain is 0.
    """
    slots, replicates, n_arms = gains.shape
    arms = np.empty(slots, np.int64)
    weights = np.empty(slots)
    shares = np.empty((slots, n_arms))
    bases = np.empty(slots)
    taken = np.zeros(n_arms if distinct and slots > 1 else 0, np.bool_)
    for r in range(replicates):
        bases[:] = np.nan
        game = table[r if table.shape[0] > 1 else 0]
        for t in range(game.shape[0]):
            key = round_key(lasting[r], first_round + t)
            for a in range(taken.shape[0]):
                taken[a] = False
            for slot in range(slots):
                own = shares[slot]
                bases[slot] = fill_shares(gains[slot, r], taken, rate, bases[slot], own)
                arms[slot], weights[slot] = draw_share(
                    own, taken, mixing, implicit, slot_key(key, slot)
                )
                if taken.shape[0] > 0:
                    taken[arms[slot]] = True
            lowest = 1.0
            for slot in range(slots):
                if full:
                    for a in range(n_arms):
                        cost = game[t, a]
                        gains[slot, r, a] -= cost if slot == 0 else 1.0 - max(lowest - cost, 0.0)
                    bases[slot] = np.nan
                else:
                    known = (taken.shape[0] > 0 or shared) and not fed_gains
                    for j in range(0 if known else slot, slots if shared else slot + 1):
                        arm = arms[j]
                        cost = game[t, arm]
                        if slot > 0:
                            cost = 1.0 - max(lowest - cost, 0.0)
                        seen = 1.0 - cost if fed_gains else -cost
                        weight = weights[j] if j == slot else 1.0
                        if shared:
                            weight = shared_weight(arms, weights, slots, slot, j)
                        gains[slot, r, arm] += weight * seen
                        shares[slot, arm] = math.exp(rate * gains[slot, r, arm] - bases[slot])
                lowest = min(lowest, game[t, arms[slot]])
            paid[r, t] = lowest
