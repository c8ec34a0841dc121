"""Tsallis-INF for subsets: marginals against bisection, exact draws, regret in both worlds."""

import math

import numpy as np
import pytest

from pickbest.core import (
    Choice,
    PickbestError,
    Seen,
    play_table,
    replicate_keys,
    rng_for,
)
from pickbest.core.states import portable, restored
from pickbest.environments import Alternating, Bernoulli, Chasing, RegimeChange
from pickbest.learners.fpml import FPMLState
from pickbest.learners.tsallis import Tsallis, draw_subset, solve_law
from pickbest.testing.learners import check_learner, check_long_run

SIZES = [(6, 2), (9, 4), (5, 1), (7, 6), (4, 4), (1, 1)]


def law_twin(costs, rate, gamma, budget):
    """The marginals by two nested bisections of the first-order condition."""

    def marginals(level):
        low, high = np.zeros(len(costs)), np.full(len(costs), np.nextafter(1.0, 0.0))
        for _ in range(80):
            x = (low + high) / 2
            slope = rate * (costs - level) - 0.5 / np.sqrt(x) - gamma * np.log1p(-x)
            low, high = np.where(slope < 0, x, low), np.where(slope < 0, high, x)
        return x

    low, high = costs.min() - 1e4, costs.max() + 1e4
    for _ in range(100):
        level = (low + high) / 2
        low, high = (low, level) if marginals(level).sum() > budget else (level, high)
    return marginals(level)


@pytest.mark.parametrize(("n_arms", "budget"), SIZES)
def test_conforms(n_arms, budget):
    check_learner(Tsallis(n_arms, budget))


@pytest.mark.parametrize(("n_arms", "budget"), [(5, 2), (5, 4), (3, 1), (3, 3)])
def test_a_million_rounds(n_arms, budget):
    check_long_run(Tsallis(n_arms, budget))


@pytest.mark.parametrize(("n_arms", "budget"), [(6, 2), (5, 1), (7, 6), (40, 17)])
@pytest.mark.parametrize("spread", [0.0, 0.3, 10.0, 1e4])
def test_marginals_minimise_the_regularised_cost(n_arms, budget, spread):
    rng = np.random.default_rng(1)
    gamma = Tsallis(n_arms, budget).gamma
    for _ in range(5):
        costs, rate = 3.0 + spread * rng.random(n_arms), rng.choice([0.02, 0.3, 2.0])
        law = rng.random(n_arms)
        level = solve_law(costs, rate, gamma, budget, rng.normal() * 100, law)
        assert law.sum() == pytest.approx(budget, rel=1.1e-12)
        assert np.allclose(law, law_twin(costs, rate, gamma, budget), rtol=1e-7, atol=1e-10)
        # From the solution as the guess the same law comes out.
        again = law.copy()
        solve_law(costs, rate, gamma, budget, level, again)
        assert np.allclose(again, law, rtol=1e-10, atol=1e-12)


def test_equal_costs_have_equal_marginals():
    law = np.random.default_rng(2).random(8)
    solve_law(np.full(8, 5.0), 0.5, 1.0, 3, 0.0, law)
    assert np.allclose(law, 3 / 8, rtol=1e-12)


def test_many_arms_and_far_leaders():
    """Marginals at both ends: some are 1 to the last bit, some below a millionth."""
    costs = np.concatenate([np.zeros(400), np.linspace(900, 1100, 600)])
    law = np.full(1000, 0.5)
    solve_law(costs, 1.0, Tsallis(1000, 500).gamma, 500, 0.0, law)
    assert law.sum() == pytest.approx(500, rel=1.1e-12)
    assert np.all(law[:400] == 1.0)
    assert np.all(np.diff(law[400:]) < 0)
    costs[400:] += 1e6
    solve_law(costs, 1.0, Tsallis(1000, 399).gamma, 399, 0.0, law)
    assert 0 < law[400:].max() < 1e-6


def test_gamma_is_the_papers():
    assert Tsallis(10, 5).gamma == 1.0
    assert Tsallis(10, 9).gamma == pytest.approx(1 / math.sqrt(math.log(10)))
    assert Tsallis(10, 1).gamma == 1.0


@pytest.mark.parametrize(("n_arms", "budget"), [(6, 2), (7, 6), (5, 1)])
def test_draws_have_the_marginals(n_arms, budget):
    replicates = 100_000
    law = np.full(n_arms, 0.5)
    gamma = Tsallis(n_arms, budget).gamma
    solve_law(np.arange(n_arms) * 0.8, 1.0, gamma, budget, 0.0, law)
    state = Tsallis(n_arms, budget).start(replicates)
    state.law[:] = law
    choice = Tsallis(n_arms, budget).pick(state, rng_for(replicate_keys(3, replicates), 0))
    share = np.bincount(choice.arms.ravel(), minlength=n_arms) / replicates
    assert np.all(np.abs(share - law) <= 6 * np.sqrt(law * (1 - law) / replicates))
    assert np.allclose(choice.weights, 1 / law[choice.arms], rtol=1e-15)
    if budget == 2:
        # A random order: every pair of arms may be picked together.
        pairs = {tuple(sorted(pair)) for pair in choice.arms.tolist()}
        assert len(pairs) == n_arms * (n_arms - 1) // 2


