"""Contextual: features that tell instances apart, features that do not, and its checks."""

import numpy as np
import pytest

from pickbest.core import (
    ContextLearner,
    PickbestError,
    play_rounds,
    replicate_keys,
    rng_for,
)
from pickbest.core.states import copy_state, map_state, same_state
from pickbest.learners import Auto, Contextual, cells_of
from pickbest.testing.learners import check_learner, same_choice

N_ARMS, ROUNDS, REPLICATES = 6, 600, 20
RANDOM = np.random.default_rng(0)
KIND = RANDOM.integers(2, size=ROUNDS)
CHANCES = np.where(np.arange(N_ARMS) == KIND[:, None], 0.8, 0.3)
TABLE = 1.0 - (RANDOM.random((ROUNDS, N_ARMS)) < CHANCES)
TELLING = np.column_stack([KIND + 0.1 * RANDOM.normal(size=ROUNDS), RANDOM.normal(size=ROUNDS)])
NOISE = RANDOM.normal(size=(ROUNDS, 2))


def learner_for(features: np.ndarray, budget: int = 1) -> Contextual:
    return Contextual(N_ARMS, budget, *cells_of(features))


def play_contextual(
    learner: ContextLearner,
    table: np.ndarray,
    features: np.ndarray,
    replicates: int,
    seed: int,
    shuffled: bool = False,
) -> np.ndarray:
    """(replicates, rounds) costs paid over a table (rounds, n_arms) with features (rounds, n).

    shuffled: each replicate plays the rounds in an order of its own.
    """
    keys, rounds = replicate_keys(seed, replicates), len(table)
    order = np.tile(np.arange(rounds), (replicates, 1))
    if shuffled:
        order = np.random.default_rng(seed).permuted(order, axis=1)
    state = learner.start(replicates)
    paid = np.empty((replicates, rounds))
    for t in range(rounds):
        costs, known = table[order[:, t]], features[order[:, t]]
        choice = learner.pick_in(state, rng_for(keys, t), known)
        seen = np.take_along_axis(costs, choice.arms, axis=1)
        paid[:, t] = seen.min(axis=1)
        state = learner.learn_in(state, choice, seen, known)
    return paid


def gain_over_auto(features: np.ndarray, budget: int) -> tuple[float, float]:
    """Mean and standard error of what Contextual saves a round."""
    auto = Auto(N_ARMS, budget)
    keys = replicate_keys(1, REPLICATES)
    _, free = play_rounds(auto, auto.start(REPLICATES), TABLE[None], keys, 0)
    paid = play_contextual(learner_for(features, budget), TABLE, features, REPLICATES, seed=1)
    saved = (free - paid).mean(axis=1)
    return saved.mean(), saved.std(ddof=1) / np.sqrt(REPLICATES)


def played(learner: Contextual, features: np.ndarray, rounds: int = 150):
    """The state after some rounds of three replicates."""
    state, keys = learner.start(3), replicate_keys(0, 3)
    for t in range(rounds):
        choice = learner.pick_in(state, rng_for(keys, t), features[t])
        state = learner.learn_in(state, choice, TABLE[t][choice.arms], features[t])
    return state


def test_telling_features_beat_auto():
    mean, error = gain_over_auto(TELLING, 1)
    assert mean > 0.08
    assert mean > 5 * error


@pytest.mark.parametrize("budget", [1, 2])
def test_random_features_cost_nothing(budget):
    mean, error = gain_over_auto(NOISE, budget)
    assert mean > -0.005 - 2 * error


def test_before_features_have_proved_themselves_it_is_auto_draw_for_draw():
    learner, auto = learner_for(TELLING, 2), Auto(N_ARMS, 2)
    rng = rng_for(replicate_keys(0, 3), 0)
    choice = learner.pick_in(learner.start(3), rng, TELLING[0])
    assert same_choice(choice, auto.pick(auto.start(3), rng))


def test_one_cell_is_auto():
    learner, auto = Contextual(N_ARMS, 2, *cells_of(NOISE, count=1)), Auto(N_ARMS, 2)
    paid = play_contextual(learner, TABLE, NOISE, 4, seed=2)
    _, free = play_rounds(auto, auto.start(4), TABLE[None], replicate_keys(2, 4), 0)
    assert np.array_equal(paid, free)


