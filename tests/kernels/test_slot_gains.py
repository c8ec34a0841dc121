"""What greedy Thompson sampling and greedy bounds share: how slots learn, and what they find."""

import math

import numpy as np
import pytest

from pickbest.core import Choice, PickbestError, play_table, replicate_keys
from pickbest.environments import Bernoulli, RegimeChange, Task1
from pickbest.learners import GreedyThompson, GreedyUCB, Thompson
from pickbest.simulation.games import play
from pickbest.testing.learners import check_learner, check_long_run
from tests.learners.slot_gains_twin import TABLE

each_kind = pytest.mark.parametrize("kind", [GreedyThompson, GreedyUCB])


@each_kind
@pytest.mark.parametrize(("n_arms", "budget"), [(9, 4), (5, 1), (4, 4), (1, 1)])
@pytest.mark.parametrize("discount", [1.0, 0.98])
def test_conforms(kind, n_arms, budget, discount):
    check_learner(kind(n_arms, budget, discount=discount))


@each_kind
@pytest.mark.parametrize("discount", [1.0, 0.5])
def test_a_million_rounds(kind, discount):
    check_long_run(kind(5, 2, discount=discount))


@each_kind
def test_one_round_is_shared_with_the_slots_before(kind):
    learner = kind(n_arms=4, budget=3)
    choice = Choice(np.array([[2, 0, 3]]))
    state = learner.learn(learner.start(1), choice, np.array([[0.5, 0.2, 0.4]]))
    assert np.allclose(state.gains, [[[0.8, 0, 0.5, 0.6], [0.3, 0, 0, 0.1], [0, 0, 0, 0]]])
    assert state.plays.tolist() == [[[1, 0, 1, 1], [1, 0, 0, 1], [0, 0, 0, 1]]]


@each_kind
def test_slots_see_as_many_arms_as_are_pulled_from_them_on(kind):
    learner = kind(5, 3)
    state, _ = play_table(learner, learner.start(4), TABLE[None], replicate_keys(1, 4), 0)
    assert np.all(state.plays.sum(axis=2) == [240, 160, 80])


@each_kind
def test_one_slot_is_discounted_in_every_round(kind):
    learner = kind(2, 1, discount=0.5)
    state = learner.start(1)
    for arm, cost in ((0, 0.2), (1, 0.6), (1, 0.0)):
        state = learner.learn(state, Choice(np.array([[arm]])), np.array([[cost]]))
    assert np.allclose(state.gains, [[[0.2, 0.2 + 1.0]]])
    assert np.allclose(state.plays, [[[0.25, 1.5]]])


@each_kind
@pytest.mark.parametrize(("budget", "margin"), [(2, 0.012), (4, 0.035)])
def test_complementary_arms_are_found(kind, budget, margin):
    """Task 1: the top B arms are good in the same rounds, a greedy set is not."""
    top, greedy = (
        play(learner, Task1(), 100, seed=2).paid.mean()
        for learner in (Thompson(15, budget), kind(15, budget))
    )
    assert greedy <= top - margin


@each_kind
def test_discounting_mends_a_change_of_regime(kind):
    world = RegimeChange(Bernoulli(6, 2000, (0.1, 0.3, 0.7, 0.8, 0.9, 0.95)))
    kept, discounted = (
        play(kind(6, 1, discount=discount), world, 40, seed=3).paid[:, 1000:].mean()
        for discount in (1.0, 0.98)
    )
    assert discounted <= kept - 0.05


@each_kind
def test_bad_parameters_are_refused(kind):
    with pytest.raises(PickbestError, match="budget must be between 1 and n_arms=3, got 4"):
        kind(3, 4)
    for discount in (0.0, 1.1, math.nan):
        with pytest.raises(PickbestError, match="discount must be above 0 and at most 1"):
            kind(3, 2, discount=discount)
