"""Pairwise: complementary sets from what pairs of arms gain over each other."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pickbest.core import FloatArray, check_budget, check_share
from pickbest.kernels.compiled import allocating, part
from pickbest.kernels.pairs import SHARPNESS, PairsState, build_set, learn_memory, start_pairs
from pickbest.kernels.rules import ByCounts, Pick, Rule, Told


class Law(NamedTuple):
    """discount: what was seen counts that much less in every round."""

    discount: float


class Work(NamedTuple):
    """scores: scratch of length n_arms."""

    scores: FloatArray


@allocating
def new_work(law: Law, state: PairsState, budget: int) -> Work:
    return Work(np.empty(state.rewards.shape[2]))


@part
def pick_row(law: Law, state: PairsState, row: int, work: Work, pick: Pick) -> None:
    """The greedy set of the only memory."""
    key, arms = pick.key, pick.arms
    build_set(state, row, 0, SHARPNESS, key, 0, arms.shape[0], arms, work.scores)


@part
def learn_row(law: Law, state: PairsState, row: int, work: Work, told: Told) -> None:
    arms, seen = told.arms, told.costs
    learn_memory(state, row, 0, law.discount, arms, seen)


RULE = Rule(__name__, new_work, pick_row, learn_row, weighted=False)


@dataclass(frozen=True)
class Pairwise(ByCounts):
    """Greedy sets from posterior draws of arms' means and what pairs gain over each other.

    Stochastic K-max with distinct arms and shared feedback: every pair of arms that ran
    together informs every set that holds both. See `kernels.pairs`.

    discount: counts are multiplied by it in every round; below 1 it follows drift.
    """

    n_arms: int
    budget: int
    discount: float = 1.0
    rule = RULE

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        check_share("discount", self.discount)

    @cached_property
    def law(self) -> Law:
        return Law(self.discount)

    def start(self, replicates: int) -> PairsState:
        return start_pairs(replicates, self.n_arms, memories=1)
