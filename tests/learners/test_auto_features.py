"""Auto with features: features that tell, features that do not, and what it remembers."""

import numpy as np
import pytest

from pickbest.core import PickbestError, Seen, replicate_keys, rng_for
from pickbest.core.features import MISSING, encoded
from pickbest.core.states import check_state, copy_state, map_state, same_state
from pickbest.environments import Shuffled, Table, WithFeatures
from pickbest.learners import Auto
from pickbest.learners.auto.features import MOST_PROBLEMS, distances, nearness, ranks_among
from pickbest.simulation.simulate import simulate
from pickbest.testing.learners import check_features, same_choice

N_ARMS, ROUNDS = 6, 600
RANDOM = np.random.default_rng(0)
KIND = RANDOM.integers(2, size=ROUNDS)
CHANCES = np.where(np.arange(N_ARMS) == KIND[:, None], 0.8, 0.3)
TABLE = Table(1.0 - (RANDOM.random((ROUNDS, N_ARMS)) < CHANCES))
# Scales that differ by 1e12, a constant, and a column that is mostly missing.
TELLING = np.column_stack(
    [
        1e12 * (KIND + 0.1 * RANDOM.normal(size=ROUNDS)),
        1e-3 * RANDOM.normal(size=ROUNDS),
        np.ones(ROUNDS),
        np.where(RANDOM.random(ROUNDS) < 0.7, np.nan, RANDOM.normal(size=ROUNDS)),
    ]
)
NOISE = RANDOM.random((ROUNDS, 5))
WORDS = RANDOM.choice(list("abcd"), size=ROUNDS)


def gain(features, budget, replicates=10):
    """Mean and standard error of what features save `auto` in a round."""
    auto = {"auto": Auto(N_ARMS, budget)}
    shuffled = Shuffled(TABLE)
    free = simulate(auto, shuffled, replicates, seed=1).runs["auto"].paid
    paid = simulate(auto, shuffled, replicates, seed=1, features=features).runs["auto"].paid
    saved = (free - paid).mean(axis=1)
    return saved.mean(), saved.std(ddof=1) / np.sqrt(replicates)


def test_telling_features_beat_auto():
    mean, error = gain(TELLING, 1)
    assert mean > 0.05
    assert mean > 4 * error


def test_where_both_good_arms_run_anyway_features_cost_nothing():
    mean, error = gain(TELLING, 2)
    assert mean > -0.002 - 2 * error


@pytest.mark.parametrize("budget", [1, 2])
@pytest.mark.parametrize("features", [NOISE, [{"word": word} for word in WORDS]])
def test_random_features_cost_next_to_nothing(budget, features):
    mean, error = gain(features, budget)
    assert mean > -0.01 - 2 * error


def test_categories_tell_as_numbers_do():
    words = [{"kind": "one" if kind else "other", "size": None} for kind in KIND]
    mean, _ = gain(words, 1)
    assert mean > 0.1


def rows(features, replicates=3):
    """(replicates, n_features)"""
    return np.repeat(np.atleast_1d(features)[None], replicates, axis=0)


def played(learner, features, rounds, replicates=3):
    state, keys = learner.start(replicates, features.shape[1]), replicate_keys(0, replicates)
    for t in range(rounds):
        known = rows(features[t], replicates)
        choice = learner.pick(state, rng_for(keys, t), known)
        seen = Seen.of(TABLE.costs_table[t][choice.arms])
        state = learner.learn(state, choice, seen, known)
    return state


def test_rounds_without_features_are_played_as_if_there_were_none():
    learner = Auto(N_ARMS, 2)
    check_features(learner)
    state, rng = played(learner, NOISE[:, :1], 40), rng_for(replicate_keys(3, 3), 9)
    assert same_choice(learner.pick(state, rng), learner.sets.pick(state.sets, rng))


