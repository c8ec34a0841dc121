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
    that was pulled; inside: (slots · size,), whether an arm is in the prefix; gains: scratch."""

    best: FloatArray
    pulled: FloatArray
    inside: BoolArray
    gains: FloatArray


@allocating
def new_prefix(game: JobGame, slots: int, size: int) -> Prefix:
    n_items, most = game.weights.shape[2], max(game.durations.shape[0], slots * size)
    inside = np.empty(slots * size, np.bool_)
    return Prefix(np.empty(n_items), np.empty(n_items), inside, np.empty(most))


@inlined
def start_round(game: JobGame, prefix: Prefix) -> None:
    nothing = 0.0 if game.kind == MAX else 1.0
    prefix.best[:] = nothing
    prefix.pulled[:] = nothing
    prefix.inside[:] = False


@inlined
def tell_slot(
    filling: Filling,
    durations: IntArray,
    plan: Plan,
    slot: int,
    inside: BoolArray,
    gains: FloatArray,
    fed: Fed,
) -> tuple[int, int]:
    """(how much the slot is told, into fed; the place that the prefix grows by, or -1).

    gains: what an arm adds to the prefix: with full feedback, of every arm; else at the place
        slot · size + column of each arm that the slot may learn from.
    Algorithm 2: the prefix grows by the best arm of each slot. With distinct slots an arm that an
    earlier slot pulled, but that is not in the prefix, may be the best as well.
    """
    size, count, best, best_at = plan.arms.shape[1], 0, -1.0, -1
    if filling.full:
        count = durations.shape[0]
        for a in range(count):
            fed.costs[a] = 1.0 - gains[a] / durations[a]
    for step in range(slot + 1 if filling.distinct else 1):
        own = slot if step == 0 else step - 1
        if step > 0 and not plan.kept[own]:
            continue
        for j in range(size):
            arm, place = plan.arms[own, j], own * size + j
            gain = gains[arm if filling.full else place] if plan.kept[own] else 0.0
            if plan.kept[own] and not inside[place] and gain > best:
                best, best_at = gain, place
            if not filling.full:
                # The coin that keeps an own action of duration τ has divided its gain by τ already.
                # What earlier slots pulled could not have been picked here: its gain is known.
                fed.arms[count] = arm
                fed.weights[count] = plan.weights[own, j] if step == 0 else 1.0
                fed.costs[count] = 1.0 - (gain if step == 0 else gain / durations[arm])
                count += 1
    return count, best_at


@inlined
def feed_slot(
    game: JobGame, filling: Filling, r: int, t: int, slot: int, plan: Plan, prefix: Prefix, fed: Fed
) -> int:
    """What the slot learns, and the prefix for the next one."""
    kind, best, gains, size = game.kind, prefix.best, prefix.gains, plan.arms.shape[1]
    entries = game.entries[r if game.entries.shape[0] > 1 else 0]
    job = entries[t if entries.shape[0] > 1 else 0]
    weights = _weights(game, r, t)
    if filling.full:
        all_gains(kind, job, weights, best, gains[: job.shape[1]])
    else:
        for own in range(0 if filling.distinct else slot, slot + 1):
            for j in range(size if plan.kept[own] else 0):
                gains[own * size + j] = gain_of(kind, job, plan.arms[own, j], weights, best)
    count, best_at = tell_slot(filling, game.durations, plan, slot, prefix.inside, gains, fed)
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
