"""Learners against straightforward implementations, identities, and bad input."""

import math

import numpy as np
import pytest

from pickbest.catalog import make_learner
from pickbest.core import GOLDEN, Choice, PickbestError, Seen, replicate_keys, rng_for
from pickbest.environments import Bernoulli
from pickbest.kernels.random import exponential_at
from pickbest.learners import (
    FPML,
    Exp3,
    Fixed,
    FPMLPartial,
    Greedy,
    Hedge,
    Leaders,
    Thompson,
    Uniform,
    Weights,
)
from pickbest.simulation.games import deal_all, play_dealt

TABLE = np.random.default_rng(0).random((120, 6))


def exponentials(key, count=6):
    """The Exp(1) draws that a key gives the arms."""
    counters = key + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(GOLDEN)
    return np.array([exponential_at(counter) for counter in counters])


def picks(learner, table=TABLE, seed=0, replicates=3):
    """(rounds, replicates, budget) arms of a game played by hand."""
    keys, state, arms = replicate_keys(seed, replicates), learner.start(replicates), []
    for t, row in enumerate(table):
        costs = np.tile(row, (replicates, 1))
        choice = learner.pick(state, rng_for(keys, t))
        seen = (
            costs
            if learner.feedback.value == "full"
            else np.take_along_axis(costs, choice.arms, axis=1)
        )
        state = learner.learn(state, choice, Seen.of(seen))
        arms.append(choice.arms)
    return np.array(arms)


@pytest.mark.parametrize(
    ("learner", "epsilon"),
    [
        (FPML(6, 2, 0.3), lambda t: 0.3),
        (FPML(6, 2, 0.3, fresh=False), lambda t: 0.3),
        (FPML(6, 2, 0.9, decay=1 / 3), lambda t: 0.9 / (t + 1) ** (1 / 3)),
    ],
    ids=["fresh", "drawn once", "anytime"],
)
def test_fpml_is_algorithm_1(learner, epsilon):
    """Draw, subtract, take the B lowest, add: written out with sorting, one replicate."""
    lasting = replicate_keys(0, 1)
    cumulative, expected = np.zeros(6), []
    for t, costs in enumerate(TABLE):
        key = (rng_for(lasting, t).keys if learner.fresh else lasting)[0]
        expected.append(np.argsort(cumulative - exponentials(key) / epsilon(t))[:2])
        cumulative += costs
    assert np.array_equal(picks(learner, replicates=1)[:, 0], expected)


def test_fpml_partial_adds_weighted_costs_of_its_arms_only():
    learner = FPMLPartial(n_arms=4, budget=2, epsilon=1.0)
    choice = Choice(np.array([[3, 1]]), np.array([[2.0, 4.0]]))
    state = learner.learn(learner.start(1), choice, Seen.of(np.array([[0.5, 0.25]])))
    assert state.costs.tolist() == [[0.0, 1.0, 0.0, 1.0]]


def test_hybrid_with_one_slot_is_fpml():
    for partial in (False, True):
        inner = FPMLPartial(6, 3, 0.4) if partial else FPML(6, 3, 0.4)
        for distinct in (True, False):
            assert np.array_equal(picks(Greedy(inner, 1, distinct)), picks(inner))


def test_hybrid_with_slots_of_one_arm_is_og_with_fpl():
    """OG written out: FPL in each slot, fed gains over the best of the slots before it."""
    hybrid = make_learner(
        "og-hybrid", 6, 3, 120, feedback="full", slot_budget=1, epsilon=0.4, slots="independent"
    )
    assert hybrid == Greedy(FPML(6, 1, 0.4), 3, distinct=False)
    keys = replicate_keys(0, 1)
    slots = [np.zeros(6) for _ in range(3)]
    expected = []
    for t, costs in enumerate(TABLE):
        rng = rng_for(keys, t)
        arms = [
            int(np.argmin(slots[i] - exponentials(rng.child(i).keys[0]) / 0.4)) for i in range(3)
        ]
        expected.append(arms)
        rewards, best = 1 - costs, 0.0
        for i, arm in enumerate(arms):
            slots[i] += 1 - np.maximum(rewards - best, 0)
            best = max(best, rewards[arm])
    assert np.array_equal(picks(hybrid, replicates=1)[:, 0], expected)


def test_og_feeds_exp3_the_gain_of_its_own_arm():
    learner = Greedy(Exp3(4, gamma=0.2), slots=2, distinct=False)
    choice = Choice(np.array([[1, 2]]), np.array([[3.0, 5.0]]))
    state = learner.learn(learner.start(1), choice, Seen.of(np.array([[0.6, 0.1]])))
    assert np.allclose(state.slots.gains[:, 0], [[0, 3 * 0.4, 0, 0]])
    assert np.allclose(state.slots.gains[:, 1], [[0, 0, 5 * (0.9 - 0.4), 0]])


