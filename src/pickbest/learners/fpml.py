"""FPML: follow the perturbed multiple leaders (Algorithm 1), with full feedback."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

import numpy as np

from pickbest.core import (
    Feedback,
    FloatArray,
    IntArray,
    PickbestError,
    check_budget,
    check_positive,
)
from pickbest.core.states import counts, sums
from pickbest.kernels.compiled import inlined
from pickbest.kernels.leaders import Scratch, new_scratch, smallest
from pickbest.kernels.random import STEP, exponential_at
from pickbest.kernels.rules import CompiledLearner, Pick, Rule, Told


class FPMLState(NamedTuple):
    """costs: cumulative costs, or their estimates; round: how many rounds were learned."""

    costs: Annotated[FloatArray, sums(-1)]
    round: Annotated[IntArray, counts()]


class Law(NamedTuple):
    """In the round after t ones, perturbations are Exp(1) / (epsilon · (t + 1)^-decay)."""

    epsilon: float
    decay: float


@inlined
def decayed(epsilon: float, decay: float, learned: int) -> float:
    """epsilon of the round after `learned` ones."""
    return epsilon if decay == 0.0 else epsilon * (learned + 1.0) ** -decay


@inlined
def pick_row(law: Law, state: FPMLState, row: int, work: Scratch, pick: Pick) -> None:
    """Algorithm 1, in units of 1 / ε."""
    taken, key, arms = pick.taken, pick.key, pick.arms
    costs, noisy = state.costs[row], work.values
    epsilon = decayed(law.epsilon, law.decay, state.round[row])
    counter = key
    for a in range(costs.shape[0]):
        # Steps 1 and 2: the perturbation Exp(1) / ε is taken off the cumulative cost.
        counter += STEP
        noisy[a] = epsilon * costs[a] - exponential_at(counter)
    for a in range(taken.shape[0]):
        if taken[a]:
            noisy[a] = np.inf
    # Step 3: the B lowest.
    smallest(noisy, arms, work.best)


@inlined
def learn_row(law: Law, state: FPMLState, row: int, work: Scratch, told: Told) -> None:
    """Algorithm 1, step 4: all costs of the round are added."""
    costs, seen = state.costs[row], told.costs
    for a in range(costs.shape[0]):
        costs[a] += seen[a]
    state.round[row] += 1


RULE = Rule(new_scratch, pick_row, learn_row, weighted=False, fills_slots=True)


@dataclass(frozen=True)
class FPML(CompiledLearner[Law, FPMLState, Scratch]):
    """Follow the Perturbed Multiple Leaders, full feedback (Algorithm 1); FPL when budget = 1.

    epsilon: perturbations are Exp(1) / epsilon.
    decay: in round t, epsilon is divided by t^decay (0: constant; 1 / (budget + 1): anytime).
    fresh: draw perturbations anew in each round, or once for the whole run. Against costs
        that do not react to the player both have the same expected regret.

    >>> from pickbest.core import Seen, replicate_keys, rng_for
    >>> learner = FPML(n_arms=3, budget=2, epsilon=1.0)
    >>> state = learner.start(replicates=1)
    >>> choice = learner.pick(state, rng_for(replicate_keys(0, 1), 0))
    >>> learner.learn(state, choice, Seen.of(np.array([[0.2, 1.0, 0.5]]))).costs
    array([[0.2, 1. , 0.5]])
    """

    n_arms: int
    budget: int
    epsilon: float
    decay: float = 0.0
    fresh: bool = True
    feedback = Feedback.FULL
    unbiased = False
    rule = RULE

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        check_positive("epsilon", self.epsilon)
        if not 0.0 <= self.decay < 1.0:
            raise PickbestError(f"decay must be at least 0 and below 1, got {self.decay!r}")

    @cached_property
    def law(self) -> Law:
        return Law(self.epsilon, self.decay)

    def start(self, replicates: int) -> FPMLState:
        return start_leaders(replicates, self.n_arms)


def start_leaders(replicates: int, n_arms: int) -> FPMLState:
    """Zero cumulative costs."""
    return FPMLState(np.zeros((replicates, n_arms)), np.zeros(replicates, np.int64))
