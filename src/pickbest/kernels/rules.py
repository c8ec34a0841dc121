"""The game loop, once, for every learner whose pick and learn can be compiled.

A learner's file gives three kernels, two of them for one row (a replicate) of its state:

    new_work(law, state, budget)                      scratch, and what is kept between rounds
    pick_row(law, state, row, work, pick)             fills pick.arms and, if any, pick.weights
    learn_row(law, state, row, work, told)

law and state are named tuples, of the learner's numbers and of arrays whose axis 0 is rows. Rounds
one by one and whole tables call the same two functions, and `kernels.slots` fills slots with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from pickbest.core import (
    BoolArray,
    Choice,
    Draws,
    Feedback,
    FloatArray,
    IntArray,
    KeyArray,
    PickbestError,
    Seen,
)
from pickbest.kernels.compiled import Compiled, borrowing, compiled
from pickbest.kernels.random import round_key


class Pick(NamedTuple):
    """What pick_row is asked and fills: taken is (n_arms,), or (0,) where no arm is."""

    taken: BoolArray
    key: np.uint64
    arms: IntArray
    weights: FloatArray


class Told(NamedTuple):
    """What learn_row is told: the costs of all arms with full feedback, else those of `arms`.

    spread: by how much more weighted costs vary because most rounds were not watched to their end;
        1 where all are.
    """

    arms: IntArray
    weights: FloatArray
    costs: FloatArray
    spread: float


class Hand(NamedTuple):
    """Scratch of one player: the arms of a round, their weights and costs; nobody: (0,)."""

    arms: IntArray
    weights: FloatArray
    costs: FloatArray
    nobody: BoolArray


Law = TypeVar("Law")
State = TypeVar("State")
Work = TypeVar("Work")

Fields = tuple[object, ...]
PickRows = Compiled[[Fields, Fields, KeyArray, IntArray, FloatArray], None]
LearnRows = Compiled[[Fields, Fields, IntArray, FloatArray, FloatArray, FloatArray], None]
PlayGames = Compiled[
    [Law, State, Work, Hand, FloatArray, KeyArray, int, bool, bool, FloatArray], None
]


@dataclass(frozen=True, eq=False)
class Rule(Generic[Law, State, Work]):
    """A learner's kernels, and the loops that play them.

    weighted: whether picks have weights.
    fills_slots: whether pick_row leaves taken arms out.
    """

    new_work: Callable[[Law, State, int], Work]
    pick_row: Callable[[Law, State, int, Work, Pick], None]
    learn_row: Callable[[Law, State, int, Work, Told], None]
    weighted: bool = True
    fills_slots: bool = False

    @cached_property
    def play_games(self) -> PlayGames[Law, State, Work]:
        """Plays whole tables; paid (replicates, rounds) is filled."""
        pick_row, learn_row = self.pick_row, self.learn_row

        def play_games(
            law: Law,
            state: State,
            work: Work,
            hand: Hand,
            table: FloatArray,
            lasting: KeyArray,
            first_round: int,
            fresh: bool,
            full: bool,
            paid: FloatArray,
        ) -> None:
            arms, weights, seen = hand.arms, hand.weights, hand.costs
            for row in range(lasting.shape[0]):
                game = table[row if table.shape[0] > 1 else 0]
                for t in range(game.shape[0]):
                    key = round_key(lasting[row], first_round + t) if fresh else lasting[row]
                    pick_row(law, state, row, work, Pick(hand.nobody, key, arms, weights))
                    costs = game[t]
                    lowest = 1.0
                    for j in range(arms.shape[0]):
                        cost = costs[arms[j]]
                        lowest = min(lowest, cost)
                        if not full:
                            seen[j] = cost
                    paid[row, t] = lowest
                    told = Told(arms, weights, costs if full else seen, 1.0)
                    learn_row(law, state, row, work, told)

        return borrowing(play_games)


@cache
def rows_of(
    rule: Rule[Law, State, Work], as_law: Callable[..., Law], as_state: Callable[..., State]
) -> tuple[PickRows, LearnRows]:
    """(picks, learns) one round of every replicate.

    Laws and states cross into compiled code as plain tuples, in half of the time.
    """
    new_work, pick_row, learn_row = rule.new_work, rule.pick_row, rule.learn_row

    def pick_rows(
        numbers: Fields, arrays: Fields, keys: KeyArray, arms: IntArray, weights: FloatArray
    ) -> None:
        law, state = as_law(*numbers), as_state(*arrays)
        work, nobody = new_work(law, state, arms.shape[1]), np.empty(0, np.bool_)
        for row in range(keys.shape[0]):
            pick = Pick(nobody, keys[row], arms[row], weights[row])
            pick_row(law, state, row, work, pick)

    def learn_rows(
        numbers: Fields,
        arrays: Fields,
        arms: IntArray,
        weights: FloatArray,
        seen: FloatArray,
        spread: FloatArray,
    ) -> None:
        law, state = as_law(*numbers), as_state(*arrays)
        work = new_work(law, state, arms.shape[1])
        for row in range(arms.shape[0]):
            told = Told(arms[row], weights[row], seen[row], spread[row])
            learn_row(law, state, row, work, told)

    return compiled(pick_rows), compiled(learn_rows)


class CompiledLearner(Generic[Law, State, Work]):
    """A learner that is played by its rule; law: the learner's numbers.

    fresh: whether its randomness is that of the round, or lasts a whole run.
    """

    fresh = True

    if TYPE_CHECKING:  # dataclasses would take properties of a base class for default values

        @property
        def n_arms(self) -> int: ...
        @property
        def budget(self) -> int: ...
        @property
        def feedback(self) -> Feedback: ...
        @property
        def unbiased(self) -> bool: ...
        @property
        def law(self) -> Law: ...
        @property
        def rule(self) -> Rule[Law, State, Work]: ...
        def start(self, replicates: int) -> State: ...

    @cached_property
    def _rows(self) -> tuple[PickRows, LearnRows]:
        law, state = type(self.law), type(self.start(1))
        return rows_of(self.rule, law, state)  # type: ignore[arg-type]

    @cached_property
    def _numbers(self) -> Fields:
        return tuple(self.law)  # type: ignore[arg-type]

    def pick(self, state: State, draws: Draws, features: FloatArray | None = None) -> Choice:
        keys = draws.keys if self.fresh else draws.lasting
        shape = (len(keys), self.budget)
        arms, weights = np.empty(shape, np.int64), np.empty(shape)
        rows = self._rows[0]
        play = rows.suited(len(keys) * self.n_arms)
        play(self._numbers, tuple(state), keys, arms, weights)  # type: ignore[arg-type]
        return Choice(arms, weights if self.rule.weighted else None)

    def learn(
        self, state: State, choice: Choice, seen: Seen, features: FloatArray | None = None
    ) -> State:
        """Fold a round into every replicate, in place."""
        weights = choice.weights
        if weights is None:
            needed = self.rule.weighted and self.feedback is Feedback.PICKED
            weights = weights_of(choice) if needed else ones(choice.arms.shape)
        rows, costs = self._rows[1], seen.high
        spread = ones((len(costs),))
        if seen.watch is not None:
            # Where no race is ever watched, there is nothing that weights could make up for.
            spread = np.divide(1.0, seen.watch, out=spread.copy(), where=seen.watch > 0.0)
        play = rows.suited(len(costs) * self.n_arms)
        arrays: Fields = tuple(state)  # type: ignore[arg-type]
        play(self._numbers, arrays, choice.arms, weights, costs, spread)
        return state

    def play_table(
        self, state: State, table: FloatArray, lasting: KeyArray, first_round: int
    ) -> tuple[State, FloatArray]:
        """Whole games (see TableLearner), equal bit for bit to picking and learning by turns."""
        budget, paid = self.budget, np.empty((len(lasting), table.shape[1]))
        # Compiled code that allocates and then calls this loop would hold it once more: all of it
        # would be optimised, and kept, twice. So the scratch is made by Python.
        work = self.rule.new_work(self.law, state, budget)
        costs, nobody = np.empty(budget), np.zeros(0, np.bool_)
        hand = Hand(np.empty(budget, np.int64), np.empty(budget), costs, nobody)
        full, play = self.feedback is Feedback.FULL, self.rule.play_games
        play(self.law, state, work, hand, table, lasting, first_round, self.fresh, full, paid)
        return state, paid


# One whose types do not matter.
AnyCompiled = CompiledLearner[Any, Any, Any]


@lru_cache(maxsize=8)
def ones(shape: tuple[int, ...]) -> FloatArray:
    """Nobody changes them; marked so, they would be another type to compiled code."""
    return np.ones(shape)


def weights_of(choice: Choice) -> FloatArray:
    """The weights of a choice that must have them."""
    if choice.weights is None:
        raise PickbestError("this learner needs the weights of the choice, and there are none")
    return choice.weights