def test_learning_is_a_fold_that_the_state_tells_all_of():
    learner, features = Auto(N_ARMS, 2), np.nan_to_num(TELLING)
    first, second = (played(learner, features, 60) for _ in range(2))
    assert same_state(first, second)
    check_state(first)
    before, rng = copy_state(first), rng_for(replicate_keys(0, 3), 60)
    both = learner.pick(first, rng, rows(features[60]))
    assert same_state(first, before)
    one = map_state(lambda array: array[1:2].copy(), first)
    alone = rng_for(replicate_keys(0, 3)[1:2], 60)
    assert np.array_equal(learner.pick(one, alone, rows(features[60], 1)).arms, both.arms[1:2])


def test_weights_are_unbiased_whatever_the_features():
    learner, copies = Auto(N_ARMS, 2), 20_000
    state = played(learner, TELLING[:, :1], 12, replicates=1)
    many = map_state(
        lambda array: np.repeat(array[:, :50] if array.ndim == 3 else array, copies, axis=0), state
    )
    choice = learner.pick(many, rng_for(replicate_keys(5, copies), 0), rows(TELLING[3, :1], copies))
    weights = np.zeros((copies, N_ARMS))
    np.put_along_axis(weights, choice.arms, choice.weights, axis=1)
    error = weights.std(axis=0) / np.sqrt(copies)
    assert np.all(np.abs(weights.mean(axis=0) - 1.0) <= 5 * error + 1e-9)
    assert np.count_nonzero(choice.arms[:, 1] != choice.arms[0, 1]) > 100


def test_ranks_are_those_of_the_remembered_problems():
    learner = Auto(2, 1)
    state, keys = learner.start(1, 2), replicate_keys(0, 1)
    random = np.random.default_rng(2)
    for t in range(MOST_PROBLEMS + 70):
        known = np.array([random.integers(20), MISSING if t % 3 else random.random()])
        choice = learner.pick(state, rng_for(keys, t))
        state = learner.learn(state, choice, Seen.of(np.array([[0.5]])), known[None])
    values, ranks = state.problems.values[0], state.problems.ranks[0]
    x = values[:, 0]
    smaller = (x[None] < x[:, None]).sum(axis=1) + 0.5 * ((x[None] == x[:, None]).sum(axis=1) - 1)
    assert np.array_equal(ranks[:, 0], smaller)
    words = values[:, 1] == MISSING
    assert np.all(ranks[words, 1] == MISSING)
    y = values[~words, 1]
    assert np.array_equal(ranks[~words, 1], (y[None] < y[:, None]).sum(axis=1))


def test_the_nearest_weigh_most_and_words_only_themselves():
    learner = Auto(2, 1)
    words = [encoded({"kind": word}, ("kind",)) for word in ["a"] * 40 + ["b"] * 40]
    state, keys = learner.start(1, 1), replicate_keys(0, 1)
    for t, row in enumerate(words):
        choice = learner.pick(state, rng_for(keys, t))
        state = learner.learn(state, choice, Seen.of(np.array([[0.5]])), row[None])
    own = ranks_among(state.problems, 0, words[0])
    weights = nearness(distances(state.problems, 0, own))
    assert np.allclose(weights[:40], 1.0)
    assert weights[40:].max() < 1e-6


@pytest.mark.parametrize("features", [[[1.0]] * 2, [[1.0, 2.0]] * 5, [[np.nan, 1.0]] * 2])
def test_features_that_do_not_fit_are_refused(features):
    learner = Auto(4, 2)
    with pytest.raises(PickbestError, match="features must"):
        learner.pick(learner.start(2, 2), rng_for(replicate_keys(0, 2), 0), np.array(features))


def test_shuffled_rounds_keep_their_features():
    features = np.arange(ROUNDS, dtype=float)[:, None]
    world = WithFeatures(Shuffled(TABLE), features, ("row",))
    rng = rng_for(replicate_keys(4, 3, stream=2), 17)
    rows = world.known(17, rng)[:, 0].astype(int)
    assert np.array_equal(world.costs((), 17, rng), TABLE.costs_table[rows])
    assert len(set(rows)) == 3
