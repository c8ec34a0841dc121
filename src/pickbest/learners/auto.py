"""Complementary sets from pairs of arms; and the same behind a guard, for all worlds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pickbest.core import (
    Choice,
    Draws,
    Feedback,
    FloatArray,
    KeyArray,
    PickbestError,
    State,
    check_budget,
)
from pickbest.kernels import auto as kernels
from pickbest.kernels import pair_games
from pickbest.kernels.pairs import COLUMNS, start_memory
from pickbest.kernels.rules import weights_of
from pickbest.kernels.wear import HEAD

# With more arms than this, the table of pairs would not fit: sets are the top B then.
MOST_PAIRED = 500
# The anchor comes last; see kernels.pairs.
MEMORIES = (1.0, 0.97, 0.88, 1.0)


@dataclass(frozen=True)
class Pairwise:
    """Greedy sets from posterior draws of arms' means and what pairs gain over each other.

    Stochastic K-max with distinct arms and shared feedback: every pair of arms that ran
    together informs every set that holds both. See `kernels.pairs`.

    discount: counts are multiplied by it in every round; below 1 it follows drift.
    """

    n_arms: int
    budget: int
    discount: float = 1.0
    feedback = Feedback.PICKED
    unbiased = False
    learns_any = True

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        if not 0.0 < self.discount <= 1.0:
            raise PickbestError(f"discount must be above 0 and at most 1, got {self.discount!r}")

    def start(self, replicates: int) -> State:
        """arms, pairs, memory: see `kernels.pairs`."""
        return start_pairs(replicates, self.n_arms, 1)

    def pick(self, state: State, rng: Draws) -> Choice:
        arms = np.empty((len(rng.keys), self.budget), np.int64)
        pair_games.pick_pairs(*_pairs_of(state), rng.keys, arms)
        return Choice(arms)

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        pair_games.learn_pairs(*_pairs_of(state), self._discounts(), choice.arms, seen)
        return state

    def play_table(
        self, state: State, table: FloatArray, lasting: KeyArray, first_round: int
    ) -> tuple[State, FloatArray]:
        paid = np.empty((len(lasting), table.shape[1]))
        pair_games.play_pairs(
            *_pairs_of(state), self._discounts(), table, lasting, first_round, self.budget, paid
        )
        return state, paid

    def _discounts(self) -> FloatArray:
        return np.array([self.discount])


@dataclass(frozen=True)
class Auto:
    """The learner to start with: nothing to set, any number of rounds, any costs.

    It follows the top B or builds a complementary set as the data show (see `Pairwise`),
    forgets when that predicts better (in half of a set, where there are several arms), spreads
    its picks where arms wear off with use, and is guarded by FPML: its expected regret against
    the single best arm is O(sqrt(T N ln N)) for any costs (`theory.auto_bound`).
    docs/learners.md has the derivation.

    >>> from pickbest.core import replicate_keys, rng_for
    >>> learner = Auto(n_arms=4, budget=2)
    >>> learner.pick(learner.start(1), rng_for(replicate_keys(0, 1), 0)).arms.shape
    (1, 2)
    """

    n_arms: int
    budget: int
    feedback = Feedback.PICKED
    unbiased = True
    learns_any = True

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)

    def start(self, replicates: int) -> State:
        """Of `kernels.pairs`, `kernels.wear` and `kernels.auto`; costs: the guard's estimates."""
        guard = np.empty((replicates, kernels.GUARD))
        for row in guard:
            kernels.start_guard(row, self.n_arms)
        return {
            **start_pairs(replicates, self.n_arms, len(MEMORIES)),
            "wear": np.zeros((replicates, HEAD)),
            "use": np.zeros((replicates, self.n_arms)),
            "costs": np.zeros((replicates, self.n_arms)),
            "guard": guard,
        }

    def pick(self, state: State, rng: Draws) -> Choice:
        shape = (len(rng.keys), self.budget)
        arms, weights = np.empty(shape, np.int64), np.empty(shape)
        known = (state["wear"], state["costs"], state["guard"])
        kernels.pick_auto(*_pairs_of(state), *known, rng.keys, arms, weights)
        return Choice(arms, weights)

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        weights = weights_of(choice)
        kernels.learn_auto(*_all_of(state), np.array(MEMORIES), choice.arms, weights, seen)
        return state

    def play_table(
        self, state: State, table: FloatArray, lasting: KeyArray, first_round: int
    ) -> tuple[State, FloatArray]:
        paid = np.empty((len(lasting), table.shape[1]))
        kernels.play_auto(
            *_all_of(state), np.array(MEMORIES), table, lasting, first_round, self.budget, paid
        )
        return state, paid


def start_pairs(replicates: int, n_arms: int, memories: int) -> State:
    """Nothing seen yet."""
    paired = n_arms if n_arms <= MOST_PAIRED else 0
    memory = np.empty((replicates, memories, COLUMNS))
    for row in memory:
        start_memory(row)
    return {
        "arms": np.zeros((replicates, memories, 2, n_arms)),
        "pairs": np.zeros((replicates, memories, 2, paired, paired)),
        "memory": memory,
    }


def _pairs_of(state: State) -> tuple[FloatArray, FloatArray, FloatArray]:
    return state["arms"], state["pairs"], state["memory"]


def _all_of(
    state: State,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    return (*_pairs_of(state), state["wear"], state["use"], state["costs"], state["guard"])
