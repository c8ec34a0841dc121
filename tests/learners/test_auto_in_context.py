"""AutoInContext: features that tell, features that do not, and what it remembers."""

import numpy as np
import pytest

from pickbest.core import ContextLearner, FeatureLearner, PickbestError, replicate_keys, rng_for
from pickbest.core.features import MISSING, encoded
from pickbest.core.states import check_state, copy_state, map_state, same_state
from pickbest.environments import Shuffled, Table, WithFeatures
from pickbest.learners import Auto, AutoInContext
from pickbest.learners.auto.features import MOST_PROBLEMS, distances, nearness, ranks_among
from pickbest.simulation.games import play
from pickbest.simulation.simulate import simulate
from pickbest.testing.learners import check_learner, same_choice

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


def played(learner, features, rounds, replicates=3):
    state, keys = learner.start(replicates), replicate_keys(0, replicates)
    for t in range(rounds):
        choice = learner.pick_in(state, rng_for(keys, t), features[t])
        state = learner.learn_in(state, choice, TABLE.costs_table[t][choice.arms], features[t])
    return state


def test_without_features_it_is_auto():
    learner, auto = AutoInContext(N_ARMS, 2, ("x",)), Auto(N_ARMS, 2)
    assert isinstance(learner, ContextLearner)
    assert isinstance(auto, FeatureLearner)
    check_learner(learner)
    state, rng = played(learner, NOISE[:, :1], 40), rng_for(replicate_keys(3, 3), 9)
    assert same_choice(learner.pick(state, rng), auto.pick(state.auto, rng))
    paid = [play(each, TABLE, 4, seed=2).paid for each in (learner, auto)]
    assert np.array_equal(*paid)


def test_auto_goes_on_from_what_it_knew():
    auto = Auto(N_ARMS, 2)
    known = auto.start(2)
    learner, state = auto.with_features(("x", "y"), known)
    assert learner == AutoInContext(N_ARMS, 2, ("x", "y"))
    assert state.auto is known


def test_learning_is_a_fold_that_the_state_tells_all_of():
    learner, features = AutoInContext(N_ARMS, 2, ("a", "b", "c", "d")), np.nan_to_num(TELLING)
    first, second = (played(learner, features, 60) for _ in range(2))
    assert same_state(first, second)
    check_state(first)
    before, rng = copy_state(first), rng_for(replicate_keys(0, 3), 60)
    learner.pick_in(first, rng, features[60])
    assert same_state(first, before)
    one = map_state(lambda array: array[1:2].copy(), first)
    alone = rng_for(replicate_keys(0, 3)[1:2], 60)
    both = learner.pick_in(first, rng, features[60])
    assert np.array_equal(learner.pick_in(one, alone, features[60]).arms, both.arms[1:2])


def test_weights_are_unbiased_whatever_the_features():
    learner, copies = AutoInContext(N_ARMS, 2, ("x",)), 20_000
    state = played(learner, TELLING[:, :1], 12, replicates=1)
    many = map_state(
        lambda array: np.repeat(array[:, :50] if array.ndim == 3 else array, copies, axis=0), state
    )
    choice = learner.pick_in(many, rng_for(replicate_keys(5, copies), 0), TELLING[3, :1])
    weights = np.zeros((copies, N_ARMS))
    np.put_along_axis(weights, choice.arms, choice.weights, axis=1)
    error = weights.std(axis=0) / np.sqrt(copies)
    assert np.all(np.abs(weights.mean(axis=0) - 1.0) <= 5 * error + 1e-9)
    assert np.count_nonzero(choice.arms[:, 1] != choice.arms[0, 1]) > 100


def test_ranks_are_those_of_the_remembered_problems():
    learner = AutoInContext(2, 1, ("x", "y"))
    state, keys = learner.start(1), replicate_keys(0, 1)
    random = np.random.default_rng(2)
    for t in range(MOST_PROBLEMS + 70):
        known = np.array([random.integers(20), MISSING if t % 3 else random.random()])
        choice = learner.pick(state, rng_for(keys, t))
        state = learner.learn_in(state, choice, np.array([[0.5]]), known)
    values, ranks = state.problems.values[0], state.problems.ranks[0]
    x = values[:, 0]
    smaller = (x[None] < x[:, None]).sum(axis=1) + 0.5 * ((x[None] == x[:, None]).sum(axis=1) - 1)
    assert np.array_equal(ranks[:, 0], smaller)
    words = values[:, 1] == MISSING
    assert np.all(ranks[words, 1] == MISSING)
    y = values[~words, 1]
    assert np.array_equal(ranks[~words, 1], (y[None] < y[:, None]).sum(axis=1))


def test_the_nearest_weigh_most_and_words_only_themselves():
    learner = AutoInContext(2, 1, ("kind",))
    rows = [encoded({"kind": word}, ("kind",)) for word in ["a"] * 40 + ["b"] * 40]
    state, keys = learner.start(1), replicate_keys(0, 1)
    for t, row in enumerate(rows):
        choice = learner.pick(state, rng_for(keys, t))
        state = learner.learn_in(state, choice, np.array([[0.5]]), row)
    own = ranks_among(state.problems, 0, rows[0])
    weights = nearness(distances(state.problems, 0, own))
    assert np.allclose(weights[:40], 1.0)
    assert weights[40:].max() < 1e-6


@pytest.mark.parametrize("features", [[1.0], [[1.0, 2.0]] * 5, [np.nan, 1.0]])
def test_features_that_do_not_fit_are_refused(features):
    learner = AutoInContext(4, 2, ("x", "y"))
    with pytest.raises(PickbestError, match="features must"):
        learner.pick_in(learner.start(2), rng_for(replicate_keys(0, 2), 0), features)


def test_shuffled_rounds_keep_their_features():
    features = np.arange(ROUNDS, dtype=float)[:, None]
    world = WithFeatures(Shuffled(TABLE), features, ("row",))
    rng = rng_for(replicate_keys(4, 3, stream=2), 17)
    rows = world.known(17, rng)[:, 0].astype(int)
    assert np.array_equal(world.costs((), 17, rng), TABLE.costs_table[rows])
    assert len(set(rows)) == 3
