"""Hedge with several draws: its law, priors, sets, and regret that does not grow."""

import itertools

import numpy as np
import pytest

from pickbest import theory
from pickbest.catalog import environment_names, make_environment, make_learner
from pickbest.core import Environment, PickbestError, replicate_keys, rng_for
from pickbest.learners import Hedge
from pickbest.simulation.games import play
from pickbest.testing.learners import check_learner, check_long_run

GAINS = np.array([0.0, -0.7, -1.5, -0.2])


def chance_of(arms, law):
    """P(arms are drawn in this order without replacement)."""
    left, chance = 1.0, 1.0
    for arm in arms:
        chance *= law[arm] / left
        left -= law[arm]
    return chance


def test_draws_are_without_replacement():
    count = 200_000
    learner = Hedge(4, 1.3, budget=2)
    state = learner.start(count)
    state.gains[:] = GAINS
    arms = learner.pick(state, rng_for(replicate_keys(3, count), 0)).arms
    law = np.exp(1.3 * GAINS)
    law /= law.sum()
    for pair in itertools.permutations(range(4), 2):
        expected = chance_of(pair, law)
        share = np.all(arms == pair, axis=1).mean()
        assert abs(share - expected) < 6 * np.sqrt(expected / count)


def test_arms_far_behind_keep_their_order():
    learner = Hedge(5, 2.0, budget=3)
    state = learner.start(50)
    state.gains[:] = [0.0, -1e3, -1e6, -1e9, -1e12]
    assert np.all(learner.pick(state, rng_for(replicate_keys(0, 50), 0)).arms == [0, 1, 2])


def test_a_prior_is_the_first_law():
    count = 40_000
    learner = Hedge(3, 0.5, prior=(6.0, 3.0, 1.0))
    arms = learner.pick(learner.start(count), rng_for(replicate_keys(1, count), 0)).arms
    assert np.allclose(np.bincount(arms[:, 0]) / count, [0.6, 0.3, 0.1], atol=0.015)


@pytest.mark.parametrize(
    ("spec", "n_arms", "budget"), [("hedge", 6, 2), ("hedge:prior=1+2+3+1+1+1", 6, 3)]
)
def test_they_are_learners(spec, n_arms, budget):
    learner = make_learner(spec, n_arms, budget)
    check_learner(learner)
    check_long_run(learner, rounds=20_000)


@pytest.mark.parametrize("budget", [2, 3, 4])
@pytest.mark.parametrize("name", environment_names())
def test_regret_is_below_the_constant_bound_everywhere(name, budget):
    environment = make_environment(name)
    if budget >= environment.n_arms:
        pytest.skip("all arms are picked")
    bound = theory.hedge_bound(n_arms=environment.n_arms, budget=budget)
    run = play(make_learner("hedge", environment.n_arms, budget), environment, 60, seed=6)
    assert (run.paid.sum(axis=1) - run.best_arm[:, -1]).mean() <= bound


class BestResponse:
    """Knows Hedge's law: charges 1 to the likeliest arms, as long as one arm stays without cost."""

    n_arms, rounds, adaptive, varies = 8, 400, True, True

    def __init__(self, rate):
        self.rate = rate

    def start(self, replicates):
        return np.zeros((replicates, self.n_arms))

    def costs(self, state, round_index, rng):
        law = np.exp(-self.rate * (state - state.min(axis=1, keepdims=True)))
        law /= law.sum(axis=1, keepdims=True)
        order = np.argsort(-law, axis=1, kind="stable")
        costs = np.zeros(state.shape)
        charged = self.n_arms // 2 if round_index % 3 else self.n_arms - 1
        np.put_along_axis(costs, order[:, :charged], 1.0, axis=1)
        return costs

    def react(self, state, arms, costs):
        return state + costs


@pytest.mark.parametrize("budget", [2, 3])
def test_an_adversary_that_knows_the_law_gains_no_more(budget):
    rate = theory.constant_rate(budget=budget)
    adversary = BestResponse(rate)
    assert isinstance(adversary, Environment)
    run = play(Hedge(8, rate, budget), adversary, 200, seed=4)
    regret = run.paid.sum(axis=1) - run.best_arm[:, -1]
    assert regret.mean() <= theory.hedge_bound(n_arms=8, budget=budget)
    # Tails: with probability .9 for all numbers of rounds at once, at the rate that has tails.
    less = theory.tail_rate(budget=budget, tail=0.5)
    paid = play(Hedge(8, less, budget), BestResponse(less), 200, seed=5)
    worst = (np.cumsum(paid.paid, axis=1) - paid.best_arm).max(axis=1)
    limit = theory.tail_bound(n_arms=8, budget=budget, doubt=0.1, tail=0.5)
    assert (worst > limit).mean() <= 0.1


def test_sets_meet_the_best_set():
    """Pairs that complement each other: two draws of pairs find the best pair itself."""
    rng = np.random.default_rng(0)
    table = np.ones((1, 600, 7))
    owner = rng.integers(0, 2, 600)
    table[0, np.arange(600), np.where(owner == 0, 2, 5)] = 0.0
    table[0, :, 0] = 0.4
    pairs = np.array(list(itertools.combinations(range(7), 2)))
    costs = table[:, :, pairs].min(axis=3)
    learner = Hedge(len(pairs), theory.constant_rate(budget=2), budget=2)
    _, paid = learner.play_table(learner.start(50), costs, replicate_keys(0, 50), 0)
    best = table[0][:, [2, 5]].min(axis=1).sum()
    regret = paid.sum(axis=1).mean() - best
    assert regret <= theory.subset_bound(n_arms=7, budget=4, set_size=2)


def test_wrong_arguments_are_named():
    for call, message in (
        (lambda: Hedge(3, 0.5, budget=4), "budget must be between"),
        (lambda: Hedge(3, 0.5, prior=(1.0, 2.0)), "prior must have n_arms=3"),
        (lambda: Hedge(2, 0.5, prior=(1.0, 0.0)), "prior must be a number above 0"),
        (lambda: make_learner("hedge", 6, 1, 100, "constant"), "at least 2"),
    ):
        with pytest.raises(PickbestError, match=message):
            call()
