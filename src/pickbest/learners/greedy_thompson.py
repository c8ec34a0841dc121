"""Greedy slots by Thompson sampling: see `kernels.slot_gains`."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pickbest.core import check_budget, check_positive, check_share
from pickbest.kernels.compiled import inlined
from pickbest.kernels.random import gamma_from, slot_key
from pickbest.kernels.rules import ByCounts, Pick, Rule
from pickbest.kernels.slot_gains import SlotGainsState, Work, learn_row, new_work, start_gains


class Law(NamedTuple):
    """prior: both parameters of the Beta prior; sharpness: trials that a result counts as."""

    prior: float
    sharpness: float
    discount: float


@inlined
def pick_row(law: Law, state: SlotGainsState, row: int, work: Work, pick: Pick) -> None:
    """Slot by slot, the unused arm with the largest Beta posterior draw of its gain."""
    key, arms = pick.key, pick.arms
    gains, plays = state.gains[row], state.plays[row]
    work.taken[:] = False
    for slot in range(arms.shape[0]):
        counter = slot_key(key, slot)
        highest = np.nan
        for a in range(gains.shape[1]):
            if work.taken[a]:
                continue
            gain = gains[slot, a]
            # Sums are rounded: the difference of two equal ones may be below 0.
            rest = max(plays[slot, a] - gain, 0.0)
            counter, log_gain = gamma_from(counter, law.prior + law.sharpness * gain)
            counter, log_rest = gamma_from(counter, law.prior + law.sharpness * rest)
            # The log odds of a draw rise with it, and do not round to those of 0 or 1.
            odds = log_gain - log_rest
            if not odds <= highest:
                highest = odds
                arms[slot] = a
        work.taken[arms[slot]] = True


RULE = Rule(__name__, new_work, pick_row, learn_row, weighted=False)


@dataclass(frozen=True)
class GreedyThompson(ByCounts):
    """Thompson sampling in each slot: the unused arm with the best Beta draw of its gain.

    A gain between 0 and 1 counts as that share of a success.

    prior: both parameters of the Beta prior.
    sharpness: how many trials a result counts as. 1 is the posterior of 0-1 gains; a sharper
        one explores less, which pays in games of some hundred rounds.
    discount: what past rounds count is multiplied by it in every round.

    >>> from pickbest.core import Choice
    >>> learner = GreedyThompson(n_arms=3, budget=2)
    >>> choice = Choice(np.array([[2, 0]]))
    >>> learner.learn(learner.start(1), choice, np.array([[0.5, 0.25]])).gains
    array([[[0.75, 0.  , 0.5 ],
            [0.25, 0.  , 0.  ]]])
    """

    n_arms: int
    budget: int
    prior: float = 1.0
    discount: float = 1.0
    sharpness: float = 3.0
    rule = RULE

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        check_positive("prior", self.prior)
        check_share("discount", self.discount)
        check_positive("sharpness", self.sharpness)

    @cached_property
    def law(self) -> Law:
        return Law(self.prior, self.sharpness, self.discount)

    def start(self, replicates: int) -> SlotGainsState:
        return start_gains(replicates, self.budget, self.n_arms)
