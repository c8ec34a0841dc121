"""Hedge: exponential weights over single arms, with full feedback."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pickbest.core import (
    Choice,
    Draws,
    Feedback,
    FloatArray,
    IntArray,
    check_count,
    check_positive,
)
from pickbest.kernels.compiled import inlined
from pickbest.kernels.rules import Rule
from pickbest.kernels.softmax import ShareLaw, ShareState, ShareWork, new_share_work, pick_share


@inlined
def learn_row(
    law: ShareLaw,
    state: ShareState,
    row: int,
    arms: IntArray,
    weights: FloatArray,
    seen: FloatArray,
    work: ShareWork,
) -> None:
    """All costs of the round are taken off."""
    for a in range(seen.shape[0]):
        state.gains[row, a] -= seen[a]
    work.base[row] = np.nan


RULE = Rule(__name__, new_share_work, pick_share, learn_row, fills_slots=True)


@dataclass(frozen=True)
class Hedge:
    """Hedge: one arm a round, P(arm) ∝ exp(-rate · cumulative cost); full feedback."""

    n_arms: int
    rate: float
    budget = 1
    fresh = True
    feedback = Feedback.FULL
    unbiased = True
    rule = RULE

    def __post_init__(self) -> None:
        check_count("n_arms", self.n_arms)
        check_positive("rate", self.rate)

    @cached_property
    def law(self) -> ShareLaw:
        return ShareLaw(self.rate, 0.0, 0.0)

    def start(self, replicates: int) -> ShareState:
        return ShareState(np.zeros((replicates, self.n_arms)))

    def pick(self, state: ShareState, rng: Draws) -> Choice:
        return RULE.pick(self, state, rng)

    def learn(self, state: ShareState, choice: Choice, seen: FloatArray) -> ShareState:
        return RULE.learn(self, state, choice, seen)
