"""Greedy slots for independent costs: each slot learns what an arm adds to the slots before it.

gains and plays of one replicate are (budget, n_arms): sums over the rounds in which the slot
saw the arm.
"""

from __future__ import annotations

import math

import numpy as np

from pickbest.core import FloatArray, IntArray, KeyArray
from pickbest.kernels.compiled import kernel
from pickbest.kernels.random import gamma_from, round_key, slot_key


@kernel
def draw_slots(
    gains: FloatArray,
    plays: FloatArray,
    prior: float,
    sharpness: float,
    key: np.uint64,
    arms: IntArray,
) -> None:
    """Slot by slot, the unused arm with the largest Beta posterior draw of its gain."""
    budget, n_arms = gains.shape
    taken = np.zeros(n_arms, np.bool_)
    for slot in range(budget):
        counter = slot_key(key, slot)
        highest = np.nan
        for a in range(n_arms):
            if taken[a]:
                continue
            gain = gains[slot, a]
            # Sums are rounded: the difference of two equal ones may be below 0.
            rest = max(plays[slot, a] - gain, 0.0)
            counter, log_gain = gamma_from(counter, prior + sharpness * gain)
            counter, log_rest = gamma_from(counter, prior + sharpness * rest)
            # The log odds of a draw rise with it, and do not round to those of 0 or 1.
            odds = log_gain - log_rest
            if not odds <= highest:
                highest = odds
                arms[slot] = a
        taken[arms[slot]] = True


@kernel
def rank_slots(gains: FloatArray, plays: FloatArray, width: float, arms: IntArray) -> None:
    """Slot by slot, the unused arm with the largest upper bound of its gain; unplayed first."""
    budget, n_arms = gains.shape
    taken = np.zeros(n_arms, np.bool_)
    # The last slot sees one arm a round (and those of others), so its plays count the rounds.
    wide = width * math.log(1.0 + plays[budget - 1].sum())
    for slot in range(budget):
        highest = -1.0
        for a in range(n_arms):
            if taken[a]:
                continue
            number = plays[slot, a]
            bound = np.inf
            if number > 0.0:
                bound = gains[slot, a] / number + math.sqrt(wide / number)
            if bound > highest:
                highest = bound
                arms[slot] = a
        taken[arms[slot]] = True


@kernel
def share_results(
    gains: FloatArray, plays: FloatArray, discount: float, arms: IntArray, seen: FloatArray
) -> float:
    """Tell slot i of every arm in a slot ≥ i what it adds to the slots before i.

    Arms of slots before i are never free in slot i: it learns nothing of them. Arms beyond
    the budget, which others ran, inform all slots. Returns the smallest cost of the slots.
    """
    budget, n_arms = gains.shape
    if discount < 1.0:
        for slot in range(budget):
            for a in range(n_arms):
                gains[slot, a] *= discount
                plays[slot, a] *= discount
    lowest = 1.0
    for slot in range(min(budget, arms.shape[0])):
        for j in range(slot, arms.shape[0]):
            gains[slot, arms[j]] += max(lowest - seen[j], 0.0)
            plays[slot, arms[j]] += 1.0
        lowest = min(lowest, seen[slot])
    return lowest


@kernel
def pick_drawn(
    gains: FloatArray,
    plays: FloatArray,
    prior: float,
    sharpness: float,
    keys: KeyArray,
    arms: IntArray,
) -> None:
    """draw_slots for every replicate."""
    for r in range(gains.shape[0]):
        draw_slots(gains[r], plays[r], prior, sharpness, keys[r], arms[r])


@kernel
def pick_ranked(gains: FloatArray, plays: FloatArray, width: float, arms: IntArray) -> None:
    """rank_slots for every replicate."""
    for r in range(gains.shape[0]):
        rank_slots(gains[r], plays[r], width, arms[r])


@kernel
def learn_slots(
    gains: FloatArray, plays: FloatArray, discount: float, arms: IntArray, seen: FloatArray
) -> None:
    """share_results for every replicate."""
    for r in range(gains.shape[0]):
        share_results(gains[r], plays[r], discount, arms[r], seen[r])


@kernel
def play_drawn(
    gains: FloatArray,
    plays: FloatArray,
    prior: float,
    sharpness: float,
    discount: float,
    table: FloatArray,
    lasting: KeyArray,
    first_round: int,
    paid: FloatArray,
) -> None:
    """Whole games, equal bit for bit to pick_drawn and learn_slots by turns."""
    arms = np.empty(gains.shape[1], np.int64)
    for r in range(gains.shape[0]):
        game = table[r if table.shape[0] > 1 else 0]
        for t in range(game.shape[0]):
            key = round_key(lasting[r], first_round + t)
            draw_slots(gains[r], plays[r], prior, sharpness, key, arms)
            paid[r, t] = share_results(gains[r], plays[r], discount, arms, game[t][arms])


@kernel
def play_ranked(
    gains: FloatArray,
    plays: FloatArray,
    width: float,
    discount: float,
    table: FloatArray,
    paid: FloatArray,
) -> None:
    """Whole games, equal bit for bit to pick_ranked and learn_slots by turns."""
    arms = np.empty(gains.shape[1], np.int64)
    for r in range(gains.shape[0]):
        game = table[r if table.shape[0] > 1 else 0]
        for t in range(game.shape[0]):
            rank_slots(gains[r], plays[r], width, arms)
            paid[r, t] = share_results(gains[r], plays[r], discount, arms, game[t][arms])
