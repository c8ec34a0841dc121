"""Slots in the game of jobs: a slot is fed 1 - what an action adds, by time, to those before.

The four functions that `kernels.slots` asks of a game.
"""

from typing import NamedTuple

import numpy as np

from pickbest.core import BoolArray, FloatArray, IntArray
from pickbest.kernels.compiled import allocating, inlined, part
from pickbest.kernels.slots import Fed, Filling, Plan, SlotGame
from pickbest.submodular.jobs.kernels import MAX, all_gains, extend, gain_of, value_of


class JobGame(NamedTuple):
    """kind: MAX or MISS; entries: (replicates or 1, rounds or 1, n_items, n_arms), weights likewise
    without arms (see `jobs.kernels`); durations: (n_arms,)."""

    kind: int
    entries: FloatArray
    weights: FloatArray
    durations: IntArray


class Prefix(NamedTuple):
    """best, pulled: summaries (n_items,) of the prefix that Algorithm 2 compares with, and of all
    that was pulled; inside: (slots · size,), whether an arm is in the prefix."""

    best: FloatArray
    pulled: FloatArray
    inside: BoolArray


@allocating
def new_prefix(game: JobGame, slots: int, size: int) -> Prefix:
    n_items = game.weights.shape[2]
    return Prefix(np.empty(n_items), np.empty(n_items), np.empty(slots * size, np.bool_))


@inlined
def start_round(game: JobGame, prefix: Prefix) -> None:
    nothing = 0.0 if game.kind == MAX else 1.0
    prefix.best[:] = nothing
    prefix.pulled[:] = nothing
    prefix.inside[:] = False


@inlined
def feed_slot(
    game: JobGame, filling: Filling, r: int, t: int, slot: int, plan: Plan, prefix: Prefix, fed: Fed
) -> int:
    """What the slot learns, and the prefix for the next one."""
    kind, best, size, count = game.kind, prefix.best, plan.arms.shape[1], 0
    entries = game.entries[r if game.entries.shape[0] > 1 else 0]
    job = entries[t if entries.shape[0] > 1 else 0]
    weights = _weights(game, r, t)
    if filling.full:
        count = job.shape[1]
        all_gains(kind, job, weights, best, fed.costs[:count])
        for a in range(count):
            fed.costs[a] = 1.0 - fed.costs[a] / game.durations[a]
    # Algorithm 2: the prefix grows by the best arm of each slot. An arm that an earlier slot
    # pulled, but that is not in the prefix, may be the best as well.
    best_gain, best_at = -1.0, -1
    for j in range(size):
        arm, gain = plan.arms[slot, j], 0.0
        if plan.kept[slot]:
            gain = gain_of(kind, job, arm, weights, best)
            if gain > best_gain:
                best_gain, best_at = gain, slot * size + j
        if not filling.full:
            # The coin that keeps an action of duration τ has divided its gain by τ already.
            fed.arms[count], fed.weights[count] = arm, plan.weights[slot, j]
            fed.costs[count] = 1.0 - gain
            count += 1
    for k in range(slot * size if filling.distinct else 0):
        if not plan.kept[k // size] or (filling.full and prefix.inside[k]):
            continue
        arm = plan.arms[k // size, k % size]
        gain = gain_of(kind, job, arm, weights, best)
        if not prefix.inside[k] and gain > best_gain:
            best_gain, best_at = gain, k
        if not filling.full:
            fed.arms[count], fed.weights[count] = arm, 1.0
            fed.costs[count] = 1.0 - gain / game.durations[arm]
            count += 1
    if best_at >= 0:
        prefix.inside[best_at] = True
        extend(kind, job, plan.arms[best_at // size, best_at % size], best)
    for j in range(size if plan.kept[slot] else 0):
        extend(kind, job, plan.arms[slot, j], prefix.pulled)
    return count


@inlined
def value_round(game: JobGame, r: int, t: int, prefix: Prefix) -> float:
    return value_of(game.kind, _weights(game, r, t), prefix.pulled)


@part
def _weights(game: JobGame, r: int, t: int) -> FloatArray:
    weights: FloatArray = game.weights[r if game.weights.shape[0] > 1 else 0]
    own: FloatArray = weights[t if weights.shape[0] > 1 else 0]
    return own


JOBS = SlotGame(new_prefix, start_round, feed_slot, value_round)
