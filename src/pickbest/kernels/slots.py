"""The slot loop, once: games of OG and OG_hybrid over any learner that has a rule.

A slot is a learner that is fed what its arms add to the slots before it. The states of all slots
of replicate r are the rows r · slots, r · slots + 1, … of one state (`kernels.rules` says what is
done with a row). What slots are fed depends on the game, which gives four compiled functions:

    new_prefix(game, slots, size)                             what is known of the slots before
    start_round(game, prefix)                                 no slot yet
    feed_slot(game, filling, r, t, slot, plan, prefix, fed)   what a slot learns; returns how much
    value_round(game, r, t, prefix)                           what the round is worth

`kernels.cost_slots` is the game in which the smallest cost is paid, `jobs.kernels` the one of
monotone submodular jobs.
"""

from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from pickbest.core import BoolArray, FloatArray, IntArray, KeyArray
from pickbest.kernels.compiled import allocating, inlined, interpreted, kernel
from pickbest.kernels.random import STEP, round_key, slot_key, uniform_at
from pickbest.kernels.rules import Compiled, Pick, Rule, Told, unbound

# The part of a round's randomness that the coins of durations come from (`Draws.child`).
COINS = 1 << 20

# What the loops call, bound by `SlotLoops`.
new_work = pick_row = learn_row = unbound
new_prefix = start_round = feed_slot = value_round = unbound
fill_slots = feed_slots = unbound


class Filling(NamedTuple):
    """How slots are filled and fed.

    distinct: a slot leaves out the arms that earlier slots took.
    shared: a slot also learns from the arms of other slots.
    full: slots see all costs.
    durations: (n_arms,); an arm of duration τ is kept with probability 1/τ. (0,): all are 1.
    longest: what a schedule must not exceed; 0: nothing.
    """

    distinct: bool
    shared: bool
    full: bool
    durations: IntArray
    longest: int


class Plan(NamedTuple):
    """What one replicate picked: arms and weights (slots, size), kept (slots,)."""

    arms: IntArray
    weights: FloatArray
    kept: BoolArray


class Fed(NamedTuple):
    """What a slot is told: arms with weights and costs; with full feedback, all costs."""

    arms: IntArray
    weights: FloatArray
    costs: FloatArray


class SlotGame(NamedTuple):
    """The four compiled functions of a game (see the head of this module)."""

    new_prefix: Compiled
    start_round: Compiled
    feed_slot: Compiled
    value_round: Compiled


class SlotLoops(NamedTuple):
    """The loops of one learner in the slots of one game."""

    pick: Compiled
    learn: Compiled
    play: Compiled


@cache
def slot_loops(rule: Rule, game: SlotGame) -> SlotLoops:
    """What fills the slots of a game with a learner."""
    functions = game._asdict()
    fill = rule.loop(_fill_slots, inlined)
    feed = rule.loop(_feed_slots, inlined, feed_slot=game.feed_slot)
    games = rule.loop(_play_games, kernel, fill_slots=fill, feed_slots=feed, **functions)
    return SlotLoops(
        rule.loop(_pick_rounds, allocating, fill_slots=fill),
        rule.loop(_learn_rounds, allocating, feed_slots=feed, **functions),
        partial(_play_rounds, games, rule.new_work, interpreted(game.new_prefix)),
    )


def _fill_slots(
    law: Any,
    state: Any,
    filling: Filling,
    first: int,
    key: np.uint64,
    coins: np.uint64,
    taken: BoolArray,
    work: Any,
    plan: Plan,
) -> int:
    """Fill every slot of the replicate whose rows begin at `first`; the schedule's length."""
    slots, size = plan.arms.shape
    length = 0
    for slot in range(slots):
        arms, weights = plan.arms[slot], plan.weights[slot]
        pick = Pick(taken, slot_key(key, slot), arms, weights)
        pick_row(law, state, first + slot, work, pick)
        kept, span = True, size
        if filling.durations.shape[0] > 0:
            coins += STEP
            span = 0
            for j in range(size):
                span += filling.durations[arms[j]]
            kept = uniform_at(coins) * filling.durations[arms[0]] < 1.0
        if filling.longest > 0 and length + span > filling.longest:
            kept = False
        plan.kept[slot] = kept
        if kept:
            length += span
            for j in range(size if taken.shape[0] > 0 else 0):
                taken[arms[j]] = True
    return length


