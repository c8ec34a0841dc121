"""Guarded learners: the guard's leaders are there, and what FPML promises holds."""

import math
from dataclasses import replace

import numpy as np
import pytest

from pickbest import theory
from pickbest.catalog import make_learner
from pickbest.core import (
    Choice,
    PickbestError,
    replicate_keys,
    rng_for,
)
from pickbest.core.states import copy_state, repeat_state, same_state
from pickbest.learners import (
    FPML,
    UCB,
    Exp3,
    FPMLPartial,
    Greedy,
    GreedyThompson,
    GreedyUCB,
    Guarded,
    GuardedLast,
    Thompson,
    Tsallis,
    Weights,
)
from pickbest.testing.learners import check_learner, check_long_run, check_unbiased

N_ARMS = 6
OPEN = {
    "thompson": Thompson(N_ARMS, 2),
    "ucb": UCB(N_ARMS, 2),
    "greedy-thompson": GreedyThompson(N_ARMS, 2),
    "greedy-ucb": GreedyUCB(N_ARMS, 2),
    "fpml-partial": FPMLPartial(N_ARMS, 2, 0.1),
}
CLOSED = {
    "og": Greedy(Exp3(N_ARMS, 0.2), 2),
    "independent og": Greedy(Exp3(N_ARMS, 0.2), 2, distinct=False),
    "tsallis": Tsallis(N_ARMS, 2),
    "guarded og": Guarded(Greedy(Exp3(N_ARMS, 0.2), 1), FPMLPartial(N_ARMS, 1, 0.1)),
}
INNER = {**OPEN, **CLOSED}
each_open = pytest.mark.parametrize("inner", OPEN.values(), ids=OPEN.keys())
each_inner = pytest.mark.parametrize("inner", INNER.values(), ids=INNER.keys())


def played(learner, replicates, rounds=20):
    """The state after some rounds, and the choice of the next one."""
    state, keys = learner.start(replicates), replicate_keys(1, replicates)
    costs = np.random.default_rng(2).random((rounds, learner.n_arms))
    for t in range(rounds):
        choice = learner.pick(state, rng_for(keys, t))
        state = learner.learn(state, choice, costs[t][choice.arms])
    return state, learner.pick(state, rng_for(keys, rounds))


@each_inner
def test_conforms(inner):
    learner = Guarded(inner, FPMLPartial(N_ARMS, 2, 0.1))
    distinct = inner is not INNER["independent og"]
    check_learner(learner, distinct=distinct)
    check_long_run(learner, rounds=2000)


@each_open
def test_guarded_last_conforms(inner):
    learner = GuardedLast(inner, FPMLPartial(N_ARMS, 1, 0.1))
    check_learner(learner)
    check_long_run(learner, rounds=2000)


GUARD_COSTS = np.array([1.0, 4.0, 0.0, 2.0, 5.0, 3.0])


def drawn(learner, replicates):
    """(state, costs, choice): one state in which arms differ, and the choices from it."""
    one, _ = played(learner, 1)
    state = repeat_state(one, replicates)
    state.guard.costs[:] = GUARD_COSTS
    choice = learner.pick(state, rng_for(replicate_keys(3, replicates), 0))
    return state, np.linspace(0.2, 1.0, N_ARMS), choice


@each_inner
@pytest.mark.parametrize("guard_budget", [1, 2])
def test_the_guards_own_leaders_are_always_in_the_set(inner, guard_budget):
    """With its randomness, every arm that it would have picked alone is in the set."""
    guard = FPMLPartial(N_ARMS, guard_budget, 0.1)
    learner = Guarded(inner, guard)
    state, choice = played(learner, 2000)
    rng = rng_for(replicate_keys(1, 2000), 20).child(inner.budget)
    alone = guard.pick(state.guard, rng).arms
    assert np.all((alone[:, :, None] == choice.arms[:, None, :]).any(axis=2))
    own = inner.pick(state.inner, rng_for(replicate_keys(1, 2000), 20)).arms
    assert np.array_equal(choice.arms[:, : inner.budget], own)


@each_inner
def test_the_guards_estimates_are_unbiased_given_the_inner_arms(inner):
    learner = Guarded(inner, FPMLPartial(N_ARMS, 1, 0.3))
    state, costs, choice = drawn(learner, 100_000)
    added = learner.learn(state, choice, costs[choice.arms]).guard.costs - GUARD_COSTS
    taken = choice.arms[:, : inner.budget]
    sets = np.sort(taken, axis=1) @ [N_ARMS, 1]
    for arms in np.unique(sets):
        rows = sets == arms
        if rows.sum() < 500:
            continue
        assert np.allclose(added[rows][:, taken[rows][0]], costs[taken[rows][0]])
        error = added[rows].std(axis=0) / math.sqrt(rows.sum())
        assert np.all(np.abs(added[rows].mean(axis=0) - costs) <= 6 * error + 1e-9)


