"""The game loop, once, for every learner that has a compiled pick and learn.

A learner's file gives three compiled functions, each for one row (a replicate) of its state:

    new_work(law, state, budget)                      scratch, and what is kept between rounds
    pick_row(law, state, row, work, pick)             fills pick.arms and, if any, pick.weights
    learn_row(law, state, row, work, told)

law and state are named tuples, of the learner's numbers and of arrays whose axis 0 is rows. Rounds
one by one and whole tables call the same two functions, and `kernels.slots` fills slots with them.

`Rule` makes the loops from the code below, with the three names bound to the learner's functions.
(A loop that takes compiled functions as arguments would not be found again in the cache on disk.)
"""

import hashlib
import sys
from collections.abc import Callable
from functools import cached_property, lru_cache
from types import FunctionType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from pickbest.core import (
    BoolArray,
    Choice,
    CompiledLearner,
    Draws,
    Feedback,
    FloatArray,
    IntArray,
    KeyArray,
    PickbestError,
    State,
)
from pickbest.kernels.compiled import allocating, interpreted, kernel
from pickbest.kernels.random import round_key

Compiled = Callable[..., Any]
Known = TypeVar("Known")


def unbound(*_: Any) -> Any:
    """What a loop calls in place of a function that `Rule.loop` has not bound yet."""
    raise TypeError("this loop is code for Rule.loop, not a function to call")


new_work = pick_row = learn_row = as_law = as_state = unbound


def specialised(
    loop: Compiled, home: str, functions: dict[str, Compiled], compile: Compiled
) -> Compiled:
    """The loop, compiled with these functions in place of the names that it calls.

    It gets a name of its own in the module `home`, and so a place of its own in the cache.
    """
    called = " ".join(f"{one.__module__}.{one.__name__}" for one in functions.values())
    name = f"{loop.__name__}_{hashlib.sha256(called.encode()).hexdigest()[:12]}"
    path = str(sys.modules[home].__file__)
    # Numba looks for its text in `home`: with Python 3.13, that must begin where a statement does.
    code = loop.__code__.replace(co_filename=path, co_name=name, co_firstlineno=1)
    made = FunctionType(code, {**loop.__globals__, **functions})
    made.__module__, made.__qualname__ = home, name
    compiled: Compiled = compile(made)
    return compiled


class Pick(NamedTuple):
    """What pick_row is asked and fills: taken is (n_arms,), or (0,) where no arm is."""

    taken: BoolArray
    key: np.uint64
    arms: IntArray
    weights: FloatArray


class Told(NamedTuple):
    """What learn_row is told: the costs of all arms with full feedback, else those of `arms`."""

    arms: IntArray
    weights: FloatArray
    costs: FloatArray


class Seat(NamedTuple):
    """Scratch of one player: the arms of a round, their weights and costs; nobody: (0,)."""

    arms: IntArray
    weights: FloatArray
    costs: FloatArray
    nobody: BoolArray


