"""The slot loop, once: games of OG and OG_hybrid over any learner that has a rule.

A slot is a learner that is fed what its arms add to the slots before it. The states of all slots
of replicate r are the rows r · slots, r · slots + 1, … of one state (`kernels.rules` says what is
done with a row). What slots are fed depends on the game, which gives four compiled functions:

    new_prefix(game, slots, size)                             what is known of the slots before
    start_round(game, prefix)                                 no slot yet
    feed_slot(game, filling, r, t, slot, plan, prefix, fed)   what a slot learns; returns how much
    value_round(game, r, t, prefix)                           what the round is worth

`learners.greedy` has the game in which the smallest cost is paid, `submodular.kernels` the one of
monotone submodular jobs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from pickbest.core import BoolArray, FloatArray, IntArray, KeyArray
from pickbest.kernels.compiled import Compiled, borrowing, compiled, inlined
from pickbest.kernels.random import STEP, round_key, slot_key, uniform_at
from pickbest.kernels.rules import CompiledLearner, Law, Pick, Rule, State, Told, Work

# The part of a round's randomness that the coins of durations come from (`Draws.child`).
COINS = 1 << 20

Costs = TypeVar("Costs")
Prefix = TypeVar("Prefix")


class Filling(NamedTuple):
    """How slots are filled and fed.

    distinct: a slot leaves out the arms that earlier slots took.
    full: slots see all costs.
    durations: (n_arms,); an arm of duration τ is kept with probability 1/τ. (0,): all are 1.
    """

    distinct: bool
    full: bool
    durations: IntArray


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


@dataclass(frozen=True)
class SlotGame(Generic[Costs, Prefix]):
    """The four kernels of a game (see the head of this module)."""

    new_prefix: Callable[[Costs, int, int], Prefix]
    start_round: Callable[[Costs, Prefix], None]
    feed_slot: Callable[[Costs, Filling, int, int, int, Plan, Prefix, Fed], int]
    value_round: Callable[[Costs, int, int, Prefix], float]


class Scratch(NamedTuple, Generic[Work, Prefix]):
    """What whole games write on; taken: (n_arms,), or (0,) where arms may repeat."""

    work: Work
    prefix: Prefix
    plan: Plan
    fed: Fed
    taken: BoolArray


PickSlots = Compiled[
    [Law, State, Filling, int, KeyArray, KeyArray, IntArray, FloatArray, BoolArray], None
]
LearnSlots = Compiled[[Law, State, Filling, Costs, int, IntArray, FloatArray, BoolArray], None]
PlaySlots = Compiled[
    [Law, State, Filling, Costs, Scratch[Work, Prefix], KeyArray, int, bool, FloatArray,
     IntArray], None]  # fmt: skip


@dataclass(frozen=True)
class SlotLoops(Generic[Law, State, Costs, Work, Prefix]):
    """The loops of one learner in the slots of one game."""

    pick: PickSlots[Law, State]
    learn: LearnSlots[Law, State, Costs]
    play: PlaySlots[Law, State, Costs, Work, Prefix]


@cache
def slot_loops(
    rule: Rule[Law, State, Work], game: SlotGame[Costs, Prefix]
) -> SlotLoops[Law, State, Costs, Work, Prefix]:
    """What fills the slots of a game with a learner."""
    new_work, pick_row, learn_row = rule.new_work, rule.pick_row, rule.learn_row
    new_prefix, start_round = game.new_prefix, game.start_round
    feed_slot, value_round = game.feed_slot, game.value_round

    @inlined
    def fill_slots(
        law: Law,
        state: State,
        filling: Filling,
        first: int,
        key: np.uint64,
        coins: np.uint64,
        taken: BoolArray,
        work: Work,
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
            plan.kept[slot] = kept
            if kept:
                length += span
                for j in range(size if taken.shape[0] > 0 else 0):
                    taken[arms[j]] = True
        return length

    @inlined
    def feed_slots(
        law: Law,
        state: State,
        filling: Filling,
        costs: Costs,
        r: int,
        t: int,
        plan: Plan,
        prefix: Prefix,
        fed: Fed,
        work: Work,
    ) -> None:
        """Tell every slot of replicate r what its arms added in round t."""
        slots = plan.arms.shape[0]
        for slot in range(slots):
            count = feed_slot(costs, filling, r, t, slot, plan, prefix, fed)
            row, added = r * slots + slot, fed.costs[:count]
            if filling.full:
                told = Told(plan.arms[slot], plan.weights[slot], added, 1.0)
                learn_row(law, state, row, work, told)
            else:
                told = Told(fed.arms[:count], fed.weights[:count], added, 1.0)
                learn_row(law, state, row, work, told)

    def pick_rounds(
        law: Law,
        state: State,
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

    def learn_rounds(
        law: Law,
        state: State,
        filling: Filling,
        costs: Costs,
        n_arms: int,
        arms: IntArray,
        weights: FloatArray,
        kept: BoolArray,
    ) -> None:
        """Learn the one round that the game has, in every replicate."""
        slots, size = arms.shape[1:]
        work = new_work(law, state, size)
        prefix = new_prefix(costs, slots, size)
        most = max(n_arms, slots * size)
        fed = Fed(np.empty(most, np.int64), np.empty(most), np.empty(most))
        for r in range(arms.shape[0]):
            start_round(costs, prefix)
            plan = Plan(arms[r], weights[r], kept[r])
            feed_slots(law, state, filling, costs, r, 0, plan, prefix, fed, work)

    def play_games(
        law: Law,
        state: State,
        filling: Filling,
        costs: Costs,
        scratch: Scratch[Work, Prefix],
        lasting: KeyArray,
        first_round: int,
        fresh: bool,
        values: FloatArray,
        lengths: IntArray,
    ) -> None:
        """Whole games; values and lengths (replicates, rounds) are filled."""
        work, prefix, plan = scratch.work, scratch.prefix, scratch.plan
        fed, taken = scratch.fed, scratch.taken
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
                start_round(costs, prefix)
                feed_slots(law, state, filling, costs, r, t, plan, prefix, fed, work)
                values[r, t] = value_round(costs, r, t, prefix)

    return SlotLoops(compiled(pick_rounds), compiled(learn_rounds), borrowing(play_games))


def play_slots(
    inner: CompiledLearner[Law, State, Work],
    game: SlotGame[Costs, Prefix],
    state: State,
    filling: Filling,
    costs: Costs,
    slots: int,
    lasting: KeyArray,
    first_round: int,
    rounds: int,
) -> tuple[FloatArray, IntArray]:
    """Whole games of a learner in slots: (values, lengths), (replicates, rounds) each."""
    shape, n_arms = (slots, inner.budget), inner.n_arms
    most = max(n_arms, slots * inner.budget)
    scratch = Scratch(
        inner.rule.new_work(inner.law, state, inner.budget),
        game.new_prefix(costs, slots, inner.budget),
        Plan(np.empty(shape, np.int64), np.empty(shape), np.empty(slots, np.bool_)),
        Fed(np.empty(most, np.int64), np.empty(most), np.empty(most)),
        np.zeros(n_arms if filling.distinct and slots > 1 else 0, np.bool_),
    )
    values = np.empty((len(lasting), rounds))
    lengths = np.empty(values.shape, np.int64)
    play = slot_loops(inner.rule, game).play
    play(
        inner.law,
        state,
        filling,
        costs,
        scratch,
        lasting,
        first_round,
        inner.fresh,
        values,
        lengths,
    )
    return values, lengths