@each_open
@pytest.mark.parametrize("budget", [1, 2, 6])
def test_guarded_last_arms_and_weights(inner, budget):
    """The leader is in the set; given the inner arms, the weights are 1 / P(seen)."""
    inner = replace(inner, budget=budget)
    learner = GuardedLast(inner, FPMLPartial(N_ARMS, 1, 0.3))
    state, costs, choice = drawn(learner, 60_000)
    rng = rng_for(replicate_keys(3, 60_000), 0)
    leader = learner.guard.pick(state.guard, rng.child(budget))
    own = inner.pick(state.inner, rng).arms
    yielded = ~(own == leader.arms).any(axis=1)
    assert np.array_equal(choice.arms[~yielded], own[~yielded])
    assert np.array_equal(choice.arms[yielded, -1], leader.arms[yielded, 0])
    assert np.array_equal(choice.arms[:, :-1], own[:, :-1])
    added = learner.learn(state, choice, costs[choice.arms]).guard.costs - GUARD_COSTS
    sets = own @ N_ARMS ** np.arange(budget)
    for arms in np.unique(sets):
        rows = sets == arms
        if rows.sum() > 500:
            error = added[rows].std(axis=0) / math.sqrt(rows.sum())
            assert np.all(np.abs(added[rows].mean(axis=0) - costs) <= 6 * error + 1e-9)
            # No arm is seen less often than it leads.
            assert np.all(choice.weights[rows & yielded, -1] >= 1.0)
    if budget == N_ARMS:
        assert np.allclose(choice.weights, 1.0)


@each_open
def test_all_weights_together_are_unbiased_where_the_inner_learner_is_open(inner):
    learner = Guarded(inner, FPMLPartial(N_ARMS, 2, 0.1))
    assert learner.unbiased
    check_unbiased(learner)
    assert np.all(played(learner, 50)[1].weights[:, :2] == 1.0)


@pytest.mark.parametrize("inner", CLOSED.values(), ids=CLOSED.keys())
def test_a_closed_inner_learner_learns_what_it_would_alone(inner):
    learner = Guarded(inner, FPMLPartial(N_ARMS, 2, 0.1))
    assert not learner.unbiased
    state, choice = played(learner, 4)
    costs = np.random.default_rng(4).random(choice.arms.shape)
    before = copy_state(state.inner)
    own = Choice(choice.arms[:, :2].copy(), choice.weights[:, :2].copy())
    alone = inner.learn(before, own, costs[:, :2].copy())
    assert same_state(learner.learn(state, choice, costs).inner, alone)


def test_an_open_inner_learner_learns_from_the_guards_arm():
    learner = Guarded(GreedyThompson(4, 2), FPMLPartial(4, 1, 0.1))
    choice = Choice(np.array([[2, 0, 3]]), np.array([[1.0, 1.0, 5.0]]))
    state = learner.learn(learner.start(1), choice, np.array([[0.5, 0.2, 0.4]]))
    assert np.allclose(state.inner.gains, [[[0.8, 0, 0.5, 0.6], [0.3, 0, 0, 0.1]]])
    assert np.allclose(state.guard.costs, [[0.2, 0, 0.5, 2.0]])


def test_arms_that_the_inner_learner_repeats_count_once_for_the_guard():
    learner = Guarded(CLOSED["independent og"], FPMLPartial(N_ARMS, 1, 0.1))
    choice = Choice(np.array([[2, 2, 3]]), np.array([[7.0, 8.0, 5.0]]))
    state = learner.learn(learner.start(1), choice, np.array([[0.5, 0.5, 0.2]]))
    assert np.allclose(state.guard.costs, [[0, 0, 0.5, 1.0, 0, 0]])


# The catalog --------------------------------------------------------------------------------


def test_names_and_options():
    epsilon = theory.partial_epsilon_practical(n_arms=9, slot_budget=1, rounds=100)
    usual = make_learner("guarded", 9, 4, 100)
    assert usual == GuardedLast(GreedyThompson(9, 4), FPMLPartial(9, 1, epsilon))
    own = make_learner("guarded", 9, 4, 100, inner="og", guard_budget=2)
    assert own == Guarded(make_learner("og", 9, 2, 100), FPMLPartial(9, 2, epsilon))


def test_without_a_horizon_nothing_restarts():
    for options in ({}, {"inner": "ucb", "guard_budget": 1}):
        learner = make_learner("guarded", 9, 4, **options)
        assert learner.guard.decay == 0.5
        check_learner(learner)


def test_bad_input_is_refused():
    for budget, guard_budget in ((1, 1), (3, 3)):
        with pytest.raises(PickbestError, match=f"budget must be at least {budget + 1}"):
            make_learner("guarded", 9, budget, 50, guard_budget=guard_budget)
    guard, thompson = FPMLPartial(5, 1, 0.1), Thompson(5, 1)
    for kind in (Guarded, GuardedLast):
        with pytest.raises(PickbestError, match="the same number of arms, got 4 and 5"):
            kind(Thompson(4, 1), guard)
        with pytest.raises(PickbestError, match="weights must be exact, got geometric"):
            kind(thompson, FPMLPartial(5, 1, 0.1, Weights.GEOMETRIC))
        with pytest.raises(PickbestError, match="sees picked arms only"):
            kind(FPML(5, 1, 0.1), guard)
    with pytest.raises(PickbestError, match="budget must be between 1 and n_arms=5, got 6"):
        Guarded(Thompson(5, 5), guard)
    with pytest.raises(PickbestError, match="Tsallis cannot learn of arms that it did not pick"):
        GuardedLast(Tsallis(5, 2), guard)
    with pytest.raises(PickbestError, match="the guard's budget must be 1, got 2"):
        GuardedLast(thompson, FPMLPartial(5, 2, 0.1))
