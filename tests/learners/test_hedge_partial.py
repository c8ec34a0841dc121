"""Relative estimates: unbiased up to a shift, a law that sums to one, regret that is bounded."""

import math

import numpy as np
import pytest

from pickbest import theory
from pickbest.catalog import environment_names, make_environment, make_learner
from pickbest.core import PickbestError, Seen, replicate_keys, rng_for
from pickbest.kernels.compiled import compiled
from pickbest.kernels.random import STEP, uniform_at
from pickbest.kernels.rules import Pick, Told
from pickbest.learners import HedgePartial
from pickbest.learners.hedge_partial import (
    HedgePartialState,
    fill_shares,
    fill_weights,
    learn_row,
    new_work,
    pick_row,
)
from pickbest.simulation.games import play
from pickbest.testing.learners import check_learner, check_long_run

COSTS = np.array([0.1, 0.8, 0.4, 0.9, 0.6])
KNOWN = np.array([0.0, 0.5, 1.0, 2.0, 0.2])


@pytest.mark.parametrize(("n_arms", "budget"), [(5, 2), (5, 3), (6, 4), (6, 6), (2, 2)])
@pytest.mark.parametrize("known", [False, True])
def test_it_is_a_learner(n_arms, budget, known):
    prior = tuple(1.0 + np.arange(n_arms)) if known else None
    learner = make_learner("hedge-partial", n_arms, budget, prior=prior)
    check_learner(learner)
    check_long_run(learner, rounds=20_000)


@pytest.mark.parametrize("budget", [2, 3, 4])
def test_estimates_are_costs_relative_to_the_first_arm(budget):
    """Given I, E of what is added to arm a is c(a) - c(I)."""
    count = 120_000
    learner = HedgePartial(5, budget, rate=0.8, stretch=1.4)
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


@pytest.mark.parametrize("law", ["bose-einstein", "shannon"])
def test_the_first_arm_has_the_law(law):
    count = 100_000
    learner = make_learner(f"hedge-partial:law={law}", 5, 3)
    state = learner.start(count)
    state.costs[:] = 5 * KNOWN
    arms = learner.pick(state, rng_for(replicate_keys(4, count), 0)).arms
    shares = np.exp(-learner.law.scale * 5 * KNOWN)
    if law == "bose-einstein":
        low, high = -50.0, -1e-9
        for _ in range(200):
            tau = (low + high) / 2
            shares = learner.law.odds / np.expm1(learner.law.scale * (5 * KNOWN - tau))
            low, high = (tau, high) if shares.sum() < 1.0 else (low, tau)
    shares /= shares.sum()
    found = np.bincount(arms[:, 0], minlength=5) / count
    assert np.all(np.abs(found - shares) < 6 * np.sqrt(shares / count))


@compiled
def law_of(law, state, work):
    known = fill_weights(law, state.costs[0], 0, work)
    return fill_shares(law, work.weights[0], known, work.shares)


@compiled
def learn_at(law, state, work, told):
    learn_row(law, state, 0, work, told)


SIZES = (1e-9, 1.0, 1e2, 1e4, 1e6, 1e9)


def shapes_of(n_arms):
    """Estimates between 0 and about 1 of many kinds."""
    rng = np.random.default_rng(n_arms)
    equal, two = np.zeros(n_arms), (rng.random(n_arms) < 0.5) + 0.0
    return [
        equal,
        rng.random(n_arms),
        two,
        rng.exponential(size=n_arms) ** 4,
        np.arange(n_arms) / n_arms,
    ]