def test_distinct_slots_are_unbiased_given_the_slots_before():
    """E[estimate of slot 2] = its true cost for every arm, taken ones included."""
    learner = Greedy(FPMLPartial(5, 1, 0.7), slots=2)
    costs = np.array([0.1, 0.8, 0.4, 0.9, 0.6])
    replicates = 60_000
    state = learner.start(replicates)
    state.slots.costs[:, 0][:] = [0.0, 0.3, 0.6, 0.9, 1.2]
    state.slots.costs[:, 1][:] = [1.2, 0.1, 0.5, 0.2, 0.0]
    before = state.slots.costs[:, 1].copy()
    choice = learner.pick(state, rng_for(replicate_keys(0, replicates), 0))
    state = learner.learn(state, choice, Seen.of(costs[choice.arms]))
    estimates = state.slots.costs[:, 1] - before
    for first in range(5):
        given = estimates[choice.arms[:, 0] == first]
        truth = 1 - np.maximum(costs[first] - costs, 0)
        error = given.std(axis=0) / math.sqrt(len(given))
        assert np.all(np.abs(given.mean(axis=0) - truth) <= 6 * error + 1e-12)


def test_hedge_follows_exponential_weights():
    learner = Hedge(n_arms=3, rate=0.5)
    state = learner.start(20_000)
    state.gains[:] = [-1.0, -3.0, 0.0]
    choice = learner.pick(state, rng_for(replicate_keys(0, 20_000), 0))
    law = np.exp([-0.5, -1.5, 0.0])
    law /= law.sum()
    share = np.bincount(choice.arms[:, 0], minlength=3) / 20_000
    assert np.all(np.abs(share - law) < 6 * np.sqrt(law / 20_000))
    assert np.allclose(choice.weights[:, 0], 1 / law[choice.arms[:, 0]])


def test_thompson_counts_shares_of_success():
    learner = Thompson(n_arms=2, budget=1)
    choice = Choice(np.array([[1]]))
    state = learner.learn(learner.start(1), choice, Seen.of(np.array([[0.25]])))
    assert state.costs.tolist() == [[0.0, 0.25]]
    assert state.rewards.tolist() == [[0.0, 0.75]]


def test_leaders_follow_the_lowest_costs():
    learner = Leaders(n_arms=6, budget=2)
    cumulative = np.zeros(6)
    for t, arms in enumerate(picks(learner, replicates=1)[:, 0]):
        assert np.array_equal(arms, np.argsort(cumulative, kind="stable")[:2])
        cumulative += TABLE[t]


def test_uniform_subsets_are_equally_likely():
    choice = Uniform(4, 2).pick({}, rng_for(replicate_keys(0, 30_000), 0))
    pairs = np.sort(choice.arms, axis=1) @ [4, 1]
    share = np.unique(pairs, return_counts=True)[1] / 30_000
    assert len(share) == 6
    assert np.all(np.abs(share - 1 / 6) < 6 * math.sqrt(1 / 6 / 30_000))


def test_expected_regret_of_fresh_and_fixed_perturbations_agree():
    """Theorem 2's proof: against oblivious costs both have the same expected cost."""
    dealt = deal_all(Bernoulli(5, 60, 0.7), 4000, seed=1)
    paid = {
        fresh: play_dealt(FPML(5, 2, 0.3, fresh=fresh), dealt, 4000, seed=2).paid.sum(axis=1)
        for fresh in (True, False)
    }
    error = math.sqrt(sum(p.var() / 4000 for p in paid.values()))
    assert abs(paid[True].mean() - paid[False].mean()) < 5 * error


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: FPML(5, 0, 0.1), "budget must be between 1 and n_arms=5, got 0"),
        (lambda: FPML(5, 6, 0.1), "budget must be between 1 and n_arms=5, got 6"),
        (lambda: FPML(0, 1, 0.1), "n_arms must be a whole number of at least 1, got 0"),
        (lambda: FPML(5, 2, 0.0), "epsilon must be a number above 0"),
        (lambda: FPML(5, 2, math.nan), "epsilon must be a number above 0"),
        (lambda: FPML(5, 2, 0.1, decay=1.0), "decay must be at least 0 and below 1"),
        (lambda: FPMLPartial(5, 2, 0.1, explore=0.0), "explore must be above 0"),
        (lambda: FPMLPartial(5, 2, 0.1, Weights.GEOMETRIC, 0), "resamples must be a whole"),
        (lambda: Exp3(5, 1.5), "gamma must be above 0 and at most 1"),
        (lambda: Hedge(5, -1.0), "rate must be a number above 0"),
        (lambda: Fixed(5, (1, 1)), "arms must be distinct"),
        (lambda: Fixed(5, (5,)), "arms must be distinct and between 0 and 4"),
        (lambda: Greedy(Exp3(3, 0.1), 4), "budget must be between 1 and n_arms=3, got 4"),
    ],
)
def test_bad_parameters_are_refused(build, message):
    with pytest.raises(PickbestError, match=message.replace("(", r"\(")):
        build()
