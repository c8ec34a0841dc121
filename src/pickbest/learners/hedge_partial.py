"""Hedge-partial: exponential weights over costs relative to an arm that was drawn, B ≥ 2.

With feedback of the picked arms only, its expected regret against the best arm is bounded by
`theory.hedge_partial_bound`, of order N ln N / B, for every number of rounds (docs/two-picks.md,
section 3; costs fixed in advance).
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

import numpy as np

from pickbest.core import (
    BoolArray,
    Feedback,
    FloatArray,
    IntArray,
    PickbestError,
    check_budget,
    check_positive,
)
from pickbest.core.states import sums
from pickbest.kernels.compiled import allocating, inlined, kernel
from pickbest.kernels.leaders import Scratch, draw_gumbel, new_scratch
from pickbest.kernels.random import STEP, slot_key, uniform_at
from pickbest.kernels.rules import CompiledLearner, Pick, Rule, Told


class HedgePartialState(NamedTuple):
    """costs: cumulative estimates of costs relative to those of the drawn arms."""

    costs: Annotated[FloatArray, sums(-1)]


class Law(NamedTuple):
    """rate: P(arm) ∝ exp(-rate · cost); explore: where B = 2, the chance that the second arm is a
    uniform one (for more arms, all but two are)."""

    rate: float
    explore: float


class Work(NamedTuple):
    """ranked, order: scratch of length n_arms; drawn: of length budget; nobody: no arm is taken."""

    ranked: Scratch
    order: IntArray
    drawn: IntArray
    nobody: BoolArray


@allocating
def new_work(law: Law, state: HedgePartialState, budget: int) -> Work:
    n_arms = state.costs.shape[1]
    ranked = new_scratch(law, state, budget)
    return Work(ranked, np.arange(n_arms), np.empty(budget, np.int64), np.zeros(0, np.bool_))


@inlined
def pick_row(law: Law, state: HedgePartialState, row: int, work: Work, pick: Pick) -> None:
    """I and J from the law, J ≠ I; uniform arms K ≠ I; further draws where J is one of the K.

    Given I, arm a is J or one of the K with probability 1 - (1 - r)(1 - k / (N - 1)), where r is
    a's share of the law without I and k the number of K; for B = 2 with (1 - e) r + e / (N - 1).
    """
    key, arms, weights = pick.key, pick.arms, pick.weights
    costs = state.costs[row]
    n_arms, budget = costs.shape[0], arms.shape[0]
    draw_gumbel(costs, law.rate, work.nobody, key, work.drawn, work.ranked)
    first, second = work.drawn[0], work.drawn[1]
    arms[0], weights[0] = first, 1.0
    counter = slot_key(key, 1) + STEP
    uniform = budget - 2
    if budget == 2:
        uniform = 1 if uniform_at(counter) < law.explore else 0
    _draw_others(first, uniform, counter, work.order, arms)
    filled, seen = 1 + uniform, 1 + uniform
    if not _among(arms[:filled], second) and filled < budget:
        arms[filled] = second
        filled, seen = filled + 1, seen + 1
    # Draws that are left over only lower what is paid: nothing is learned from them.
    for j in range(2, budget):
        if filled < budget and not _among(arms[:filled], work.drawn[j]):
            arms[filled] = work.drawn[j]
            filled += 1
    lowest = np.inf
    for a in range(n_arms):
        if a != first:
            lowest = min(lowest, costs[a])
    total = 0.0
    for a in range(n_arms):
        if a != first:
            total += math.exp(-law.rate * (costs[a] - lowest))
    for j in range(1, budget):
        share = math.exp(-law.rate * (costs[arms[j]] - lowest)) / total
        chance = (1.0 - law.explore) * share + law.explore / (n_arms - 1)
        if budget > 2:
            chance = 1.0 - (1.0 - share) * (1.0 - (budget - 2) / (n_arms - 1))
        weights[j] = 1.0 / chance if j < seen else 0.0


@inlined
def _among(arms: IntArray, arm: int) -> bool:
    found = False
    for j in range(arms.shape[0]):
        found = found or arms[j] == arm
    return found


@kernel
def _draw_others(
    first: int, count: int, counter: np.uint64, order: IntArray, arms: IntArray
) -> None:
    """arms[1 : 1 + count] = uniform arms other than `first`, without repetition.

    order holds 0, 1, 2, … and is left so.
    """
    n_arms = order.shape[0]
    order[first], order[n_arms - 1] = n_arms - 1, first
    places = arms[1 : 1 + count]
    for j in range(count):
        counter += STEP
        place = j + int(uniform_at(counter) * (n_arms - 1 - j))
        order[j], order[place] = order[place], order[j]
        places[j] = order[j]
    for j in range(count):
        order[places[j]] = places[j]
        order[j] = j
    order[first], order[n_arms - 1] = first, n_arms - 1


@inlined
def learn_row(law: Law, state: HedgePartialState, row: int, work: Work, told: Told) -> None:
    """Estimates of c(a) - c(I): all arms are shifted by the same c(I), which Hedge does not see."""
    arms, weights, seen = told.arms, told.weights, told.costs
    for j in range(1, arms.shape[0]):
        state.costs[row, arms[j]] += weights[j] * (seen[j] - seen[0])


RULE = Rule(new_work, pick_row, learn_row)


@dataclass(frozen=True)
class HedgePartial(CompiledLearner[Law, HedgePartialState, Work]):
    """Hedge on relative estimates, from the costs of its own arms; at least two a round.

    The first arm is drawn from Hedge's law; what the others cost more or less than it is learned.
    So the estimates vary only where the likely arms differ, and there the second draw pays.

    >>> from pickbest.core import replicate_keys, rng_for
    >>> learner = HedgePartial(n_arms=5, budget=3, rate=0.2)
    >>> learner.pick(learner.start(1), rng_for(replicate_keys(0, 1), 0)).arms.shape
    (1, 3)
    """

    n_arms: int
    budget: int
    rate: float
    explore: float = 0.5337
    feedback = Feedback.PICKED
    unbiased = True
    rule = RULE

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        if self.budget < 2:
            raise PickbestError(f"hedge-partial needs a budget of at least 2, got {self.budget}")
        check_positive("rate", self.rate)
        if not 0.0 < self.explore < 1.0:
            raise PickbestError(f"explore must be between 0 and 1, got {self.explore!r}")

    @cached_property
    def law(self) -> Law:
        return Law(self.rate, self.explore)

    def start(self, replicates: int) -> HedgePartialState:
        return HedgePartialState(np.zeros((replicates, self.n_arms)))
