"""Exp3 and Exp3-IX: exponential weights over single arms that see their own cost only."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pickbest.core import Feedback, check_count, check_positive, check_share
from pickbest.kernels.compiled import inlined
from pickbest.kernels.rules import ByRule, Rule, Told
from pickbest.kernels.softmax import (
    ShareLaw,
    ShareState,
    ShareWork,
    add_gain,
    new_share_work,
    pick_share,
)


@inlined
def learn_rewards(law: ShareLaw, state: ShareState, row: int, work: ShareWork, told: Told) -> None:
    """Auer et al. (2002), Figure 1, step 4: rewards over their probability."""
    arms, weights, seen = told.arms, told.weights, told.costs
    for j in range(arms.shape[0]):
        add_gain(law, state, row, arms[j], weights[j] * (1.0 - seen[j]), work)


@inlined
def learn_costs(law: ShareLaw, state: ShareState, row: int, work: ShareWork, told: Told) -> None:
    """Neu (2015), Algorithm 1: costs over their probability plus γ, which is in the weight."""
    arms, weights, seen = told.arms, told.weights, told.costs
    for j in range(arms.shape[0]):
        add_gain(law, state, row, arms[j], weights[j] * -seen[j], work)


EXP3 = Rule(__name__, new_share_work, pick_share, learn_rewards, fills_slots=True)
EXP3_IX = Rule(__name__, new_share_work, pick_share, learn_costs, fills_slots=True)


@dataclass(frozen=True)
class Exp3(ByRule):
    """Exp3 (Auer et al. 2002): P = (1 - gamma) softmax(gamma / n_arms · gains) + gamma / n_arms.

    It is fed gains 1 - cost, divided by the probability of the arm.
    """

    n_arms: int
    gamma: float
    budget = 1
    feedback = Feedback.PICKED
    unbiased = True
    learns_any = True
    rule = EXP3

    def __post_init__(self) -> None:
        check_count("n_arms", self.n_arms)
        check_share("gamma", self.gamma)

    @cached_property
    def law(self) -> ShareLaw:
        return ShareLaw(self.gamma / self.n_arms, self.gamma, 0.0)

    def start(self, replicates: int) -> ShareState:
        return ShareState(np.zeros((replicates, self.n_arms)))


@dataclass(frozen=True)
class Exp3IX(ByRule):
    """Exp3 with implicit exploration (Neu 2015): costs divided by probability + implicit."""

    n_arms: int
    rate: float
    implicit: float
    budget = 1
    feedback = Feedback.PICKED
    unbiased = False
    learns_any = True
    rule = EXP3_IX

    def __post_init__(self) -> None:
        check_count("n_arms", self.n_arms)
        check_positive("rate", self.rate)
        check_positive("implicit", self.implicit)

    @cached_property
    def law(self) -> ShareLaw:
        return ShareLaw(self.rate, 0.0, self.implicit)

    def start(self, replicates: int) -> ShareState:
        return ShareState(np.zeros((replicates, self.n_arms)))
