"""FPML-partial for very many arms: their rounds, and what is carried to other arms."""

from __future__ import annotations

import numpy as np
import pytest

from pickbest.core import Seen, play_rounds, replicate_keys, rng_for
from pickbest.core.states import arrays_of, copy_state, known_arrays, refreshed, same_state
from pickbest.learners import FPMLManyArms, FPMLPartial
from tests.kernels.inclusions import inclusions_of


@pytest.mark.parametrize(("n_arms", "budget"), [(1, 1), (2, 1), (9, 9), (50, 7), (300, 1)])
def test_equal_arms_have_equal_weights(n_arms, budget):
    learner = FPMLManyArms(n_arms, budget, epsilon=1.0)
    choice = learner.pick(learner.start(1), rng_for(replicate_keys(0, 1), 0))
    np.testing.assert_allclose(choice.weights, n_arms / budget, rtol=1e-12)
    assert len(set(choice.arms[0].tolist())) == budget


def rounds_of(learner, state, begin, end):
    keys = replicate_keys(3, len(state.round))
    for t in range(begin, end):
        choice = learner.pick(state, rng_for(keys, t))
        seen = np.random.default_rng(t).random(choice.arms.shape)
        state = learner.learn(state, choice, Seen.of(seen))
    return state


def test_memory_is_at_most_64_bytes_an_arm():
    state = FPMLManyArms(n_arms=10_000, budget=2, epsilon=0.1).start(1)
    assert sum(array.nbytes for array in arrays_of(state).values()) <= 64 * 10_000


def test_a_table_played_at_once_equals_rounds_one_by_one():
    learner = FPMLManyArms(n_arms=150, budget=4, epsilon=0.1)
    table, keys = np.random.default_rng(5).random((1, 40, learner.n_arms)), replicate_keys(2, 3)
    rounds, paid = play_rounds(learner, learner.start(3), table, keys, 0)
    whole, paid_at_once = learner.play_table(learner.start(3), table, keys, 0)
    assert same_state(rounds, whole)
    np.testing.assert_array_equal(paid, paid_at_once)


def test_what_was_learned_gives_the_weights_again():
    learner = FPMLManyArms(n_arms=400, budget=3, epsilon=0.05)
    state = rounds_of(learner, learner.start(2), 0, 300)
    again = refreshed(learner, copy_state(state))
    assert not same_state(again.groups, state.groups)
    np.testing.assert_allclose(
        again.groups.weights * np.exp(0.05 * (state.groups.base - again.groups.base))[:, None],
        state.groups.weights,
        rtol=1e-12,
    )


def test_negative_sums_weigh_by_their_differences():
    learner = FPMLManyArms(n_arms=3, budget=1, epsilon=1.0)
    state = learner.start(1)._replace(costs=np.array([[-2.5, -1.0, 4.0]]))
    weights = refreshed(learner, state).groups.weights[0]
    np.testing.assert_allclose(weights / weights[0], np.exp([0.0, -1.5, -6.5]))


# What each learner of a roster that grows and shrinks around 100 arms is.
ROSTERS = [(99, FPMLPartial), (101, FPMLManyArms), (100, FPMLManyArms), (99, FPMLPartial)]


def test_what_was_learned_crosses_100_arms_with_its_law():
    """Learn on 99 arms, go on with 101, 100 and again 99: picks have the law of the same costs."""
    budget, replicates, begin = 3, 2, 0
    known = np.zeros((replicates, 99))
    for n_arms, kind in ROSTERS:
        learner = kind(n_arms, budget, epsilon=0.05)
        # New arms come level with the mean; arms leave from the end.
        mean = np.repeat(known.mean(axis=1, keepdims=True), 2, axis=1)
        costs = np.hstack([known, mean])[:, :n_arms]
        state = refreshed(learner, learner.start(replicates)._replace(costs=costs.copy()))
        check_law(learner, state, costs, FPMLPartial(n_arms, budget, epsilon=0.05))
        state = rounds_of(learner, state, begin, begin + 200)
        begin += 200
        known = known_arrays(state)["costs"]
        assert known.shape == (replicates, n_arms)
        assert np.all(known >= costs * (1.0 - 1e-12))


def check_law(learner, state, costs, plain):
    """Picks are distinct, weights are 1 / P(FPMLPartial with these costs picks the arm)."""
    n_arms, draws = learner.n_arms, 200
    law = np.empty((len(costs), n_arms))
    for row, own in enumerate(costs):
        inclusions_of(own, plain.epsilon, plain.budget, np.arange(n_arms), law[row])
    excess = np.zeros(law.shape)
    for seed in range(draws):
        choice = learner.pick(state, rng_for(replicate_keys(seed, len(costs)), 0))
        for row, arms in enumerate(choice.arms):
            assert len(set(arms.tolist())) == learner.budget
            np.testing.assert_allclose(choice.weights[row], 1.0 / law[row, arms], rtol=1e-10)
            excess[row, arms] += choice.weights[row]
    # The sum of weights of an arm has mean `draws` and variance draws (1 / p - 1).
    error = np.sqrt(draws * (1.0 / law - 1.0))
    likely = law > 0.01
    assert likely.any()
    assert np.all(np.abs(excess - draws)[likely] < 6.0 * error[likely] + 6.0 / law[likely])
