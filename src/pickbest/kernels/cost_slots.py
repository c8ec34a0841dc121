"""Slots in the game of costs: slot i is fed 1 - what an arm takes off the lowest cost before it."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from pickbest.core import FloatArray, IntArray
from pickbest.kernels.compiled import inlined, kernel
from pickbest.kernels.rules import Rule
from pickbest.kernels.slots import Fed, Filling, Plan, SlotLoops


class CostGame(NamedTuple):
    """costs: (replicates or 1, rounds, n_arms)."""

    costs: FloatArray


@kernel
def new_prefix(game: CostGame, slots: int, size: int) -> FloatArray:
    """The lowest cost of the slots before."""
    return np.empty(1)


@inlined
def start_round(game: CostGame, prefix: FloatArray) -> None:
    prefix[0] = 1.0


@inlined
def feed_slot(
    game: CostGame,
    filling: Filling,
    r: int,
    t: int,
    slot: int,
    plan: Plan,
    prefix: FloatArray,
    fed: Fed,
) -> int:
    """Algorithm 2: one minus what an arm adds to the best of the slots before."""
    costs = game.costs[r if game.costs.shape[0] > 1 else 0, t]
    slots, size = plan.arms.shape
    lowest, count = prefix[0], 0
    if filling.full:
        for a in range(costs.shape[0]):
            fed.costs[a] = costs[a] if slot == 0 else 1.0 - max(lowest - costs[a], 0.0)
        count = costs.shape[0]
    else:
        arms, weights = plan.arms.ravel(), plan.weights.ravel()
        first = 0 if filling.distinct or filling.shared else slot * size
        for j in range(first, slots * size if filling.shared else (slot + 1) * size):
            cost = costs[arms[j]]
            fed.arms[count] = arms[j]
            fed.costs[count] = cost if slot == 0 else 1.0 - max(lowest - cost, 0.0)
            # What earlier slots took costs 1 here, with certainty.
            fed.weights[count] = weights[j] if j >= slot * size else 1.0
            if filling.shared:
                fed.weights[count] = shared_weight(arms, weights, slots, slot, j)
            count += 1
    for j in range(size):
        prefix[0] = min(prefix[0], costs[plan.arms[slot, j]])
    return count


@inlined
def value_round(game: CostGame, r: int, t: int, prefix: FloatArray) -> float:
    return float(prefix[0])


@kernel
def shared_weight(arms: IntArray, weights: FloatArray, slots: int, slot: int, column: int) -> float:
    """The weight in `slot` of the arm in a column, with all arms of the round in slot order.

    0 where the arm occurs in a column before. See learners.greedy.Greedy.shared.
    """
    for before in range(column):
        if arms[before] == arms[column]:
            return 0.0
    own_slot = column * slots // arms.shape[0]
    if own_slot < slot:
        return 1.0
    return float((weights[column] + (slots - 1 - own_slot)) / (slots - slot))


@cache
def cost_loops(rule: Rule) -> SlotLoops:
    """The slot loops of a learner in this game."""
    return SlotLoops(
        rule,
        new_prefix=new_prefix,
        start_round=start_round,
        feed_slot=feed_slot,
        value_round=value_round,
    )
