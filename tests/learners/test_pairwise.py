"""Pairwise: the statistics of pairs against a plain twin, and its draws."""

import numpy as np
import pytest

from pickbest.core import PickbestError, replicate_keys, rng_for
from pickbest.core.states import map_state
from pickbest.kernels.pairs import PRIORS, SHARPNESS, trials_of
from pickbest.kernels.random import fill_beta
from pickbest.learners import Pairwise
from pickbest.testing.learners import check_learner, check_long_run


@pytest.mark.parametrize(
    "learner", [Pairwise(6, 3), Pairwise(5, 1, discount=0.95), Pairwise(3, 3)], ids=str
)
def test_it_conforms(learner):
    check_learner(learner)
    check_long_run(learner, 20_000)


def test_discounts_are_at_most_1():
    with pytest.raises(PickbestError, match="discount"):
        Pairwise(3, 2, discount=1.5)


def twin_learn(state, discount, arms, costs):
    """kernels.pairs in plain Python, for one memory that is discounted by hand."""
    rewards, plays, gains, together, errors, factor = state
    mean = (1 + rewards) / (2 + plays)
    scale = factor[0] / factor[1]
    errors *= discount
    gained = guessed = 0.0
    for i, a in enumerate(arms):
        for j, b in enumerate(arms):
            if i == j:
                continue
            guess = min(0.99, scale * mean[a] * (1 - mean[b]))
            gain = max(costs[j] - costs[i], 0.0)
            predicted = (PRIORS * guess + gains[a, b]) / (PRIORS + together[a, b])
            errors += (predicted - gain) ** 2
            gained += gain
            guessed += mean[a] * (1 - mean[b])
    for array in (rewards, plays, gains, together, factor):
        array *= discount
    factor += gained, guessed
    for i, a in enumerate(arms):
        rewards[a] += 1 - costs[i]
        plays[a] += 1
        for j, b in enumerate(arms):
            if i != j:
                gains[a, b] += max(costs[j] - costs[i], 0.0)
                together[a, b] += 1


@pytest.mark.parametrize("discount", [1.0, 0.7])
def test_statistics_equal_those_of_a_plain_twin(discount):
    learner = Pairwise(5, 3, discount)
    state = learner.start(1)
    twin = (
        np.zeros(5),
        np.zeros(5),
        np.zeros((5, 5)),
        np.zeros((5, 5)),
        np.zeros(len(PRIORS)),
        np.ones(2),
    )
    rng = np.random.default_rng(4)
    for t in range(60):
        choice = learner.pick(state, rng_for(replicate_keys(0, 1), t))
        costs = rng.random((1, 3)).round(1)
        twin_learn(twin, discount, choice.arms[0], costs[0])
        state = learner.learn(state, choice, costs)
    found = map_state(lambda array: array[0, 0], state)
    for sums, expected in zip(found[:4], twin[:4], strict=True):
        np.testing.assert_allclose(found.unit * sums, expected, rtol=1e-9)
    np.testing.assert_allclose(found.errors, twin[4], rtol=1e-9)
    np.testing.assert_allclose([found.gained, found.guessed], twin[5], rtol=1e-9)


def test_the_first_arm_is_the_best_posterior_draw():
    learner = Pairwise(4, 2)
    state = learner.start(1)
    rewards, plays = state.rewards[0, 0], state.plays[0, 0]
    rewards[:], plays[:] = [8.0, 1.0, 3.0, 0.0], [10.0, 10.0, 6.0, 0.0]
    for t in range(20):
        rng = rng_for(replicate_keys(0, 1), t)
        draws = np.empty((1, 4))
        trials = trials_of(SHARPNESS, state.varied[0, 0], state.could_vary[0, 0])
        good, bad = 1 + trials * rewards, 1 + trials * (plays - rewards)
        fill_beta(rng.keys, good[None], bad[None], draws)
        assert learner.pick(state, rng).arms[0, 0] == draws.argmax()
