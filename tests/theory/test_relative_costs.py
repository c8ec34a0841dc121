"""Bounds for semi-bandit feedback: conditions certified, one round by enumeration, brute force."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from pickbest import theory
from pickbest.catalog import make_learner
from pickbest.core import PickbestError
from pickbest.theory import relative_costs

LAWS = ("bose-einstein", "shannon")
GAMES = [(3, 2), (4, 2), (4, 3), (5, 2), (5, 3), (5, 4)]


class Game:
    """The law and its potential from their definitions, without the learner's code."""

    def __init__(self, n_arms, budget, law, rate=1.0):
        self.n_arms, self.budget = n_arms, budget
        self.rate, stretch, self.explore = theory.relative_tuning(budget=budget, law=law)
        self.rate *= rate
        self.mu, self.nu, self.saved, _ = theory.looks(
            n_arms=n_arms, budget=budget, explore=self.explore or 0.5
        )
        self.bent = self.nu / stretch

    def shares(self, costs):
        u = self.mu * self.rate * (costs - costs.min())
        if self.bent == 0.0:
            return np.exp(-u) / np.exp(-u).sum()
        odds = self.mu / self.bent

        def excess(s):
            return (odds / np.expm1(u + s)).sum() - 1.0

        s = brentq(excess, math.log1p(odds) / 2, math.log1p(2 * len(u) * odds), xtol=1e-15)
        return odds / np.expm1(u + s)

    def entropy(self, p):
        """ψ with ψ'' = 1 / (p (μ + ν' p)), summed."""
        logs = np.where(p > 0, p * np.log(np.maximum(p, 1e-300)), 0.0)
        if self.bent == 0.0:
            return float((logs - p).sum()) / self.mu
        rest = (p + self.mu / self.bent) * np.log(self.mu + self.bent * p)
        return float((logs - rest).sum()) / self.mu

    def potential(self, costs):
        p = self.shares(costs)
        return float(p @ costs) + self.entropy(p) / self.rate

    def rounds(self, p, costs):
        """All outcomes of a round: (probability, the smaller cost of I and J, estimates).

        At B = 2 the second arm counts, where it is uniform, too.
        """
        for i in range(self.n_arms):
            others = [a for a in range(self.n_arms) if a != i]
            law = p[others] / p[others].sum()
            if self.budget == 2:
                looked = [
                    (self.nu * law[k] + self.explore / len(others), a, (a,))
                    for k, a in enumerate(others)
                ]
            else:
                sets = list(combinations(others, self.budget - 2))
                looked = [
                    (law[k] / len(sets), a, tuple({a, *chosen}))
                    for k, a in enumerate(others)
                    for chosen in sets
                ]
            seen = np.zeros(self.n_arms)
            for chance, _, arms in looked:
                seen[list(arms)] += chance
            for chance, second, arms in looked:
                estimates = np.zeros(self.n_arms)
                for a in arms:
                    estimates[a] = (costs[a] - costs[i]) / seen[a]
                yield p[i] * chance, min(costs[i], costs[second]), estimates

    def surplus(self, known, costs):
        """What a round's potential gains beyond what it pays: at least 0, if the bound holds."""
        p = self.shares(known)
        drawn = float(p @ costs)
        total = drawn - self.potential(known)
        for chance, paid, estimates in self.rounds(p, costs):
            # Regret against any arm shifts with c(I), which is `drawn` in the mean.
            total += chance * (self.potential(known + estimates) - paid)
        return total


@pytest.mark.parametrize(("n_arms", "budget"), GAMES)
@pytest.mark.parametrize("law", LAWS)
def test_one_round_by_enumeration(n_arms, budget, law):
    """E paid ≤ E[potential after - before] + E c(I) for every state and every costs: so the sums of
    what is paid are at most those of any arm plus D / z."""
    game, rng = Game(n_arms, budget, law), np.random.default_rng(n_arms + 10 * budget)
    for scale in (0.0, 1.0, 5.0, 30.0):
        known = scale * n_arms * rng.random(n_arms)
        for costs in product((0.0, 1.0), repeat=n_arms):
            assert game.surplus(known, np.array(costs)) >= -1e-10
        for _ in range(5):
            assert game.surplus(known, rng.random(n_arms)) >= -1e-10


@pytest.mark.parametrize("law", LAWS)
def test_a_rate_that_is_too_high_fails_in_some_round(law):
    """Most arms are looked at uniformly, and half of them cost 1: nothing is left to spare."""
    costs = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0])
    assert Game(6, 5, law).surplus(np.zeros(6), costs) > 0.0
    assert Game(6, 5, law, rate=4.0).surplus(np.zeros(6), costs) < 0.0


@pytest.mark.parametrize(("n_arms", "budget"), [(3, 2), (10, 2), (10, 3), (32, 4), (100, 99)])
@pytest.mark.parametrize("law", LAWS)
def test_the_bound_is_the_distance_of_the_entropies(n_arms, budget, law):
    game = Game(n_arms, budget, law)
    corner = np.zeros(n_arms)
    corner[0] = 1.0
    distance = game.entropy(corner) - game.entropy(np.full(n_arms, 1.0 / n_arms))
    factor = (n_arms - budget + 1) / (n_arms - 1) if budget > 2 else 1.0
    found = theory.hedge_partial_bound(n_arms=n_arms, budget=budget, law=law)
    assert found == pytest.approx(factor * distance / game.rate, rel=1e-9)


