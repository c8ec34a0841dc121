"""Exact small games: what any learner can do, and what Hedge does."""

import pytest

from pickbest import theory
from studies.small_games import hedge_worst_case, minimax_regret

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
