"""Hedge over k-subsets: regret against the best set of k arms itself, with B = 2k, 3k, … picks."""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Annotated, NamedTuple

import numpy as np

from pickbest.core import (
    BoolArray,
    Feedback,
    FloatArray,
    IntArray,
    PickbestError,
    check_budget,
    check_count,
    check_positive,
)
from pickbest.core.states import sums
from pickbest.kernels.compiled import allocating, inlined
from pickbest.kernels.leaders import Scratch, draw_gumbel, new_scratch
from pickbest.kernels.rules import CompiledLearner, Pick, Rule, Told

# Every subset has a total of its own.
MOST_SUBSETS = 1_000_000


class HedgeSubsetsState(NamedTuple):
    """costs: cumulative costs of the subsets, in lexicographic order; a subset costs what its best
    arm costs."""

    costs: Annotated[FloatArray, sums()]


class Law(NamedTuple):
    """rate: P(subset) ∝ exp(-rate · cost); subsets: (count, set_size); n_arms."""

    rate: float
    subsets: IntArray
    n_arms: int


class Work(NamedTuple):
    """ranked: scratch of the number of subsets; drawn: of as many subsets as are drawn at most;
    inside: of length n_arms; nobody: none is taken."""

    ranked: Scratch
    drawn: IntArray
    inside: BoolArray
    nobody: BoolArray


@allocating
def new_work(law: Law, state: HedgeSubsetsState, budget: int) -> Work:
    count = state.costs.shape[1]
    most = min(count, budget)
    inside = np.empty(law.n_arms, np.bool_)
    ranked = new_scratch(law, state, budget)
    return Work(ranked, np.empty(most, np.int64), inside, np.zeros(0, np.bool_))


@inlined
def pick_row(law: Law, state: HedgeSubsetsState, row: int, work: Work, pick: Pick) -> None:
    """The arms of subsets drawn from the law, until B arms differ."""
    key, arms = pick.key, pick.arms
    draw_gumbel(state.costs[row], law.rate, work.nobody, key, work.drawn, work.ranked)
    work.inside[:] = False
    filled = 0
    for i in range(work.drawn.shape[0]):
        for j in range(law.subsets.shape[1]):
            arm = law.subsets[work.drawn[i], j]
            if filled < arms.shape[0] and not work.inside[arm]:
                work.inside[arm] = True
                arms[filled] = arm
                filled += 1
    for a in range(law.n_arms):
        if filled < arms.shape[0] and not work.inside[a]:
            arms[filled] = a
            filled += 1


@inlined
def learn_row(law: Law, state: HedgeSubsetsState, row: int, work: Work, told: Told) -> None:
    seen = told.costs
    for s in range(law.subsets.shape[0]):
        lowest = 1.0
        for j in range(law.subsets.shape[1]):
            lowest = min(lowest, seen[law.subsets[s, j]])
        state.costs[row, s] += lowest


RULE = Rule(new_work, pick_row, learn_row, weighted=False)


@dataclass(frozen=True)
class HedgeSubsets(CompiledLearner[Law, HedgeSubsetsState, Work]):
    """Hedge whose experts are the k-subsets; B / k draws a round, full feedback.

    At the rate `theory.constant_rate(budget=B // k)` its expected regret against the best k-subset
    is at most `theory.subset_bound`, for every number of rounds and every adversary.

    >>> HedgeSubsets(n_arms=6, budget=4, set_size=2, rate=1.0).start(1).costs.shape
    (1, 15)
    """

    n_arms: int
    budget: int
    set_size: int
    rate: float
    feedback = Feedback.FULL
    unbiased = False
    rule = RULE

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        if self.budget % check_count("set_size", self.set_size):
            raise PickbestError(
                f"set_size must divide the budget: {self.set_size} does not divide {self.budget}"
            )
        check_positive("rate", self.rate)
        count = math.comb(self.n_arms, self.set_size)
        if count > MOST_SUBSETS:
            raise PickbestError(
                f"there are {count} subsets of {self.set_size} of {self.n_arms} arms, at most "
                f"{MOST_SUBSETS} fit: choose a smaller set_size"
            )

    @cached_property
    def law(self) -> Law:
        return Law(self.rate, _subsets(self.n_arms, self.set_size), self.n_arms)

    def start(self, replicates: int) -> HedgeSubsetsState:
        return HedgeSubsetsState(np.zeros((replicates, math.comb(self.n_arms, self.set_size))))


@lru_cache(maxsize=16)
def _subsets(n_arms: int, set_size: int) -> IntArray:
    return np.array(list(combinations(range(n_arms), set_size)), np.int64)
