"""Exact small games: what any learner can do, and what Hedge does."""

import pytest

from pickbest import theory
from pickbest.catalog import make_environment, make_learner
from pickbest.simulation.simulate import simulate
from studies.small_games import (
    hedge_worst_case,
    minimax_regret,
    partial_worst_case,
    spared_rule_loss,
)

pytest.importorskip("scipy")


@pytest.mark.parametrize(
    ("n_arms", "budget", "value"), [(3, 2, 1 / 3), (4, 2, 1 / 2), (4, 3, 1 / 4)]
)
def test_nested_sets_are_the_worst_for_small_games(n_arms, budget, value):
    assert minimax_regret(n_arms, budget, 3) == pytest.approx(value)
    assert theory.lower_bound_nested(n_arms=n_arms, budget=budget) == pytest.approx(value)
    assert minimax_regret(n_arms, budget, 4) == pytest.approx(value)


@pytest.mark.parametrize(
    ("n_arms", "budget", "value"), [(3, 2, 0.598), (4, 2, 0.818), (4, 3, 0.452)]
)
def test_hedge_stays_below_its_bound_whatever_the_costs(n_arms, budget, value):
    worst = [hedge_worst_case(n_arms, budget, rounds) for rounds in (2, 5, 7)]
    assert worst == sorted(worst)
    assert worst[-1] == pytest.approx(value, abs=1e-3)
    assert worst[-1] < theory.hedge_bound(n_arms=n_arms, budget=budget)


def test_one_pick_is_another_game():
    """With one arm a round the minimax regret grows: nothing constant is to be had."""
    values = [minimax_regret(2, 1, rounds) for rounds in (1, 4, 8)]
    assert values[0] < values[1] < values[2]


@pytest.mark.parametrize(("n_arms", "budget"), [(3, 2), (4, 2), (4, 3), (5, 2), (5, 3), (5, 4)])
def test_sparing_one_arm_is_the_worst_of_small_games(n_arms, budget):
    for rounds in (1, 2, 3):
        spared = theory.lower_bound_spared(n_arms=n_arms, budget=budget, rounds=rounds)
        assert spared == pytest.approx(minimax_regret(n_arms, budget, rounds))


@pytest.mark.parametrize(("n_arms", "budget", "rounds"), [(3, 2, 4), (4, 2, 3), (4, 3, 3)])
def test_the_rule_of_the_spared_arm_is_minimax_in_small_games(n_arms, budget, rounds):
    assert spared_rule_loss(n_arms, budget, rounds) == pytest.approx(0.0, abs=1e-9)


def test_the_rule_of_the_spared_arm_is_not_minimax_everywhere():
    assert spared_rule_loss(5, 2, 3) == pytest.approx(1 / 30)


@pytest.mark.parametrize(("n_arms", "budget", "rounds"), [(3, 2, 4), (4, 2, 3), (4, 3, 3)])
def test_hedge_partial_stays_below_its_bound_over_all_sequences(n_arms, budget, rounds):
    worst = [partial_worst_case(n_arms, budget, t) for t in range(1, rounds + 1)]
    assert worst == sorted(worst)
    if budget == 2:
        assert worst[0] == pytest.approx(1 - 2 / n_arms)
    assert worst[-1] < theory.hedge_partial_bound(n_arms=n_arms, budget=budget)
    # One good arm is one of the sequences: the learner itself has no more regret there.
    learners = {"own": make_learner("hedge-partial", n_arms, budget)}
    game = make_environment("one-good-arm", n_arms=n_arms, rounds=rounds)
    regret = simulate(learners, game, 20_000, progress=False).regret("own")
    assert 0.5 * worst[-1] < regret.mean() < worst[-1] + 0.02
