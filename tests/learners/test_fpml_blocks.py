"""FPML from blocks: rounds as FPML's, and what is carried to other arms."""

from __future__ import annotations

import numpy as np
import pytest

from pickbest.core import play_rounds, play_table, replicate_keys
from pickbest.core.states import portable, restored, same_state
from pickbest.learners import FPML, FPMLFullManyArms
from pickbest.learners.fpml import FPMLState


@pytest.mark.parametrize("decay", [0.0, 0.25])
def test_a_table_played_at_once_equals_rounds_one_by_one(decay):
    learner = FPMLFullManyArms(n_arms=1_100, budget=4, epsilon=0.3, decay=decay)
    table, keys = np.random.default_rng(5).random((1, 40, 1_100)), replicate_keys(2, 3)
    rounds, paid = play_rounds(learner, learner.start(3), table, keys, 0)
    whole, paid_at_once = play_table(learner, learner.start(3), table, keys, 0)
    assert same_state(rounds, whole)
    np.testing.assert_array_equal(paid, paid_at_once)
    assert same_state(restored(learner, portable(learner, rounds)), rounds)


def test_what_fpml_learned_is_carried_to_blocks_and_back():
    table, keys = np.random.default_rng(1).random((1, 50, 9)), replicate_keys(0, 2)
    few = FPML(n_arms=9, budget=2, epsilon=0.5)
    state, _ = play_table(few, few.start(2), table, keys, 0)
    known = portable(few, state)
    more = FPMLState(np.hstack([known.costs, np.full((2, 1_000), 40.0)]), known.round)
    many = FPMLFullManyArms(n_arms=1_009, budget=2, epsilon=0.5)
    carried = restored(many, more)
    np.testing.assert_array_equal(carried.lowest[:, 0], known.costs.min(axis=1).clip(max=40.0))
    np.testing.assert_array_equal(carried.lowest[:, 1], 40.0)
    assert same_state(portable(many, carried), more)