class Rule:
    """A learner's compiled functions, and the loops that play them.

    home: the learner's module, beside which machine code is kept.
    weighted: whether picks have weights.
    fills_slots: whether pick_row leaves taken arms out.
    """

    def __init__(
        self,
        home: str,
        new_work: Compiled,
        pick_row: Compiled,
        learn_row: Compiled,
        weighted: bool = True,
        fills_slots: bool = False,
    ) -> None:
        self._home = home
        self._functions = {"new_work": new_work, "pick_row": pick_row, "learn_row": learn_row}
        self.weighted, self.fills_slots = weighted, fills_slots
        self._rows: tuple[Compiled, Compiled] | None = None

    def loop(self, code: Compiled, how: Compiled, /, **further: Compiled) -> Compiled:
        """A loop over the learner's functions (and further ones that it calls by name).

        how: it is compiled, one of `kernels.compiled`.
        """
        return specialised(code, self._home, {**self._functions, **further}, how)

    def pick(
        self, learner: CompiledLearner, state: State, rng: Draws, taken: BoolArray | None = None
    ) -> Choice:
        """The picks of every replicate; taken (replicates, n_arms): arms that are left out."""
        keys = rng.keys if learner.fresh else rng.lasting
        shape = (len(keys), learner.budget)
        arms, weights = np.empty(shape, np.int64), np.empty(shape)
        excluded = nobody_taken(len(keys)) if taken is None else taken
        pick_rows, _ = self._rows or self._bind(learner.law, state)
        pick_rows(tuple(learner.law), tuple(state), excluded, keys, arms, weights)
        return Choice(arms, weights if self.weighted else None)

    def learn(
        self, learner: CompiledLearner, state: Known, choice: Choice, seen: FloatArray
    ) -> Known:
        """Fold a round into every replicate, in place."""
        weights = choice.weights
        if weights is None:
            needed = self.weighted and learner.feedback is Feedback.PICKED
            weights = weights_of(choice) if needed else np.empty(choice.arms.shape)
        learn_rows = (self._rows or self._bind(learner.law, state))[1]
        arrays: Any = state
        learn_rows(tuple(learner.law), tuple(arrays), choice.arms, weights, seen)
        return state

    def play(
        self,
        learner: CompiledLearner,
        state: State,
        table: FloatArray,
        lasting: KeyArray,
        first_round: int,
    ) -> tuple[State, FloatArray]:
        """Whole games (see TableLearner), equal bit for bit to picking and learning by turns."""
        budget, paid = learner.budget, np.empty((len(lasting), table.shape[1]))
        work = self.new_work(learner.law, state, budget)
        costs, nobody = np.empty(budget), np.zeros(0, np.bool_)
        seat = Seat(np.empty(budget, np.int64), np.empty(budget), costs, nobody)
        full = learner.feedback is Feedback.FULL
        game = (table, lasting, first_round, learner.fresh, full)
        self._play_games(learner.law, state, work, seat, *game, paid)
        return state, paid

    def _bind(self, law: Any, state: Any) -> tuple[Compiled, Compiled]:
        """The loops of rounds one by one, for named tuples of these kinds.

        They are called with plain tuples, which cross into compiled code in half of the time.
        """
        kinds = {"as_law": type(law), "as_state": type(state)}
        self._rows = (
            self.loop(_pick_rows, allocating, **kinds),
            self.loop(_learn_rows, allocating, **kinds),
        )
        return self._rows

    @cached_property
    def new_work(self) -> Compiled:
        """Makes the scratch of whole games, uncompiled.

        Compiled code that allocates and then calls their loops would hold them once more: all of
        it would be optimised, and kept, twice.
        """
        return interpreted(self._functions["new_work"])

    @cached_property
    def _play_games(self) -> Compiled:
        return self.loop(_play_games, kernel)


class ByRule:
    """What learners with a compiled pick and learn have in common: their rule plays them."""

    fresh = True

    def pick(self: CompiledLearner, state: State, rng: Draws) -> Choice:
        picked: Choice = self.rule.pick(self, state, rng)
        return picked

    def learn(self: CompiledLearner, state: Known, choice: Choice, seen: FloatArray) -> Known:
        learned: Known = self.rule.learn(self, state, choice, seen)
        return learned


class ByCounts(ByRule):
    """Those that count what they see of picked arms, whoever picked them: they need no weights."""

    feedback = Feedback.PICKED
    unbiased = False
    learns_any = True


def _pick_rows(
    numbers: Any, arrays: Any, taken: BoolArray, keys: KeyArray, arms: IntArray, weights: FloatArray
) -> None:
    law, state = as_law(*numbers), as_state(*arrays)
    work = new_work(law, state, arms.shape[1])
    for row in range(keys.shape[0]):
        pick = Pick(taken[row], keys[row], arms[row], weights[row])
        pick_row(law, state, row, work, pick)


def _learn_rows(
    numbers: Any, arrays: Any, arms: IntArray, weights: FloatArray, seen: FloatArray
) -> None:
    law, state = as_law(*numbers), as_state(*arrays)
    work = new_work(law, state, arms.shape[1])
    for row in range(arms.shape[0]):
        learn_row(law, state, row, work, Told(arms[row], weights[row], seen[row]))


def _play_games(
    law: Any,
    state: Any,
    work: Any,
    seat: Seat,
    table: FloatArray,
    lasting: KeyArray,
    first_round: int,
    fresh: bool,
    full: bool,
    paid: FloatArray,
) -> None:
    arms, weights, seen = seat.arms, seat.weights, seat.costs
    for row in range(lasting.shape[0]):
        game = table[row if table.shape[0] > 1 else 0]
        for t in range(game.shape[0]):
            key = round_key(lasting[row], first_round + t) if fresh else lasting[row]
            pick_row(law, state, row, work, Pick(seat.nobody, key, arms, weights))
            costs = game[t]
            lowest = 1.0
            for j in range(arms.shape[0]):
                cost = costs[arms[j]]
                lowest = min(lowest, cost)
                if not full:
                    seen[j] = cost
            paid[row, t] = lowest
            learn_row(law, state, row, work, Told(arms, weights, costs if full else seen))


@lru_cache(maxsize=8)
def nobody_taken(replicates: int) -> BoolArray:
    """The `taken` argument of a pick that leaves no arm out."""
    return np.empty((replicates, 0), np.bool_)


def weights_of(choice: Choice) -> FloatArray:
    """The weights of a choice that must have them."""
    if choice.weights is None:
        raise PickbestError("this learner needs the weights of the choice, and there are none")
    return choice.weights