def _feed_slots(
    law: Any,
    state: Any,
    filling: Filling,
    game: Any,
    r: int,
    t: int,
    plan: Plan,
    prefix: Any,
    fed: Fed,
    work: Any,
) -> None:
    """Tell every slot of replicate r what its arms added in round t."""
    slots = plan.arms.shape[0]
    for slot in range(slots):
        count = feed_slot(game, filling, r, t, slot, plan, prefix, fed)
        row, costs = r * slots + slot, fed.costs[:count]
        if filling.full:
            told = Told(plan.arms[slot], plan.weights[slot], costs)
            learn_row(law, state, row, work, told)
        else:
            told = Told(fed.arms[:count], fed.weights[:count], costs)
            learn_row(law, state, row, work, told)


def _pick_rounds(
    law: Any,
    state: Any,
    filling: Filling,
    n_arms: int,
    keys: KeyArray,
    coins: KeyArray,
    arms: IntArray,
    weights: FloatArray,
    kept: BoolArray,
) -> None:
    """One round of every replicate; arms and weights are (replicates, slots, size)."""
    work = new_work(law, state, arms.shape[2])
    taken = np.zeros(n_arms if filling.distinct else 0, np.bool_)
    for r in range(keys.shape[0]):
        taken[:] = False
        first = r * arms.shape[1]
        plan = Plan(arms[r], weights[r], kept[r])
        fill_slots(law, state, filling, first, keys[r], coins[r], taken, work, plan)


def _learn_rounds(
    law: Any,
    state: Any,
    filling: Filling,
    game: Any,
    n_arms: int,
    arms: IntArray,
    weights: FloatArray,
    kept: BoolArray,
) -> None:
    """Learn the one round that the game has, in every replicate."""
    slots, size = arms.shape[1:]
    work = new_work(law, state, size)
    prefix = new_prefix(game, slots, size)
    most = max(n_arms, slots * size)
    fed = Fed(np.empty(most, np.int64), np.empty(most), np.empty(most))
    for r in range(arms.shape[0]):
        start_round(game, prefix)
        plan = Plan(arms[r], weights[r], kept[r])
        feed_slots(law, state, filling, game, r, 0, plan, prefix, fed, work)


def _play_rounds(
    play_games: Compiled,
    new_work: Compiled,
    new_prefix: Compiled,
    law: Any,
    state: Any,
    filling: Filling,
    game: Any,
    n_arms: int,
    slots: int,
    size: int,
    lasting: KeyArray,
    first_round: int,
    fresh: bool,
    values: FloatArray,
    lengths: IntArray,
) -> None:
    """Whole games; values and lengths (replicates, rounds) are filled."""
    work = new_work(law, state, size)
    prefix = new_prefix(game, slots, size)
    plan = Plan(
        np.empty((slots, size), np.int64), np.empty((slots, size)), np.empty(slots, np.bool_)
    )
    most = max(n_arms, slots * size)
    fed = Fed(np.empty(most, np.int64), np.empty(most), np.empty(most))
    taken = np.zeros(n_arms if filling.distinct and slots > 1 else 0, np.bool_)
    scratch = (work, prefix, plan, fed, taken)
    play_games(law, state, filling, game, scratch, lasting, first_round, fresh, values, lengths)


def _play_games(
    law: Any,
    state: Any,
    filling: Filling,
    game: Any,
    scratch: tuple[Any, Any, Plan, Fed, BoolArray],
    lasting: KeyArray,
    first_round: int,
    fresh: bool,
    values: FloatArray,
    lengths: IntArray,
) -> None:
    work, prefix, plan, fed, taken = scratch
    slots = plan.arms.shape[0]
    for r in range(values.shape[0]):
        for t in range(values.shape[1]):
            key = round_key(lasting[r], first_round + t)
            coins = slot_key(key, COINS)
            own = key if fresh else lasting[r]
            for a in range(taken.shape[0]):
                taken[a] = False
            lengths[r, t] = fill_slots(
                law, state, filling, r * slots, own, coins, taken, work, plan
            )
            start_round(game, prefix)
            feed_slots(law, state, filling, game, r, t, plan, prefix, fed, work)
            values[r, t] = value_round(game, r, t, prefix)
