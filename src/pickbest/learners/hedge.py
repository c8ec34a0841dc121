"""Hedge: exponential weights, with full feedback; one arm per round, or B draws.

At the constant rate of `theory.constant_rate`, B ≥ 2 draws have expected regret ≤ ln N / η_B
against the best arm, for every number of rounds and every adversary (docs/two-picks.md).
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pickbest.core import Feedback, PickbestError, check_budget, check_positive
from pickbest.kernels.compiled import inlined
from pickbest.kernels.leaders import Scratch, new_scratch, smallest
from pickbest.kernels.random import STEP, exponential_at
from pickbest.kernels.rules import CompiledLearner, Pick, Rule, Told
from pickbest.kernels.softmax import ShareState, draw_share, fill_shares

# In place of a draw of 0, which has no logarithm.
LEAST = 1e-300


class Law(NamedTuple):
    """P(arm) ∝ exp(rate · gain)."""

    rate: float


@inlined
def pick_row(law: Law, state: ShareState, row: int, work: Scratch, pick: Pick) -> None:
    """Draws from the law until B arms differ: the first of arrivals at rates P(arm)."""
    taken, key, arms, weights = pick.taken, pick.key, pick.arms, pick.weights
    gains, arrivals, counter = state.gains[row], work.values, key
    if arms.shape[0] > 1:
        for a in range(gains.shape[0]):
            counter += STEP
            arrivals[a] = math.log(max(exponential_at(counter), LEAST)) - law.rate * gains[a]
        for a in range(taken.shape[0]):
            if taken[a]:
                arrivals[a] = np.inf
        smallest(arrivals, arms, work.best)
        return
    fill_shares(gains, taken, law.rate, np.nan, work.values)
    arms[0], weights[0] = draw_share(work.values, taken, 0.0, key)


@inlined
def learn_row(law: Law, state: ShareState, row: int, work: Scratch, told: Told) -> None:
    """All costs of the round are taken off."""
    seen = told.costs
    for a in range(seen.shape[0]):
        state.gains[row, a] -= seen[a]


def check_prior(prior: tuple[float, ...] | None, n_arms: int) -> None:
    """A prior has one positive number per arm."""
    if prior is None:
        return
    if len(prior) != n_arms:
        raise PickbestError(f"prior must have n_arms={n_arms} numbers, got {len(prior)}")
    for weight in prior:
        check_positive("prior", weight)


ONE_DRAW = Rule(new_scratch, pick_row, learn_row, fills_slots=True)
DRAWS = Rule(new_scratch, pick_row, learn_row, weighted=False, fills_slots=True)


@dataclass(frozen=True)
class Hedge(CompiledLearner[Law, ShareState, Scratch]):
    """Hedge: P(arm) ∝ prior(arm) · exp(-rate · cumulative cost); full feedback.

    budget: draws a round; those that repeat an arm are replaced by further ones. Picks of several
        arms have no weights.
    prior: positive numbers, one per arm; None: all arms are alike.

    >>> Hedge(n_arms=3, rate=0.5, prior=(2.0, 1.0, 1.0)).start(1).gains.round(3)
    array([[1.386, 0.   , 0.   ]])
    """

    n_arms: int
    rate: float
    budget: int = 1
    prior: tuple[float, ...] | None = None
    feedback = Feedback.FULL

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        check_positive("rate", self.rate)
        check_prior(self.prior, self.n_arms)

    @property
    def unbiased(self) -> bool:
        """Only single draws have weights."""
        return self.budget == 1

    @property
    def rule(self) -> Rule[Law, ShareState, Scratch]:
        return ONE_DRAW if self.budget == 1 else DRAWS

    @cached_property
    def law(self) -> Law:
        return Law(self.rate)

    def start(self, replicates: int) -> ShareState:
        """An arm with a prior starts with the gains that give it that weight."""
        gains = np.zeros((replicates, self.n_arms))
        if self.prior is not None:
            gains += np.log(np.array(self.prior) / min(self.prior)) / self.rate
        return ShareState(gains)
