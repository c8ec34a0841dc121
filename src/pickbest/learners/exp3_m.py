"""Exp3.M (Uchiya, Nakamura and Kudo 2010): Exp3 for subsets."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

import numpy as np

from pickbest.core import Feedback, FloatArray, IntArray, check_budget, check_share
from pickbest.core.states import sums
from pickbest.kernels.compiled import allocating, inlined
from pickbest.kernels.leaders import Scratch, new_scratch
from pickbest.kernels.random import STEP, uniform_at
from pickbest.kernels.rules import CompiledLearner, Pick, Rule, Told


class Exp3MState(NamedTuple):
    """scores: logarithms of the weights."""

    scores: Annotated[FloatArray, sums(-1)]


class Law(NamedTuple):
    """gamma: the share of uniform picks."""

    gamma: float


@allocating
def capped_law(scores: FloatArray, mixing: float, budget: int, law: FloatArray) -> None:
    """Exp3.M's inclusion probabilities: they sum to the budget, none above 1.

    Weights above a threshold are cut to it, so that the cut arms get probability exactly 1
    (Uchiya, Nakamura and Kudo 2010, Algorithm Exp3.M).
    """
    n_arms = scores.shape[0]
    if budget == n_arms or mixing == 1.0:
        for a in range(n_arms):
            law[a] = budget / n_arms
        return
    # The share of the cut weights at which an arm has probability exactly 1.
    limit = (1.0 / budget - mixing / n_arms) / (1.0 - mixing)
    order = np.argsort(-scores, kind="mergesort")
    for cut in range(budget):
        # Shares among the arms that are not cut, relative to the largest of them: nothing
        # cancels and nothing underflows, however far ahead the cut arms are.
        total = 0.0
        for i in range(cut, n_arms):
            law[order[i]] = math.exp(scores[order[i]] - scores[order[cut]])
            total += law[order[i]]
        left = 1.0 - cut * limit
        if left / total < limit or cut == budget - 1:
            for i in range(cut, n_arms):
                share = min(left * law[order[i]] / total, limit)
                law[order[i]] = budget * ((1.0 - mixing) * share + mixing / n_arms)
            return
        law[order[cut]] = 1.0


@allocating
def dependent_rounding(law: FloatArray, counter: np.uint64, arms: IntArray) -> None:
    """A subset whose inclusion probabilities are exactly `law` (DepRound, Gandhi et al. 2006)."""
    left = law.copy()
    n_arms = law.shape[0]
    i = 0
    for j in range(1, n_arms):
        # Arm i is the one still undecided; settle it or arm j.
        if left[i] <= 1e-12 or left[i] >= 1.0 - 1e-12:
            i = j
            continue
        if left[j] <= 1e-12 or left[j] >= 1.0 - 1e-12:
            continue
        up = min(1.0 - left[i], left[j])
        down = min(left[i], 1.0 - left[j])
        counter += STEP
        if uniform_at(counter) * (up + down) < down:
            left[i] += up
            left[j] -= up
        else:
            left[i] -= down
            left[j] += down
        if left[i] <= 1e-12 or left[i] >= 1.0 - 1e-12:
            i = j
    # Rounding errors leave at most one arm undecided: the largest values are the subset.
    order = np.argsort(-left, kind="mergesort")
    for j in range(arms.shape[0]):
        arms[j] = order[j]


@inlined
def pick_row(law: Law, state: Exp3MState, row: int, work: Scratch, pick: Pick) -> None:
    """Steps 1 to 4; the weight of an arm that was cut is exactly 1."""
    key, arms, weights = pick.key, pick.arms, pick.weights
    capped_law(state.scores[row], law.gamma, arms.shape[0], work.values)
    dependent_rounding(work.values, key, arms)
    for j in range(arms.shape[0]):
        weights[j] = 1.0 / work.values[arms[j]]


@inlined
def learn_row(law: Law, state: Exp3MState, row: int, work: Scratch, told: Told) -> None:
    """Step 5: arms whose weight was cut have probability 1 and keep their score."""
    arms, weights, seen = told.arms, told.weights, told.costs
    budget, n_arms = arms.shape[0], state.scores.shape[1]
    for j in range(budget):
        if weights[j] != 1.0:
            step = weights[j] * budget * law.gamma / n_arms
            state.scores[row, arms[j]] += step * (1.0 - seen[j])


RULE = Rule(new_scratch, pick_row, learn_row)


@dataclass(frozen=True)
class Exp3M(CompiledLearner[Law, Exp3MState, Scratch]):
    """Exp3.M (Uchiya, Nakamura and Kudo 2010): Exp3 for subsets and sums of rewards."""

    n_arms: int
    budget: int
    gamma: float
    feedback = Feedback.PICKED
    unbiased = True
    rule = RULE

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        check_share("gamma", self.gamma)

    @cached_property
    def law(self) -> Law:
        return Law(self.gamma)

    def start(self, replicates: int) -> Exp3MState:
        return Exp3MState(np.zeros((replicates, self.n_arms)))
