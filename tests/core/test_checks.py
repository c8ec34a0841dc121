"""Checks of input: what is refused, and that it is said."""

import numpy as np
import pytest

from pickbest.core import PickbestError, check_budget, check_costs, check_positive
from pickbest.core.checks import check_count, check_seed


@pytest.mark.parametrize("budget", [0, 4, -1, True, 1.0, "1", None])
def test_budgets_that_are_none(budget):
    with pytest.raises(PickbestError, match="budget must be between 1 and n_arms=3"):
        check_budget(budget, 3)


@pytest.mark.parametrize("budget", [1, 3, np.int64(2)])
def test_budgets_from_one_to_all_arms(budget):
    assert check_budget(budget, 3) == int(budget)


@pytest.mark.parametrize("seed", [0, (1 << 64) - 1])
def test_seeds_at_both_ends(seed):
    assert check_seed(seed) == seed


@pytest.mark.parametrize("seed", [-1, 1 << 64, True, 1.0])
def test_seeds_that_are_none(seed):
    with pytest.raises(PickbestError, match="seed must be"):
        check_seed(seed)


@pytest.mark.parametrize(("value", "least"), [(0, 1), (1, 2), (True, 1), (2.0, 1)])
def test_counts_that_are_none(value, least):
    with pytest.raises(PickbestError, match=f"n must be a whole number of at least {least}"):
        check_count("n", value, least)
    assert check_count("n", least, least) == least


@pytest.mark.parametrize("value", [0, -1.0, float("inf"), float("nan"), True, "1"])
def test_positive_numbers_only(value):
    with pytest.raises(PickbestError, match="x must be a number above 0"):
        check_positive("x", value)


# Up to 32 numbers in a row go one way, others another.
@pytest.mark.parametrize("shape", [(3,), (33,), (2, 2), (40, 3)])
def test_costs_of_any_shape(shape):
    costs = np.zeros(shape)
    costs.flat[-1] = 1.0
    assert np.array_equal(check_costs(costs, shape), costs)
    for wrong in (-0.01, 1.01, np.nan, np.inf):
        costs.flat[-1] = wrong
        with pytest.raises(PickbestError, match="at index"):
            check_costs(costs, shape)


def test_no_costs_at_all():
    assert check_costs(np.empty((0, 3)), (0, 3)).shape == (0, 3)
    assert check_costs([], (0,)).shape == (0,)
