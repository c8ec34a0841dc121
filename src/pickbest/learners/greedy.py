"""Online greedy: one learner per slot, each fed what it adds to the slots before it.

OG (Algorithm 3, unit durations) has a single-arm learner in each slot; OG_hybrid (Algorithm 2)
has FPML with budget `slot_budget` in each.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pickbest.core import (
    BoolArray,
    Choice,
    Draws,
    Feedback,
    FloatArray,
    IntArray,
    KeyArray,
    Learner,
    PickbestError,
    Seen,
    State,
    check_budget,
    check_count,
)
from pickbest.core.states import map_state
from pickbest.core.wrapping import WrappingLearner
from pickbest.kernels.compiled import allocating, inlined
from pickbest.kernels.rules import AnyCompiled, CompiledLearner
from pickbest.kernels.slots import COINS, Fed, Filling, Plan, SlotGame, play_slots, slot_loops

# Slot i is fed 1 - what an arm takes off the lowest cost before it.


class CostGame(NamedTuple):
    """costs: (replicates or 1, rounds, n_arms)."""

    costs: FloatArray


@allocating
def _no_prefix(game: CostGame, slots: int, size: int) -> FloatArray:
    """The lowest cost of the slots before."""
    return np.empty(1)


@inlined
def _start_round(game: CostGame, prefix: FloatArray) -> None:
    prefix[0] = 1.0


@inlined
def _feed_slot(
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
    lowest, count, size = prefix[0], 0, plan.arms.shape[1]
    if filling.full:
        for a in range(costs.shape[0]):
            fed.costs[a] = costs[a] if slot == 0 else 1.0 - max(lowest - costs[a], 0.0)
        count = costs.shape[0]
    else:
        for k in range(0 if filling.distinct else slot, slot + 1):
            for j in range(size):
                arm = plan.arms[k, j]
                cost = costs[arm]
                fed.arms[count] = arm
                fed.costs[count] = cost if slot == 0 else 1.0 - max(lowest - cost, 0.0)
                # What earlier slots took costs 1 here, with certainty.
                fed.weights[count] = plan.weights[k, j] if k >= slot else 1.0
                count += 1
    for j in range(size):
        prefix[0] = min(prefix[0], costs[plan.arms[slot, j]])
    return count


@inlined
def _value_round(game: CostGame, r: int, t: int, prefix: FloatArray) -> float:
    return float(prefix[0])


COSTS = SlotGame(_no_prefix, _start_round, _feed_slot, _value_round)


class GreedyState(NamedTuple):
    """slots: the state of the slots' learner, with an axis for the slots behind the replicates."""

    slots: Any


@dataclass(frozen=True)
class Greedy(WrappingLearner):
    """`slots` copies of a learner; slot i is fed cost = 1 - gain over the slots before it.

    distinct: a slot leaves out the arms that earlier slots took. Such an arm would gain
        nothing there, so its cost in that slot is known to be 1 and is learned as such; the
        weights of the other arms are those of the pick among the free ones. So the estimates
        of a slot are unbiased, given what the slots before it picked.
    Without it slots pick independently, as in the paper's experiments, and arms may repeat.

    >>> from pickbest.learners.hedge import Hedge
    >>> Greedy(Hedge(n_arms=5, rate=0.1), slots=3).budget
    3
    """

    inner: AnyCompiled
    slots: int
    distinct: bool = True

    def __post_init__(self) -> None:
        check_count("slots", self.slots)
        check_slot_learner(self.inner)
        if self.distinct:
            check_budget(self.budget, self.n_arms)

    @property
    def budget(self) -> int:
        return self.slots * self.inner.budget

    @property
    def unbiased(self) -> bool:
        """The weights are unbiased slot by slot, not for the round as a whole."""
        return False

    @cached_property
    def filling(self) -> Filling:
        full = self.feedback is Feedback.FULL
        return Filling(self.distinct, full, np.empty(0, np.int64))

    def start(self, replicates: int) -> GreedyState:
        return GreedyState(start_slots(self.inner, replicates, self.slots))

    def pick(self, state: GreedyState, draws: Draws, features: FloatArray | None = None) -> Choice:
        arms, weights, _ = pick_slots(self.inner, state.slots, self.slots, self.filling, draws)
        replicates = len(draws.keys)
        return Choice(
            arms.reshape(replicates, -1),
            weights.reshape(replicates, -1) if self.inner.rule.weighted else None,
        )

    def learn(
        self, state: GreedyState, choice: Choice, seen: Seen, features: FloatArray | None = None
    ) -> GreedyState:
        costs = seen.high
        replicates = len(costs)
        shape = (replicates, self.slots, self.inner.budget)
        if self.feedback is Feedback.PICKED:
            costs = np.ones((replicates, self.n_arms))
            np.put_along_axis(costs, choice.arms, seen.high, axis=1)
        weights = np.empty(shape) if choice.weights is None else choice.weights.reshape(shape)
        loop = slot_loops(self.inner.rule, COSTS).learn
        play = loop.suited(replicates * self.n_arms)
        play(
            self.inner.law,
            slot_rows(state.slots),
            self.filling,
            CostGame(costs[:, None]),
            self.n_arms,
            choice.arms.reshape(shape),
            weights,
            np.ones(shape[:2], np.bool_),
        )
        return state

    def play_table(
        self, state: GreedyState, table: FloatArray, lasting: KeyArray, first_round: int
    ) -> tuple[GreedyState, FloatArray]:
        rows, rounds = slot_rows(state.slots), table.shape[1]
        costs = CostGame(table)
        paid, _ = play_slots(
            self.inner, COSTS, rows, self.filling, costs, self.slots, lasting, first_round, rounds
        )
        return state, paid


def check_slot_learner(inner: Learner) -> None:
    """A slot needs a learner with compiled functions that can leave taken arms out."""
    if not isinstance(inner, CompiledLearner) or not inner.rule.fills_slots:
        raise PickbestError(
            f"{type(inner).__name__} cannot fill a slot: it needs compiled functions that leave "
            "taken arms out (see kernels.rules)"
        )


def start_slots(inner: AnyCompiled, replicates: int, slots: int) -> State:
    """The state of `slots` copies of a learner, (replicates, slots, …)."""
    rows = inner.start(replicates * slots)
    return map_state(lambda array: array.reshape(replicates, slots, *array.shape[1:]), rows)


def slot_rows(state: State) -> State:
    """The same arrays with a row for each slot of each replicate, as `kernels.slots` has them."""
    return map_state(lambda array: array.reshape(-1, *array.shape[2:]), state)


def pick_slots(
    inner: AnyCompiled, state: State, slots: int, filling: Filling, draws: Draws
) -> tuple[IntArray, FloatArray, BoolArray]:
    """(arms, weights, kept): (replicates, slots, slot_budget) twice, (replicates, slots)."""
    keys = draws.keys if inner.fresh else draws.lasting
    shape = (len(keys), slots, inner.budget)
    arms, weights = np.empty(shape, np.int64), np.empty(shape)
    kept = np.empty(shape[:2], np.bool_)
    loop = slot_loops(inner.rule, COSTS).pick
    play = loop.suited(len(keys) * inner.n_arms)
    play(
        inner.law,
        slot_rows(state),
        filling,
        inner.n_arms,
        keys,
        draws.child(COINS).keys,
        arms,
        weights,
        kept,
    )
    return arms, weights, kept
