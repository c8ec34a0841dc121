"""Monotone submodular jobs, compiled, and the slots that learn from them.

A job is a weighted sum over items, and a schedule is known by one number per item, its summary:

    MAX   the best entry that a pulled arm has for the item: best-of, coverage, time to solve
    MISS  the probability that every pulled arm failed on the item: probabilistic coverage

Entries are (n_items, n_arms), in [0, 1]; weights are (n_items,) and add up to at most 1.
"""

from typing import NamedTuple

import numpy as np

from pickbest.core import BoolArray, FloatArray, IntArray
from pickbest.kernels.compiled import allocating, borrowing, inlined, kernel
from pickbest.kernels.slots import Fed, Filling, Plan, SlotGame

MAX, MISS = 0, 1


@kernel
def gain_of(
    kind: int, entries: FloatArray, arm: int, weights: FloatArray, summary: FloatArray
) -> float:
    """What an arm adds to a schedule with this summary."""
    total = 0.0
    for i in range(entries.shape[0]):
        if kind == MAX:
            better = entries[i, arm] - summary[i]
            total += weights[i] * (better if better > 0.0 else 0.0)
        else:
            total += weights[i] * summary[i] * entries[i, arm]
    # Weights add up to 1 but for rounding; a gain is never more.
    return min(total, 1.0)


@kernel
def all_gains(
    kind: int, entries: FloatArray, weights: FloatArray, summary: FloatArray, out: FloatArray
) -> None:
    """out[a] = gain_of arm a, to the last bit.

    Items are the outer loop, so the inner one has no sum that runs through it and uses the
    processor's vector units; items from which nothing can be gained are left out.
    """
    out[:] = 0.0
    for i in range(entries.shape[0]):
        row = entries[i]
        if kind == MAX:
            weight, best = weights[i], summary[i]
            if weight > 0.0 and best < 1.0:
                for a in range(row.shape[0]):
                    better = row[a] - best
                    out[a] += weight * (better if better > 0.0 else 0.0)
        else:
            weight = weights[i] * summary[i]
            if weight > 0.0:
                for a in range(row.shape[0]):
                    out[a] += weight * row[a]
    for a in range(out.shape[0]):
        out[a] = min(out[a], 1.0)


@kernel
def extend(kind: int, entries: FloatArray, arm: int, summary: FloatArray) -> None:
    """The summary with one more arm."""
    for i in range(entries.shape[0]):
        if kind == MAX:
            summary[i] = max(summary[i], entries[i, arm])
        else:
            summary[i] *= 1.0 - entries[i, arm]


@kernel
def value_of(kind: int, weights: FloatArray, summary: FloatArray) -> float:
    """The job's value of a schedule with this summary."""
    total = 0.0
    for i in range(weights.shape[0]):
        total += weights[i] * (summary[i] if kind == MAX else 1.0 - summary[i])
    return min(total, 1.0)


@borrowing
def fill_values(kind: int, weights: FloatArray, summary: FloatArray, out: FloatArray) -> None:
    """out[t] = value of the schedule in round t; weights are (rounds or 1, n_items)."""
    for t in range(out.shape[0]):
        out[t] = value_of(kind, weights[t if weights.shape[0] > 1 else 0], summary[t])


@borrowing
def fill_gains(
    kind: int, entries: FloatArray, weights: FloatArray, summary: FloatArray, out: FloatArray
) -> None:
    """out[t, a] = gain of arm a in round t; entries are (rounds or 1, n_items, n_arms)."""
    for t in range(out.shape[0]):
        own = entries[t if entries.shape[0] > 1 else 0]
        all_gains(kind, own, weights[t if weights.shape[0] > 1 else 0], summary[t], out[t])


@borrowing
def extend_all(kind: int, entries: FloatArray, arms: IntArray, summary: FloatArray) -> None:
    """Every round's summary with its arm."""
    for t in range(summary.shape[0]):
        extend(kind, entries[t if entries.shape[0] > 1 else 0], arms[t], summary[t])


# The game of jobs: a slot is fed 1 - what an action adds, per unit of time, to the slots before it.


class JobGame(NamedTuple):
    """kind: MAX or MISS; entries: (rounds or 1, n_items, n_arms), weights: (rounds or 1, n_items);
    durations: (n_arms,)."""

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
    n_items, most = game.weights.shape[1], max(game.durations.shape[0], slots * size)
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
    job = game.entries[t if game.entries.shape[0] > 1 else 0]
    weights = game.weights[t if game.weights.shape[0] > 1 else 0]
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
    weights = game.weights[t if game.weights.shape[0] > 1 else 0]
    return value_of(game.kind, weights, prefix.pulled)


JOBS = SlotGame(new_prefix, start_round, feed_slot, value_round)
