"""Slots in the game of costs: slot i is fed 1 - what an arm takes off the lowest cost before it."""

from typing import NamedTuple

import numpy as np

from pickbest.core import FloatArray
from pickbest.kernels.compiled import allocating, inlined, kernel
from pickbest.kernels.slots import Fed, Filling, Plan, SlotGame


class CostGame(NamedTuple):
    """costs: (replicates or 1, rounds, n_arms)."""

    costs: FloatArray


@allocating
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
        first = 0 if filling.distinct or filling.shared else slot
        for k in range(first, slots if filling.shared else slot + 1):
            for j in range(size):
                arm = plan.arms[k, j]
                cost = costs[arm]
                fed.arms[count] = arm
                fed.costs[count] = cost if slot == 0 else 1.0 - max(lowest - cost, 0.0)
                # What earlier slots took costs 1 here, with certainty.
                fed.weights[count] = plan.weights[k, j] if k >= slot else 1.0
                if filling.shared:
                    fed.weights[count] = shared_weight(plan, slot, k, j)
                count += 1
    for j in range(size):
        prefix[0] = min(prefix[0], costs[plan.arms[slot, j]])
    return count


@inlined
def value_round(game: CostGame, r: int, t: int, prefix: FloatArray) -> float:
    return float(prefix[0])


@kernel
def shared_weight(plan: Plan, slot: int, own: int, column: int) -> float:
    """The weight in `slot` of the arm that slot `own` picked as its column-th.

    0 where the arm was picked before. See learners.greedy.Greedy.shared.
    """
    slots, size = plan.arms.shape
    for k in range(own + 1):
        for j in range(column if k == own else size):
            if plan.arms[k, j] == plan.arms[own, column]:
                return 0.0
    if own < slot:
        return 1.0
    return float((plan.weights[own, column] + (slots - 1 - own)) / (slots - slot))


COSTS = SlotGame(new_prefix, start_round, feed_slot, value_round)
