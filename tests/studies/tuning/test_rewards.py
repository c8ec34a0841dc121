"""Rewards: the estimate of random search, degenerate tasks, failures."""

from itertools import combinations

import numpy as np
import pytest

from pickbest.core import PickbestError
from studies.tuning.rewards import expected_best, is_degenerate, rewards_of


@pytest.mark.parametrize("calls", [1, 2, 3, 5, 7])
def test_expected_best_is_the_mean_over_all_subsets(calls):
    pool = [0.3, 0.9, 0.1, 0.5, 0.5, 2.0, 0.7]
    minima = [min(subset) for subset in combinations(pool, calls)]
    assert expected_best(pool, calls) == pytest.approx(np.mean(minima), rel=1e-12)


def test_failures_count_as_the_worst_loss():
    assert expected_best([0.5, None, 0.2], 2) == expected_best([0.5, 0.5, 0.2], 2)
    assert expected_best([None, None], 2) is None


def test_a_pool_must_be_large_enough():
    with pytest.raises(PickbestError, match="at least calls=3"):
        expected_best([1.0, 2.0], 3)


def test_rewards_lie_between_random_search_and_the_best():
    rewards = rewards_of([0.2, 0.6, 1.0, 3.0, None], rand=1.0, opt=0.2)
    assert rewards.tolist() == pytest.approx([1.0, 0.5, 0.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("rand", "opt", "degenerate"),
    [
        (0.5, 0.4, False),
        (0.5, 0.5, True),
        (0.5, 0.5 - 1e-10, True),
        (100.0, 100.0 - 5e-8, True),
        (0.5, 0.5 - 1e-8, False),
        (None, 0.3, True),
        (None, None, True),
    ],
)
def test_degenerate_tasks(rand, opt, degenerate):
    assert is_degenerate(rand, opt) is degenerate