def test_without_features_it_is_auto():
    learner, auto = learner_for(TELLING, 2), Auto(N_ARMS, 2)
    assert isinstance(learner, ContextLearner)
    check_learner(learner)
    known = played(learner, TELLING)
    state, rng = copy_state(known.auto), rng_for(replicate_keys(4, 3), 0)
    choice = learner.pick(known, rng)
    assert same_choice(choice, auto.pick(state, rng))
    seen, cells = TABLE[0][choice.arms], copy_state(known.cells)
    after = learner.learn(known, choice, seen)
    assert same_state(after.auto, auto.learn(state, choice, seen))
    assert same_state(after.cells, cells)


@pytest.mark.parametrize("shuffled", [False, True])
def test_same_seed_same_bits(shuffled):
    learner = learner_for(TELLING, 2)
    first, second, other = (
        play_contextual(learner, TABLE[:200], TELLING, 4, seed, shuffled) for seed in (3, 3, 4)
    )
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


def test_picks_are_pure_and_states_go_on_from_copies():
    learner = learner_for(TELLING, 2)
    state = played(learner, TELLING)
    copy, rng = copy_state(state), rng_for(replicate_keys(9, 3), 0)
    choice = learner.pick_in(state, rng, TELLING[0])
    assert same_state(state, copy)
    assert same_choice(choice, learner.pick_in(copy, rng, TELLING[0]))
    seen = TABLE[0][choice.arms]
    after = learner.learn_in(copy, choice, seen, TELLING[0])
    assert same_state(learner.learn_in(state, choice, seen, TELLING[0]), after)


def test_weights_are_unbiased_where_a_cell_is_followed():
    learner = learner_for(TELLING, 2)
    one = played(learner, TELLING, 300)
    many = 20_000
    state = map_state(lambda array: np.repeat(array[:1], many, axis=0), one)
    choice = learner.pick_in(state, rng_for(replicate_keys(5, many), 0), TELLING[0])
    free = Auto(N_ARMS, 2).pick(state.auto, rng_for(replicate_keys(5, many), 0))
    assert not same_choice(choice, free)
    totals = np.zeros((many, N_ARMS))
    np.put_along_axis(totals, choice.arms, choice.weights, axis=1)
    error = totals.std(axis=0) / np.sqrt(many)
    assert np.all(np.abs(totals.mean(axis=0) - 1.0) < 5 * error + 1e-9)


def test_replicates_may_have_features_of_their_own():
    learner = learner_for(TELLING)
    state, rng = played(learner, TELLING), rng_for(replicate_keys(7, 3), 0)
    together = learner.pick_in(state, rng, TELLING[:3]).arms
    alone = [learner.pick_in(state, rng, TELLING[r]).arms[r] for r in range(3)]
    assert np.array_equal(together, alone)


def test_cells_tell_groups_apart_whatever_the_units():
    centers, shift, scale = cells_of(np.column_stack([1e6 * KIND, np.ones(ROUNDS)]), count=2)
    assert len(centers) == 2
    assert abs(centers[0][0] - centers[1][0]) == pytest.approx(1.0)
    assert scale[1] == 1.0
    assert len(shift) == 2


@pytest.mark.parametrize(
    ("features", "message"),
    [([0.0], "shape"), ([0.0, np.nan], "finite"), ([[0.0, 1.0]] * 2, "shape"), (["a", 1], "numb")],
)
def test_wrong_features_are_refused(features, message):
    learner = learner_for(TELLING)
    with pytest.raises(PickbestError, match=message):
        learner.pick_in(learner.start(3), rng_for(replicate_keys(0, 3), 0), features)


@pytest.mark.parametrize("features", [[], [1.0, 2.0], [[np.nan]], [[1.0], [1.0, 2.0]]])
def test_wrong_tables_of_features_are_refused(features):
    with pytest.raises(PickbestError, match="features must"):
        cells_of(features)


def test_centers_must_fit_the_scale():
    with pytest.raises(PickbestError, match="cells_of"):
        Contextual(N_ARMS, 1, ((0.0,),), (0.0, 0.0), (1.0, 1.0))


@pytest.mark.parametrize(("rows", "cells"), [(10, 2), (60, 4), (1000, 20)])
def test_there_are_as_many_cells_as_the_instances_fill(rows, cells):
    features = np.random.default_rng(0).random((rows, 3))
    assert len(cells_of(features)[0]) == cells