@pytest.mark.parametrize(("n_arms", "budget"), [(4, 2), (6, 3), (9, 8)])
@pytest.mark.parametrize("law", LAWS)
def test_a_prior_is_the_first_law_and_the_bound_its_distance(n_arms, budget, law):
    """Bregman's divergence from its definition, ∇Ψ by differences; the learner starts at π."""
    game, prior = Game(n_arms, budget, law), np.random.default_rng(5).dirichlet(np.ones(n_arms))
    step = 1e-6 * prior
    slopes = [
        (game.entropy(prior + move) - game.entropy(prior - move)) / (2.0 * step[a])
        for a, move in enumerate(np.diag(step))
    ]
    factor = (n_arms - budget + 1) / (n_arms - 1) if budget > 2 else 1.0
    for arm in range(n_arms):
        corner = np.eye(n_arms)[arm]
        distance = game.entropy(corner) - game.entropy(prior) - slopes @ (corner - prior)
        found = theory.hedge_partial_prior_bound(prior=prior, arm=arm, budget=budget, law=law)
        assert found == pytest.approx(factor * distance / game.rate, rel=1e-5)
    learner = make_learner(f"hedge-partial:law={law}", n_arms, budget, prior=tuple(prior))
    np.testing.assert_allclose(game.shares(learner.start(1).costs[0]), prior, rtol=1e-9)


@pytest.mark.parametrize("budget", [2, 3])
def test_what_is_played_is_certified_and_little_more_would_be(budget):
    rate, stretch, explore = theory.relative_tuning(budget=budget)
    saved = 1.0 - explore
    assert theory.law_is_safe(rate=rate, stretch=stretch, saved=saved)
    assert not theory.law_is_safe(rate=1.002 * rate, stretch=stretch, saved=saved)
    assert not theory.law_is_safe(rate=rate, stretch=stretch - 0.01, saved=saved)
    # Hedge's: 2 (cosh z - 1) = v z, rounded down.
    rate, _, explore = theory.relative_tuning(budget=budget, law="shannon")
    cost = [2.0 * (math.cosh(z) - 1.0) - (1.0 - explore) * z for z in (rate, rate + 1e-4)]
    assert cost[0] <= 0.0 < cost[1]


@pytest.mark.parametrize("stretch", [1.0, 1.4, 2.0])
def test_gains_and_losses_are_those_of_the_flow(stretch):
    """A and C beside the differential equation dp/dw = ± p (μ + ν' p), integrated numerically."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        mu, rate = 10 ** rng.uniform(-3, 0), rng.uniform(0.2, 0.95)
        nu, p = 1.0 - mu, rng.random()
        bent = nu / stretch
        theta = bent * p / (mu + bent * p)
        end = rate / (mu + nu * p)
        at = np.array([theta])
        both = relative_costs.gain_and_loss(rate, stretch, at, at)
        for sign, bound in zip((1.0, -1.0), both, strict=True):
            # Two equations: p itself, and how far it has moved.
            def moving(w, x, sign=sign, p=p, mu=mu, bent=bent):
                return [sign * x[0] * (mu + bent * x[0]), abs(x[0] - p)]

            flow = solve_ivp(moving, (0.0, end), [p, 0.0], rtol=1e-10, atol=1e-14)
            exact = flow.y[1, -1] / (end * p)
            assert bound[0] == pytest.approx(exact, rel=1e-5)


def test_intervals_hold_what_is_inside():
    rng = np.random.default_rng(4)
    for _ in range(100):
        low, high = np.sort(rng.random((2, 50)), axis=0)
        inside = rng.uniform(low, high)
        rate, stretch = rng.uniform(0.05, 0.95), rng.uniform(1.0, 2.0)
        within = relative_costs.gain_and_loss(rate, stretch, inside, inside)
        over = relative_costs.gain_and_loss(rate, stretch, low, high)
        assert all(np.all(a <= b + 1e-12) for a, b in zip(within, over, strict=True))


def test_ours_and_others_in_order():
    """The table of docs/two-picks.md, and who is below whom."""
    for n_arms, budget, tuned, shannon, guan in (
        (10, 2, 37, 84.5, 219),
        (32, 2, 141, 438, 843),
        (10, 3, 11.3, 19.8, 597),
        (32, 3, 48, 112, 2475),
        (32, 4, 30.5, 54, 1792),
    ):
        size = {"n_arms": n_arms, "budget": budget}
        found = [
            theory.hedge_partial_bound(**size),
            theory.hedge_partial_bound(**size, law="shannon"),
            theory.guan_bound(**size),
        ]
        assert np.allclose(found, [tuned, shannon, guan], rtol=0.015)
        lower = theory.hidden_arm_lower_bound(**size)
        assert lower < found[0] < found[1]
        # Guan's lower bound is half of (N - B)/N · N/B.
        assert lower >= (n_arms - budget) / (2 * budget) - 1e-9
    assert theory.hedge_partial_bound(n_arms=7, budget=7) == 0.0


def test_the_hidden_arm_by_brute_force():
    """The best order to try arms in, over all places of the good arm."""
    for n_arms, budget, rounds in ((7, 2, 3), (9, 3, 9), (10, 4, 1), (6, 6, 2)):
        paid = [min(arm // budget, rounds) for arm in range(n_arms)]
        found = theory.hidden_arm_lower_bound(n_arms=n_arms, budget=budget, rounds=rounds)
        assert found == pytest.approx(np.mean(paid))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.relative_tuning(budget=2, law="fermi"), "unknown law"),
        (lambda: theory.hedge_partial_bound(n_arms=4, budget=1), "at least 2"),
        (lambda: theory.looks(n_arms=4, budget=2, explore=1.0), "explore must be"),
        (
            lambda: theory.hedge_partial_prior_bound(prior=[1.0, 0.0], arm=0, budget=2),
            "positive numbers",
        ),
        (lambda: theory.hedge_partial_prior_bound(prior=[1.0] * 3, arm=3, budget=2), "arm must"),
        (lambda: theory.watched_bound(n_arms=4, budget=2, watched=0.0), "watched must be"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(PickbestError, match=message):
        call()
