"""Rounds with and without features, one by one."""

from __future__ import annotations

import numpy as np

from pickbest.catalog import make_learner
from pickbest.core import replicate_keys, rng_for
from pickbest.core.rounds import informed, learn_round, pick_round
from pickbest.core.states import same_state


def test_a_round_without_features_is_picked_and_learned_without() -> None:
    auto = make_learner("auto", 4, 2)
    found = informed(auto, ("size",), auto.start(1))
    assert found is not None
    learner, state = found
    rng = rng_for(replicate_keys(0, 1), 0)
    choice = pick_round(learner, state, rng)
    assert np.array_equal(choice.arms, learner.pick(state, rng).arms)
    seen = np.array([[0.2, 0.7]])
    plainly = learner.learn(learner.start(1), choice, seen)
    assert same_state(learn_round(learner, learner.start(1), choice, seen), plainly)