def check_law(n_arms, budget, costs, size):
    """Σ p = 1, p in the order of the costs and as the equation has it; after lessons, too."""
    arms = np.append(n_arms - 1, np.arange(0, n_arms - 1, max(n_arms // 7, 1)))
    told = Told(arms, np.full(len(arms), 0.01), np.append(0.0, np.ones(len(arms) - 1)), 1.0)
    law, state = make_learner("hedge-partial", n_arms, budget).law, HedgePartialState(costs[None])
    work = new_work(law, state, budget)
    for _ in range(3):
        total = law_of(law, state, work)
        assert abs(law.odds * total - 1.0) <= 1e-12
        assert abs(law.odds * math.fsum(work.shares) - 1.0) <= 1e-12
        assert work.shares.min() >= 0.0
        shares = work.shares[np.argsort(state.costs[0], kind="stable")]
        assert np.diff(shares).max() <= 1e-15 * total
        # 1 / share is e^(scale (L - τ)) - 1: the same τ for all arms.
        likely = work.shares > 1e-9 * total
        taus = work.weights[0][likely] * (1.0 / work.shares[likely] + 1.0)
        assert np.ptp(taus) <= 1e-10 * taus.max()
        # What is kept from round to round changes no bit.
        fresh = new_work(law, state, budget)
        law_of(law, state, fresh)
        assert np.array_equal(work.weights, fresh.weights)
        learn_at(law, state, work, told._replace(costs=size * told.costs))


@pytest.mark.parametrize("seed", range(12))
def test_the_law_sums_to_one_for_any_number_of_arms(seed):
    """Up to 10^5 arms, B from 2 to N - 1, estimates up to 10^9."""
    rng = np.random.default_rng(seed)
    n_arms = int(np.exp(rng.uniform(math.log(3), math.log(100_000))))
    budget, size = int(np.exp(rng.uniform(math.log(2), math.log(n_arms)))), rng.choice(SIZES)
    check_law(n_arms, max(2, min(budget, n_arms - 1)), size * rng.choice(shapes_of(n_arms)), size)


@compiled
def farthest_off(law, state, work, key, rounds, told, nobody):
    """The largest |Σ p - 1| over these rounds of random costs, a good arm, and huge lessons."""
    worst = 0.0
    for t in range(rounds):
        key += STEP
        pick_row(law, state, 0, work, Pick(nobody, key, told.arms, told.weights))
        known = fill_weights(law, state.costs[0], 0, work)
        fill_shares(law, work.weights[0], known, work.shares)
        off = abs(law.odds * work.shares.sum() - 1.0)
        worst = max(worst, off if off >= 0.0 else np.inf)
        for j in range(len(told.arms)):
            told.costs[j] = uniform_at(key + np.uint64(j + 1)) if told.arms[j] > 0 else 0.2
            if t % 100_000 == 99_999:
                told.costs[j] *= 1e6
        learn_row(law, state, 0, work, told)
    return worst


@pytest.mark.slow
@pytest.mark.parametrize(("n_arms", "budget"), [(3, 2), (10, 2), (10, 9), (32, 3), (100, 6)])
def test_the_law_sums_to_one_in_each_of_a_million_rounds(n_arms, budget):
    learner = make_learner("hedge-partial", n_arms, budget)
    law, state = learner.law, learner.start(1)
    told = Told(np.empty(budget, np.int64), np.empty(budget), np.empty(budget), 1.0)
    work, nobody = new_work(law, state, budget), np.zeros(0, np.bool_)
    worst = farthest_off(law, state, work, np.uint64(7), 1_000_000, told, nobody)
    assert worst <= 1e-12
    assert np.isfinite(state.costs).all()


@pytest.mark.parametrize("way", [law_of, law_of.plain])
def test_weights_are_never_those_of_other_estimates(way):
    """Not after a lesson before the first pick, nor after one that makes a weight infinite."""
    learner = HedgePartial(3, 2, rate=1.0, stretch=1.4)
    state = HedgePartialState(np.zeros((1, 3)))
    work = new_work(learner.law, state, 2)
    for cost in (1.0, -1e4, 1.0):
        told = Told(np.array([0, 1]), np.ones(2), np.array([0.0, cost]), 1.0)
        learn_row(learner.law, state, 0, work, told)
        assert way(learner.law, state, work) == pytest.approx(1.0 / learner.law.odds, abs=1e-12)
        fresh = new_work(learner.law, state, 2)
        way(learner.law, state, fresh)
        assert np.array_equal(work.weights, fresh.weights)


@pytest.mark.parametrize("budget", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("name", environment_names())
def test_regret_is_below_its_bound_everywhere(name, budget):
    environment = make_environment(name)
    if budget >= environment.n_arms:
        pytest.skip("all arms are picked")
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


@pytest.mark.parametrize("budget", [2, 3])
def test_a_prior_pays_where_it_is_right(budget):
    """One good arm of 16 that has half of the prior: regret against it is below its own bound."""
    table, prior = np.ones((1, 4000, 16)), (15.0,) + (1.0,) * 15
    table[0, :, 0] = 0.0
    keys, paid = replicate_keys(3, 200), {}
    for known in (None, prior):
        learner = make_learner("hedge-partial", 16, budget, prior=known)
        paid[known] = learner.play_table(learner.start(200), table, keys, 0)[1].sum(axis=1).mean()
    bound = theory.hedge_partial_prior_bound(prior=prior, arm=0, budget=budget)
    assert paid[prior] <= bound < theory.hedge_partial_bound(n_arms=16, budget=budget)
    assert paid[prior] < 0.7 * paid[None]


def test_only_watched_races_teach_and_without_bias():
    """Given I, E of what a race adds to arm a is c(a) - c(I), whatever its chance to be watched."""
    count = 200_000
    learner = HedgePartial(5, 3, rate=0.8, stretch=1.4).in_races()
    state = learner.start(count)
    choice = learner.pick(state, rng_for(replicate_keys(5, count), 0))
    rng = np.random.default_rng(6)
    # It may depend on what was picked, by any rule above the learner's own.
    watch = np.where(choice.arms[:, 0] == 2, 0.6, choice.watch)
    watched = rng.random(count) < watch
    costs = COSTS[choice.arms]
    lowest = costs.min(axis=1, keepdims=True)
    high = np.where(watched[:, None] | (costs == lowest), costs, 1.0)
    low = np.where(watched[:, None] | (costs == lowest), costs, lowest)
    seen = Seen(low, high, costs, watch, watched)
    state = learner.learn(state, choice, seen)
    assert np.all(state.costs[~watched] == 0.0)
    for first in range(5):
        given = state.costs[choice.arms[:, 0] == first]
        error = given.std(axis=0) / np.sqrt(len(given))
        assert np.all(np.abs(given.mean(axis=0) - (COSTS - COSTS[first])) <= 6 * error + 1e-12)


def test_regret_of_watched_races_stops_growing():
    """All arms succeed or fail together: the pairs that differ are what must be seen."""
    n_arms, rounds = 6, 6_000
    environment = make_environment("together", n_arms=n_arms, rounds=rounds, gap=0.25)
    learner = HedgePartial(n_arms, 3, *theory.relative_tuning(budget=3)[:2], watched=0.3)
    replicates = 20
    keys, rng = replicate_keys(7, replicates), np.random.default_rng(8)
    state = learner.start(replicates)
    paid, arms_paid = np.empty((replicates, rounds)), np.zeros((replicates, n_arms))
    for t in range(rounds):
        costs = environment.costs((), t, rng_for(keys, t))
        choice = learner.pick(state, rng_for(replicate_keys(9, replicates), t))
        own = np.take_along_axis(costs, choice.arms, axis=1)
        watch = choice.watch
        watched = rng.random(replicates) < watch
        paid[:, t] = own.min(axis=1)
        arms_paid += costs
        state = learner.learn(state, choice, Seen(own, own, own, watch, watched))
    regret = paid.sum(axis=1) - arms_paid.min(axis=1)
    bound = theory.watched_bound(n_arms=n_arms, budget=3, watched=0.3)
    assert regret.mean() <= bound
    assert rounds * 0.25 * 0.5 > 20 * bound
    late = paid[:, rounds // 2 :].mean()
    assert late < 0.27


def test_wrong_arguments_are_named():
    for call, message in (
        (lambda: HedgePartial(5, 1, 0.1, 1.4), "budget of at least 2"),
        (lambda: HedgePartial(5, 2, 0.0, 1.4), "rate must be"),
        (lambda: HedgePartial(5, 2, 0.1, 0.5), "stretch must be"),
        (lambda: HedgePartial(5, 2, 0.1, 1.4, explore=1.0), "explore must be"),
        (lambda: HedgePartial(5, 2, 0.1, 1.4, explore=1e-320), "explore must be at least 1e-09"),
        (lambda: HedgePartial(5, 2, 1e-300, 1.4), "rate must be between"),
        (lambda: HedgePartial(5, 2, 0.1, 1.4, watched=0.0), "watched must be"),
        (lambda: HedgePartial(3, 2, 0.1, 1.4, prior=(1.0, 2.0)), "prior must have n_arms=3"),
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
    learner = HedgePartial(5, budget, rate=0.8, stretch=1.4)
    assert not pick_many(learner.law, learner.start(1), np.uint64(3), np.full(budget + 1, -7))
