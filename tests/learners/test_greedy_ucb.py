"""Greedy upper confidence bounds against a plain Python twin."""

import math

import pytest

from pickbest.core import PickbestError
from pickbest.learners import GreedyUCB
from tests.learners.slot_gains_twin import check_twin, each_discount


@each_discount
@pytest.mark.parametrize("budget", [1, 3, 5])
def test_ucb_equals_its_twin(budget, discount):
    learner = GreedyUCB(5, budget, width=0.3, discount=discount)

    def scores_for(twin, rng):
        rounds = sum(discount**age for age in range(twin.round))

        def score(slot, arm):
            gains, plays = twin.sums(slot, arm)
            if plays == 0:
                return math.inf
            return gains / plays + math.sqrt(0.3 * math.log(1 + rounds) / plays)

        return lambda slot, free: [score(slot, arm) for arm in free]

    check_twin(learner, scores_for)


def test_width_is_above_zero():
    with pytest.raises(PickbestError, match="width must be a number above 0"):
        GreedyUCB(3, 2, width=0.0)
