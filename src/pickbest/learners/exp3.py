"""Exp3: exponential weights over single arms that see their own cost only."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pickbest.core import Feedback, check_count, check_share
from pickbest.kernels.compiled import inlined
from pickbest.kernels.rules import CompiledLearner, Rule, Told
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


RULE = Rule(new_share_work, pick_share, learn_rewards, fills_slots=True)


@dataclass(frozen=True)
class Exp3(CompiledLearner[ShareLaw, ShareState, ShareWork]):
    """Exp3 (Auer et al. 2002): P = (1 - gamma) softmax(gamma / n_arms · gains) + gamma / n_arms.

    It is fed gains 1 - cost, divided by the probability of the arm.
    """

    n_arms: int
    gamma: float
    budget = 1
    feedback = Feedback.PICKED
    unbiased = True
    rule = RULE

    def __post_init__(self) -> None:
        check_count("n_arms", self.n_arms)
        check_share("gamma", self.gamma)

    @cached_property
    def law(self) -> ShareLaw:
        return ShareLaw(self.gamma / self.n_arms, self.gamma)

    def start(self, replicates: int) -> ShareState:
        return ShareState(np.zeros((replicates, self.n_arms)))
