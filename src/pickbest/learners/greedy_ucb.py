"""Greedy slots by upper confidence bounds: see `kernels.slot_gains`."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pickbest.core import check_budget, check_positive, check_share
from pickbest.kernels.compiled import inlined
from pickbest.kernels.rules import ByCounts, Pick, Rule
from pickbest.kernels.slot_gains import SlotGainsState, Work, learn_row, new_work, start_gains


class Law(NamedTuple):
    """width: of the bounds, 2 in UCB1."""

    width: float
    discount: float


@inlined
def pick_row(law: Law, state: SlotGainsState, row: int, work: Work, pick: Pick) -> None:
    """Slot by slot, the unused arm with the largest upper bound of its gain; unplayed first."""
    arms = pick.arms
    gains, plays = state.gains[row], state.plays[row]
    budget = arms.shape[0]
    work.taken[:] = False
    # The last slot sees one arm a round (and those of others), so its plays count the rounds.
    played = 0.0
    for a in range(plays.shape[1]):
        played += plays[budget - 1, a]
    wide = law.width * math.log(1.0 + played)
    for slot in range(budget):
        highest = -1.0
        for a in range(gains.shape[1]):
            if work.taken[a]:
                continue
            number = plays[slot, a]
            bound = np.inf
            if number > 0.0:
                bound = gains[slot, a] / number + math.sqrt(wide / number)
            if bound > highest:
                highest = bound
                arms[slot] = a
        work.taken[arms[slot]] = True


RULE = Rule(__name__, new_work, pick_row, learn_row, weighted=False)


@dataclass(frozen=True)
class GreedyUCB(ByCounts):
    """UCB1 in each slot: the unused arm with the best mean gain + sqrt(width ln t / n).

    Unplayed arms come first. t and n are discounted as in Garivier and Moulines (2011).

    width: 2 in UCB1 (Auer et al. 2002); gains over other arms are small, and so is this.
    discount: what past rounds count is multiplied by it in every round.
    """

    n_arms: int
    budget: int
    width: float = 0.05
    discount: float = 1.0
    rule = RULE

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        check_positive("width", self.width)
        check_share("discount", self.discount)

    @cached_property
    def law(self) -> Law:
        return Law(self.width, self.discount)

    def start(self, replicates: int) -> SlotGainsState:
        return start_gains(replicates, self.budget, self.n_arms)