def test_draws_are_whole_subsets_in_spite_of_rounding():
    """Marginals that sum to a little less or more than the budget still give B arms."""
    order = np.empty(5, np.int64)
    for law in (np.full(5, 0.4 - 1e-3), np.full(5, 0.4 + 1e-3), np.array([1.0, 1, 0, 0, 0])):
        for key in range(2000):
            arms = np.full(2, -1)
            draw_subset(law, np.uint64(key), arms, order)
            assert 0 <= arms[0] != arms[1] >= 0
            if law[0] == 1.0:
                assert sorted(arms) == [0, 1]


def test_one_round_adds_the_weighted_costs():
    learner = Tsallis(4, 2)
    choice = Choice(np.array([[3, 1]]), np.array([[2.0, 4.0]]))
    state = learner.learn(learner.start(1), choice, Seen.of(np.array([[0.5, 0.25]])))
    assert state.costs.tolist() == [[0.0, 1.0, 0.0, 1.0]]
    assert state.round.tolist() == [1]
    rate = 2 / math.sqrt(2)
    assert np.allclose(state.law, law_twin(state.costs[0], rate, 1.0, 2), atol=1e-10)


def test_all_arms_are_certain():
    learner = Tsallis(3, 3)
    state = learner.start(1)
    choice = learner.pick(state, rng_for(replicate_keys(0, 1), 0))
    assert choice.weights.tolist() == [[1.0, 1.0, 1.0]]
    state = learner.learn(state, choice, Seen.of(np.array([[0.1, 0.2, 0.3]])))
    assert np.all(state.law == 1.0)


def regrets(learner, world, replicates=20):
    """(rounds,) mean regret of the sum of picked costs against the B arms best in hindsight."""
    state, past = learner.start(replicates), world.start(replicates)
    keys, own = replicate_keys(4, replicates), replicate_keys(5, replicates)
    totals, spent, regret = np.zeros((replicates, learner.n_arms)), 0.0, []
    for t in range(world.rounds):
        costs = world.costs(past, t, rng_for(keys, t))
        choice = learner.pick(state, rng_for(own, t))
        seen = np.take_along_axis(costs, choice.arms, axis=1)
        state = learner.learn(state, choice, Seen.of(seen))
        past = world.react(past, choice.arms, costs)
        totals += costs
        spent = spent + seen.sum(axis=1)
        best = np.sort(totals, axis=1)[:, : learner.budget].sum(axis=1)
        regret.append(np.mean(spent - best))
    return np.array(regret)


@pytest.mark.parametrize("budget", [1, 2, 4])
def test_regret_is_logarithmic_where_costs_are_drawn(budget):
    chances = (0.1, 0.2, 0.6, 0.7, 0.8) if budget == 2 else (0.2, 0.6, 0.6, 0.6, 0.9)
    regret = regrets(Tsallis(5, budget), Bernoulli(5, 4000, chances))
    assert regret[-1] <= 80
    # √t would double from a quarter of the rounds on.
    assert regret[-1] <= 1.6 * regret[999]


@pytest.mark.parametrize(
    ("budget", "world"),
    [
        (1, Alternating(5, 4000)),
        (1, RegimeChange(Bernoulli(5, 4000, (0.2, 0.4, 0.5, 0.6, 0.8)))),
        (2, RegimeChange(Bernoulli(5, 4000, (0.2, 0.3, 0.5, 0.6, 0.8)))),
        (2, Chasing(5, 4000, width=2)),
        (4, Chasing(5, 4000, width=3)),
    ],
)
def test_regret_is_of_order_root_t_whatever_the_costs(budget, world):
    regret = regrets(Tsallis(5, budget), world)
    assert regret[-1] <= 2 * math.sqrt(budget * 5 * 4000)


def test_budget_is_checked():
    with pytest.raises(PickbestError, match="budget must be between 1 and n_arms=3, got 4"):
        Tsallis(3, 4)


def played(learner, rounds):
    """The state after some rounds of a game in which every arm is good at times."""
    table = np.random.default_rng(6).random((1, rounds, learner.n_arms)).round(1)
    return play_table(learner, learner.start(3), table, replicate_keys(2, 3), 0)[0]


@pytest.mark.parametrize(("n_arms", "budget"), SIZES)
def test_the_law_follows_from_what_is_carried(n_arms, budget):
    learner = Tsallis(n_arms, budget)
    state = played(learner, 200)
    known = portable(learner, state)
    assert isinstance(known, FPMLState)
    again = restored(learner, known)
    assert np.array_equal(again.costs, state.costs)
    assert np.array_equal(again.round, state.round)
    assert np.allclose(again.law, state.law, rtol=1e-9)
    assert np.allclose(again.level, state.level, rtol=1e-9)


@pytest.mark.parametrize("n_arms", [3, 5, 9])
def test_other_arms_get_a_law_that_sums_to_the_budget(n_arms):
    """Six arms become fewer or more, of which one is far behind; then it plays on."""
    before, learner = Tsallis(6, 2), Tsallis(n_arms, 2)
    costs = np.resize(before.portable(played(before, 300)).costs, (3, n_arms))
    costs[:, -1] += 1e4
    state = learner.restored(FPMLState(costs, np.full(3, 300)))
    assert np.allclose(state.law.sum(axis=1), 2, rtol=1e-11)
    table = np.random.default_rng(7).random((1, 10_000, n_arms))
    state, _ = play_table(learner, state, table, replicate_keys(8, 3), 300)
    assert np.all(np.isfinite(state.law))
    assert np.all(np.isfinite(state.costs))
    assert np.allclose(state.law.sum(axis=1), 2, rtol=1e-11)
