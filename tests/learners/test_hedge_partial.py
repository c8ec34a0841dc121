"""Hedge on relative estimates: unbiased up to a shift, and regret that does not grow."""

import numpy as np
import pytest

from pickbest import theory
from pickbest.catalog import make_environment, make_learner
from pickbest.core import PickbestError, Seen, replicate_keys, rng_for
from pickbest.kernels.compiled import compiled
from pickbest.kernels.random import STEP
from pickbest.kernels.rules import Pick
from pickbest.learners import HedgePartial
from pickbest.learners.hedge_partial import new_work, pick_row
from pickbest.simulation.games import play
from pickbest.testing.learners import check_learner, check_long_run

COSTS = np.array([0.1, 0.8, 0.4, 0.9, 0.6])
KNOWN = np.array([0.0, 0.5, 1.0, 2.0, 0.2])


@pytest.mark.parametrize(("n_arms", "budget"), [(5, 2), (5, 3), (6, 4), (6, 6), (2, 2)])
def test_it_is_a_learner(n_arms, budget):
    learner = make_learner("hedge-partial", n_arms, budget, rate=0.3)
    check_learner(learner)
    check_long_run(learner, rounds=20_000)


@pytest.mark.parametrize("budget", [2, 3, 4])
def test_estimates_are_costs_relative_to_the_first_arm(budget):
    """Given I, E of what is added to arm a is c(a) - c(I)."""
    count = 120_000
    learner = HedgePartial(5, budget, rate=0.8)
    state = learner.start(count)
    state.costs[:] = KNOWN
    choice = learner.pick(state, rng_for(replicate_keys(2, count), 0))
    state = learner.learn(state, choice, Seen.of(COSTS[choice.arms]))
    added = state.costs - KNOWN
    for first in range(5):
        given = added[choice.arms[:, 0] == first]
        truth = COSTS - COSTS[first]
        error = given.std(axis=0) / np.sqrt(len(given))
        assert np.all(np.abs(given.mean(axis=0) - truth) <= 6 * error + 1e-12)


def test_the_first_arm_has_hedges_law():
    count = 100_000
    learner = HedgePartial(5, 3, rate=0.8)
    state = learner.start(count)
    state.costs[:] = KNOWN
    arms = learner.pick(state, rng_for(replicate_keys(4, count), 0)).arms
    law = np.exp(-0.8 * KNOWN)
    law /= law.sum()
    share = np.bincount(arms[:, 0], minlength=5) / count
    assert np.all(np.abs(share - law) < 6 * np.sqrt(law / count))


@pytest.mark.parametrize("budget", [2, 3, 4])
@pytest.mark.parametrize("name", ["one-good-arm", "bernoulli", "task-2", "alternating"])
def test_regret_is_below_its_bound(name, budget):
    environment = make_environment(name, rounds=3000)
    learner = make_learner("hedge-partial", environment.n_arms, budget)
    run = play(learner, environment, 40, seed=3)
    bound = theory.hedge_partial_bound(n_arms=environment.n_arms, budget=budget)
    assert (run.paid.sum(axis=1) - run.best_arm[:, -1]).mean() <= bound


def test_regret_stops_growing():
    short, long = (
        play(
            make_learner("hedge-partial", 10, 3),
            make_environment("one-good-arm", rounds=rounds),
            60,
            seed=1,
        )
        .paid.sum(axis=1)
        .mean()
        for rounds in (2_000, 20_000)
    )
    assert long <= 1.15 * short


def test_wrong_arguments_are_named():
    for call, message in (
        (lambda: HedgePartial(5, 1, 0.1), "budget of at least 2"),
        (lambda: HedgePartial(5, 2, 0.0), "rate must be"),
        (lambda: HedgePartial(5, 2, 0.1, explore=1.0), "explore must be"),
    ):
        with pytest.raises(PickbestError, match=message):
            call()


@compiled
def pick_many(law, state, key, beside):
    """Whether a place behind the arms of a pick was ever written."""
    work = new_work(law, state, len(beside) - 1)
    weights, nobody = np.empty(len(beside) - 1), np.zeros(0, np.bool_)
    for _ in range(500):
        key += STEP
        pick_row(law, state, 0, work, Pick(nobody, key, beside[:-1], weights))
        if beside[-1] != -7:
            return True
    return False


@pytest.mark.parametrize("budget", [2, 3, 4])
def test_a_pick_fills_its_own_places_only(budget):
    learner = HedgePartial(5, budget, rate=0.8)
    assert not pick_many(learner.law, learner.start(1), np.uint64(3), np.full(budget + 1, -7))
