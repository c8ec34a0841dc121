"""The bounds that do not grow with time: against random laws, exact games and brute force."""

import math

import numpy as np
import pytest

from pickbest import theory
from pickbest.core import PickbestError
from pickbest.theory import two_picks


def random_laws(count, seed):
    """Laws on [0, 1] of a few atoms, many of them near the worst case of 0 and 1."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        size = rng.integers(2, 6)
        values = np.where(rng.random(size) < 0.4, rng.integers(0, 2, size), rng.random(size))
        yield np.sort(values), rng.dirichlet(np.full(size, 0.4))


def expected_min(values, law, budget, power=lambda x: x):
    above = 1.0 - np.cumsum(law)
    survival = np.clip(np.concatenate([[1.0], above]), 0.0, 1.0) ** budget
    return float(power(values) @ (survival[:-1] - survival[1:]))


def mix_loss(values, law, rate):
    return -math.log(float(law @ np.exp(-rate * values))) / rate


@pytest.mark.parametrize("budget", [2, 3, 4, 6, 10])
def test_the_smallest_of_the_draws_is_at_most_the_mix_loss(budget):
    rate = theory.constant_rate(budget=budget)
    assert math.exp(rate) == pytest.approx(1 + budget * rate)
    assert rate > math.log(budget)
    for values, law in random_laws(3000, budget):
        assert expected_min(values, law, budget) <= mix_loss(values, law, rate) + 1e-12


@pytest.mark.parametrize("budget", [2, 3, 6])
def test_no_larger_rate_will_do(budget):
    rate = 1.01 * theory.constant_rate(budget=budget)
    values, law = np.array([0.0, 1.0]), np.array([1e-4, 1 - 1e-4])
    assert expected_min(values, law, budget) > mix_loss(values, law, rate)


@pytest.mark.parametrize("budget", [2, 3, 4, 6])
@pytest.mark.parametrize("tail", [0.1, 0.5, 1.0])
def test_the_tail_condition(budget, tail):
    """E exp(tail (min - mix loss)) ≤ 1: docs/two-picks.md has the proof; it is sharp."""
    rate = theory.tail_rate(budget=budget, tail=tail)
    for values, law in random_laws(3000, 7 * budget):
        mean = expected_min(values, law, budget, lambda x: np.exp(tail * x))
        assert mean <= math.exp(tail * mix_loss(values, law, rate)) * (1 + 1e-12)
    values, law = np.array([0.0, 1.0]), np.array([1e-4, 1 - 1e-4])
    mean = expected_min(values, law, budget, lambda x: np.exp(tail * x))
    assert mean > math.exp(tail * mix_loss(values, law, 1.02 * rate))


def test_the_tail_bound_is_the_best_of_its_family():
    game = {"n_arms": 10, "budget": 2, "doubt": 0.01}
    best = theory.tail_bound(**game)
    for tail in np.linspace(0.05, 1.5, 40):
        assert best <= theory.tail_bound(**game, tail=tail) * (1 + 1e-4)
    rate = theory.tail_rate(budget=2, tail=0.5)
    assert theory.tail_bound(**game, tail=0.5) == pytest.approx(math.log(10) / rate + math.log(1e4))


def test_nested_sets_by_brute_force():
    """The dynamic program beside a search over all sequences of sizes."""

    def search(size, budget):
        best = 0.0
        for smaller in range(1, size - budget + 1):
            missed = math.comb(size - smaller, budget) / math.comb(size, budget)
            best = max(best, missed + search(smaller, budget))
        return best

    for n_arms in range(2, 11):
        for budget in (2, 3):
            if budget <= n_arms:
                found = theory.lower_bound_nested(n_arms=n_arms, budget=budget)
                assert found == pytest.approx(search(n_arms, budget))
    assert theory.lower_bound_nested(n_arms=512, budget=2) < theory.hedge_bound(
        n_arms=512, budget=2
    )


def test_nested_sets_of_very_many_arms(monkeypatch):
    """Fewer sizes are tried, which costs little, and never gives too much."""
    some = theory.lower_bound_nested(n_arms=1_200, budget=3)
    assert theory.lower_bound_nested(n_arms=10**9, budget=3) > some
    # In bounded time for a large budget, too: one round in which one arm of all is good.
    many = theory.lower_bound_nested(n_arms=10**6, budget=10**5)
    assert 1 - 10**5 / 10**6 <= many + 1e-6 < 1.0
    monkeypatch.setattr(two_picks, "NESTED_SIZES", 100_000)
    every = theory.lower_bound_nested(n_arms=1_200, budget=3)
    assert 0.99999 * every <= some <= every


@pytest.mark.parametrize("budget", [1, 2, 3, 6])
def test_a_spared_arm_is_a_lower_bound(budget):
    for n_arms in (budget, budget + 1, 12, 100):
        size = {"n_arms": n_arms, "budget": budget}
        values = [theory.lower_bound_spared(**size, rounds=t) for t in (1, 2, 5, 12)]
        assert values == sorted(values)
        assert values[0] == pytest.approx(1 - budget / n_arms)
        if budget > 1:
            assert values[-1] <= theory.hedge_bound(**size)
    # One pick has no constant regret, and from B = 2 on sparing arms is worse than nested sets.
    assert theory.lower_bound_spared(n_arms=2, budget=1, rounds=12) > 1.2
    assert theory.lower_bound_spared(n_arms=32, budget=2) > 1.25 * theory.lower_bound_nested(
        n_arms=32, budget=2
    )


def test_the_exact_regret_of_one_good_arm_has_a_limit():
    size = {"n_arms": 32, "budget": 2}
    long = theory.good_arm_regret(**size, rounds=10**12, epsilon=0.01)
    assert long == pytest.approx(theory.good_arm_regret(**size, rounds=10_000, epsilon=0.01))
    with pytest.raises(PickbestError, match="take fewer arms or rounds"):
        theory.good_arm_regret(**size, rounds=10**12, epsilon=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.constant_rate(budget=1), "budget must be a whole number of at least 2"),
        (lambda: theory.hedge_bound(n_arms=3, budget=4), "budget must be between"),
        (lambda: theory.subset_bound(n_arms=9, budget=3, set_size=3), "times 2, 3"),
        (lambda: theory.tail_rate(budget=2, tail=5.0), "too large"),
        (lambda: theory.tail_bound(n_arms=4, budget=2, doubt=0.0), "doubt must be"),
        (lambda: theory.lower_bound_spared(n_arms=4, budget=2, rounds=25), "at most 24"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(PickbestError, match=message):
        call()
