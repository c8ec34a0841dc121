"""Auto with features: features that tell, features that do not, and what is kept of them."""

import numpy as np
import pytest

from pickbest.core import Choice, PickbestError, Seen, replicate_keys, rng_for
from pickbest.core.features import LARGEST_NUMBER, MISSING, encoded
from pickbest.core.states import check_state, copy_state, map_state, same_layout, same_state
from pickbest.environments import Shuffled, Table, WithFeatures
from pickbest.learners import Auto
from pickbest.learners.auto.features import MOST_NUMBERS, arm_means, blend_row, described
from pickbest.learners.auto.sets import start_pairs
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
    keys, known = replicate_keys(5, copies), rows(TELLING[3, :1], 1)
    picks = [learner.pick(state, rng_for(keys[n : n + 1], 0), known) for n in range(2)]
    sets = map_state(lambda array: np.repeat(array, copies, axis=0), state.sets)
    blended = start_pairs(1, N_ARMS)
    blend_row(state.features, state.sets.pairs, 0, known[0], blended)
    many = sets._replace(pairs=map_state(lambda array: np.repeat(array, copies, axis=0), blended))
    choice = learner.sets.pick(many, rng_for(keys, 0))
    assert all(np.array_equal(one.arms[0], choice.arms[n]) for n, one in enumerate(picks))
    weights = np.zeros((copies, N_ARMS))
    np.put_along_axis(weights, choice.arms, choice.weights, axis=1)
    error = weights.std(axis=0) / np.sqrt(copies)
    assert np.all(np.abs(weights.mean(axis=0) - 1.0) <= 5 * error + 1e-9)
    assert np.count_nonzero(choice.arms[:, 1] != choice.arms[0, 1]) > 100


def test_it_is_the_posterior_of_a_ridge_regression():
    """One arm, whose mean is held: w and K against those of all rounds at once."""
    learner, random = Auto(1, 1), np.random.default_rng(3)
    state, vectors, rewards = learner.start(1, 4), [], []
    for _ in range(60):
        known = random.normal(size=4) * [1.0, 10.0, 0.1, 1.0]
        vectors.append(described(state.features, 0, known))
        mean = arm_means(state.sets.pairs, 0, 0)[0]
        reward = float(random.random())
        rewards.append(reward - mean)
        choice = Choice(np.zeros((1, 1), np.int64), np.ones((1, 1)))
        state = learner.learn(state, choice, Seen.of(np.array([[1.0 - reward]])), known[None])
    phi, target = np.array(vectors), np.array(rewards)
    covariance = np.linalg.inv(np.eye(phi.shape[1]) + phi.T @ phi)
    assert state.features.weights[0, 0] == pytest.approx(covariance @ phi.T @ target, abs=1e-9)
    assert np.eye(len(covariance)) - state.features.known[0, 0] == pytest.approx(
        covariance, abs=1e-9
    )


def test_linear_worlds_are_learned():
    """Rewards that are linear in 40 numbers: far below random, and below what auto alone pays."""
    random, rounds, n_arms = np.random.default_rng(4), 500, 5
    features = random.normal(size=(rounds, 40))
    scores = features @ random.normal(size=(40, n_arms)) / np.sqrt(40)
    table = Table(np.clip(0.5 - 0.25 * scores, 0.0, 1.0))
    auto = {"auto": Auto(n_arms, 2)}
    last = slice(300, None)
    told = simulate(auto, table, 2, features=features).runs["auto"].paid[:, last].mean()
    free = simulate(auto, table, 2).runs["auto"].paid[:, last].mean()
    best = table.costs_table[last].min(axis=1).mean()
    assert told - best < 0.4 * (free - best)


def test_the_state_has_a_fixed_size_and_any_numbers_are_finite():
    learner = Auto(3, 1)
    state = played_numbers(learner, 1)
    longer = played_numbers(learner, 50)
    assert same_layout(state, longer)
    check_state(longer)
    many = Auto(50, 2).start(1, 10_000).features
    assert many.known.size <= MOST_NUMBERS


def played_numbers(learner, rounds):
    state, keys = learner.start(1, 3), replicate_keys(0, 1)
    for t in range(rounds):
        known = np.array([[(-1.0) ** t * LARGEST_NUMBER, MISSING, encoded([f"w{t}"], ("0",))[0]]])
        choice = learner.pick(state, rng_for(keys, t), known)
        state = learner.learn(state, choice, Seen.of(np.array([[0.5]])), known)
    return state


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
