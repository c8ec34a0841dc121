"""Picks, updates and whole games of `kernels.pairs` for every replicate."""

from __future__ import annotations

import numpy as np

from pickbest.core import FloatArray, IntArray, KeyArray
from pickbest.kernels.compiled import kernel
from pickbest.kernels.pairs import build_set, learn_set
from pickbest.kernels.random import round_key


@kernel
def pick_pairs(
    arms: FloatArray, pairs: FloatArray, memory: FloatArray, keys: KeyArray, chosen: IntArray
) -> None:
    """The set of every replicate, from its first memory."""
    scores = np.empty(arms.shape[3])
    budget = chosen.shape[1]
    for r in range(arms.shape[0]):
        build_set(
            arms[r, 0], pairs[r, 0], memory[r, 0], False, 0, budget, keys[r], chosen[r], scores
        )


@kernel
def learn_pairs(
    arms: FloatArray,
    pairs: FloatArray,
    memory: FloatArray,
    discounts: FloatArray,
    chosen: IntArray,
    seen: FloatArray,
) -> None:
    """learn_set for every replicate."""
    for r in range(arms.shape[0]):
        learn_set(arms[r], pairs[r], memory[r], discounts, chosen[r], seen[r])


@kernel
def play_pairs(
    arms: FloatArray,
    pairs: FloatArray,
    memory: FloatArray,
    discounts: FloatArray,
    table: FloatArray,
    lasting: KeyArray,
    first_round: int,
    budget: int,
    paid: FloatArray,
) -> None:
    """Whole games, equal bit for bit to picking and learning round by round."""
    scores = np.empty(arms.shape[3])
    chosen, seen = np.empty(budget, np.int64), np.empty(budget)
    for r in range(arms.shape[0]):
        game = table[r if table.shape[0] > 1 else 0]
        for t in range(game.shape[0]):
            key = round_key(lasting[r], first_round + t)
            build_set(arms[r, 0], pairs[r, 0], memory[r, 0], False, 0, budget, key, chosen, scores)
            lowest = 1.0
            for j in range(budget):
                seen[j] = game[t, chosen[j]]
                lowest = min(lowest, seen[j])
            paid[r, t] = lowest
            learn_set(arms[r], pairs[r], memory[r], discounts, chosen, seen)
