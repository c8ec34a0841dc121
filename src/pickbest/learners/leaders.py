"""Follow the perturbed leaders: FPML (Algorithm 1) and FPML-partial (Proposition 5)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

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
    State,
    check_budget,
    check_count,
    check_positive,
)
from pickbest.kernels import leader_games
from pickbest.kernels import leaders as kernels


class Weights(Enum):
    """Where FPML-partial's weights come from."""

    EXACT = "exact"
    GEOMETRIC = "geometric"
    EXPLORE = "explore"


_SOURCES = {
    Weights.EXACT: kernels.EXACT,
    Weights.GEOMETRIC: kernels.GEOMETRIC,
    Weights.EXPLORE: kernels.EXPLORE,
}


@lru_cache(maxsize=8)
def no_arm_taken(replicates: int) -> BoolArray:
    """The `taken` argument of a pick that leaves no arm out."""
    return np.empty((replicates, 0), np.bool_)


# What both learners have in common: these are their methods, too.


def _pick(learner: FPML | FPMLPartial, state: State, rng: Draws) -> Choice:
    return learner.pick_free(state, rng, no_arm_taken(len(rng.keys)))


def _play_slots(
    learner: FPML | FPMLPartial,
    states: list[State],
    table: FloatArray,
    lasting: KeyArray,
    first_round: int,
    distinct: bool,
    shared: bool = False,
) -> FloatArray:
    """Whole games of OG_hybrid with the learner in each slot; one slot: of the learner itself.

    states: one per slot, updated in place. Returns the costs paid.
    """
    totals = np.stack([state["costs"] for state in states])
    learned = np.stack([state["round"] for state in states])
    paid = np.empty((len(lasting), table.shape[1]))
    epsilon, decay, source, resamples, explore = learner._law()
    leader_games.play_leaders(
        totals,
        learned,
        table,
        lasting,
        first_round,
        epsilon,
        decay,
        learner.fresh,
        learner.feedback is Feedback.FULL,
        distinct,
        shared,
        source,
        resamples,
        explore,
        learner.budget,
        paid,
    )
    for slot, state in enumerate(states):
        state["costs"][...] = totals[slot]
        state["round"][...] = learned[slot]
    return paid


@dataclass(frozen=True)
class FPML:
    """Follow the Perturbed Multiple Leaders, full feedback (Algorithm 1); FPL when budget = 1.

    epsilon: perturbations are Exp(1) / epsilon.
    decay: in round t, epsilon is divided by t^decay (0: constant; 1 / (budget + 1): anytime).
    fresh: draw perturbations anew in each round, or once for the whole run. Against costs
        that do not react to the player both have the same expected regret.

    >>> from pickbest.core import replicate_keys, rng_for
    >>> learner = FPML(n_arms=3, budget=2, epsilon=1.0)
    >>> state = learner.start(replicates=1)
    >>> choice = learner.pick(state, rng_for(replicate_keys(0, 1), 0))
    >>> state = learner.learn(state, choice, np.array([[0.2, 1.0, 0.5]]))
    >>> state["costs"]
    array([[0.2, 1. , 0.5]])
    """

    n_arms: int
    budget: int
    epsilon: float
    decay: float = 0.0
    fresh: bool = True
    feedback = Feedback.FULL
    unbiased = False
    pick = _pick
    play_slots = _play_slots

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        check_positive("epsilon", self.epsilon)
        check_decay(self.decay)

    def start(self, replicates: int) -> State:
        """costs: cumulative costs; round: how many rounds were learned."""
        return start_leaders(replicates, self.n_arms)

    def pick_free(self, state: State, rng: Draws, taken: BoolArray) -> Choice:
        keys = rng.keys if self.fresh else rng.lasting
        arms, unused = _new_choice(state, self.budget)
        kernels.pick_leaders(
            state["costs"], state["round"], taken, keys, *self._law(), arms, unused
        )
        return Choice(arms)

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        kernels.learn_all(state["costs"], state["round"], seen)
        return state

    def play_table(
        self, state: State, table: FloatArray, lasting: KeyArray, first_round: int
    ) -> tuple[State, FloatArray]:
        paid = np.empty((len(lasting), table.shape[1]))
        leader_games.play_full(
            state["costs"],
            state["round"],
            table,
            lasting,
            first_round,
            self.epsilon,
            self.decay,
            self.fresh,
            self.budget,
            paid,
        )
        return state, paid

    def _law(self) -> tuple[float, float, int, int, float]:
        return self.epsilon, self.decay, kernels.NO_WEIGHTS, 1, 1.0


@dataclass(frozen=True)
class FPMLPartial:
    """FPML that sees only the costs of its own arms (Proposition 5).

    weights: EXACT inclusion probabilities; GEOMETRIC resampling, at most `resamples` draws;
        EXPLORE, where with probability `explore` the last arm of the budget is a uniform one
        and only that arm's cost is learned (section 2.1).

    >>> from pickbest.core import replicate_keys, rng_for
    >>> learner = FPMLPartial(n_arms=4, budget=2, epsilon=1.0)
    >>> state = learner.start(replicates=1)
    >>> learner.pick(state, rng_for(replicate_keys(0, 1), 0)).weights
    array([[2., 2.]])
    """

    n_arms: int
    budget: int
    epsilon: float
    weights: Weights = Weights.EXACT
    resamples: int = 1
    explore: float = 1.0
    decay: float = 0.0
    # Weights belong to the draw of their own round: perturbations are never kept.
    fresh = True
    feedback = Feedback.PICKED
    learns_any = True
    pick = _pick
    play_slots = _play_slots

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        check_positive("epsilon", self.epsilon)
        check_count("resamples", self.resamples)
        check_decay(self.decay)
        if not 0.0 < self.explore <= 1.0:
            raise PickbestError(f"explore must be above 0 and at most 1, got {self.explore!r}")

    @property
    def unbiased(self) -> bool:
        """Whether the weights are exactly unbiased: a cap on resampling biases them down."""
        return self.weights is not Weights.GEOMETRIC

    def start(self, replicates: int) -> State:
        """costs: cumulative estimated costs; round: how many rounds were learned."""
        return start_leaders(replicates, self.n_arms)

    def pick_free(self, state: State, rng: Draws, taken: BoolArray) -> Choice:
        arms, weights = _new_choice(state, self.budget)
        kernels.pick_leaders(
            state["costs"], state["round"], taken, rng.keys, *self._law(), arms, weights
        )
        return Choice(arms, weights)

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        kernels.learn_picked(state["costs"], state["round"], choice.arms, weights_of(choice), seen)
        return state

    def _law(self) -> tuple[float, float, int, int, float]:
        source = _SOURCES[self.weights]
        return self.epsilon, self.decay, source, self.resamples, self.explore


def start_leaders(replicates: int, n_arms: int) -> State:
    """Zero cumulative costs."""
    return {"costs": np.zeros((replicates, n_arms)), "round": np.zeros(replicates, np.int64)}


def _new_choice(state: State, budget: int) -> tuple[IntArray, FloatArray]:
    shape = (len(state["costs"]), budget)
    return np.empty(shape, np.int64), np.empty(shape)


def weights_of(choice: Choice) -> FloatArray:
    """The weights of a choice that must have them."""
    if choice.weights is None:
        raise PickbestError("this learner needs the weights of the choice, and there are none")
    return choice.weights


def check_decay(decay: float) -> None:
    """The decay of an anytime tuning is in [0, 1)."""
    if not 0.0 <= decay < 1.0:
        raise PickbestError(f"decay must be at least 0 and below 1, got {decay!r}")
