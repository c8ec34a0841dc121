"""The first perturbed leader: its law against the general one, and h of every arm."""

import numpy as np
import pytest

from pickbest.kernels.inclusion import inclusion_probabilities
from pickbest.kernels.leaders import fill_spread
from pickbest.learners.auto.guard import first_probability, many_arms, spread_leader


@pytest.mark.parametrize("n_arms", [1, 2, 7, 8, 9, 33, 40, 41, 120])
def test_first_probabilities_are_those_of_fpml_with_one_arm(n_arms):
    spread = np.exp(np.random.default_rng(n_arms).exponential(2.0, n_arms))
    if n_arms > 2:
        spread[1] = np.inf
    many = many_arms(n_arms)
    found = np.array([first_probability(spread, spread.min(), a, many) for a in range(n_arms)])
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    for arm in np.flatnonzero(np.isfinite(spread)):
        out = np.empty(1)
        inclusion_probabilities(spread, np.array([arm]), out)
        assert found[arm] == pytest.approx(out[0], rel=1e-11)


@pytest.mark.parametrize("scale", [0.0, 1.0, 300.0, 1e5])
def test_spread_is_that_of_all_leaders_bit_for_bit(scale):
    costs = scale * np.random.default_rng(1).random(12)
    spread, expected = np.empty(12), np.empty(12)
    least = spread_leader(costs, 0.7, spread)
    fill_spread(costs, np.zeros(0, bool), 0.7, np.zeros(1, np.int64), np.empty(12), expected)
    assert spread.tobytes() == expected.tobytes()
    assert least == expected.min()
