"""Greedy Thompson sampling against a plain Python twin."""

import math

import numpy as np
import pytest

from pickbest.core import PickbestError
from pickbest.environments import Bernoulli
from pickbest.kernels.random import gamma_from
from pickbest.learners import GreedyThompson, Thompson
from pickbest.simulation.games import play
from tests.learners.slot_gains_twin import check_twin, each_discount


@each_discount
@pytest.mark.parametrize("budget", [1, 3, 5])
def test_thompson_equals_its_twin(budget, discount):
    learner = GreedyThompson(5, budget, prior=0.7, discount=discount, sharpness=2.0)

    def scores_for(twin, rng):
        def scores_of(slot, free):
            counter, scores = rng.child(slot).keys[0], []
            for arm in free:
                gains, plays = twin.sums(slot, arm)
                counter, hit = gamma_from(np.uint64(counter), 0.7 + 2 * gains)
                counter, miss = gamma_from(np.uint64(counter), 0.7 + 2 * max(plays - gains, 0.0))
                scores.append(hit - miss)
            return scores

        return scores_of

    check_twin(learner, scores_for)


def test_one_slot_of_unit_sharpness_is_thompson_in_law():
    world = Bernoulli(5, 300, (0.3, 0.5, 0.6, 0.7, 0.8))
    paid = [
        play(learner, world, 400, seed).paid.mean(axis=1)
        for seed, learner in enumerate((GreedyThompson(5, 1, sharpness=1.0), Thompson(5, 1)))
    ]
    error = math.hypot(*(p.std() / 20 for p in paid))
    assert abs(paid[0].mean() - paid[1].mean()) <= 5 * error


def test_parameters_are_above_zero():
    with pytest.raises(PickbestError, match="prior must be a number above 0"):
        GreedyThompson(3, 2, prior=0.0)
    with pytest.raises(PickbestError, match="sharpness must be a number above 0"):
        GreedyThompson(3, 2, sharpness=-1.0)
