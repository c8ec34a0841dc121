"""Greedy slots for independent costs (stochastic K-max): a complementary set, slot by slot.

Slot i learns each arm's mean gain over the best of the slots before it, as in online greedy
(Streeter and Golovin 2008), by Thompson sampling or upper confidence bounds. Every arm that
was pulled in a slot ≥ i informs slot i. No guarantee is stated where costs are not drawn
independently in each round.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from pickbest.core import BoolArray, FloatArray
from pickbest.core.states import counts
from pickbest.kernels.compiled import allocating, inlined
from pickbest.kernels.rules import Told


class SlotGainsState(NamedTuple):
    """(replicates, budget, n_arms) by slot and arm.

    gains, plays: discounted sums over the rounds in which the slot saw the arm.
    """

    gains: Annotated[FloatArray, counts(-1)]
    plays: Annotated[FloatArray, counts(-1)]


class Work(NamedTuple):
    """taken: scratch of length n_arms."""

    taken: BoolArray


def start_gains(replicates: int, budget: int, n_arms: int) -> SlotGainsState:
    """Nothing seen yet."""
    shape = (replicates, budget, n_arms)
    return SlotGainsState(np.zeros(shape), np.zeros(shape))


@allocating
def new_work(law: Any, state: SlotGainsState, budget: int) -> Work:
    return Work(np.empty(state.gains.shape[2], np.bool_))


@inlined
def learn_row(law: Any, state: SlotGainsState, row: int, work: Work, told: Told) -> None:
    """Tell slot i of every arm in a slot ≥ i what it adds to the slots before i.

    Arms of slots before i are never free in slot i: it learns nothing of them. Arms beyond
    the budget, which others ran, inform all slots. law: has a discount.
    """
    arms, seen = told.arms, told.costs
    gains, plays = state.gains[row], state.plays[row]
    budget, n_arms = gains.shape
    if law.discount < 1.0:
        for slot in range(budget):
            for a in range(n_arms):
                gains[slot, a] *= law.discount
                plays[slot, a] *= law.discount
    lowest = 1.0
    for slot in range(min(budget, arms.shape[0])):
        for j in range(slot, arms.shape[0]):
            gains[slot, arms[j]] += max(lowest - seen[j], 0.0)
            plays[slot, arms[j]] += 1.0
        lowest = min(lowest, seen[slot])
