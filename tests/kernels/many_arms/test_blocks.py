"""Full feedback in one pass: costs, block minima, and FPML's law."""

from __future__ import annotations

import numpy as np
import pytest

from pickbest.core import replicate_keys, rng_for
from pickbest.core.states import repeat_state
from pickbest.kernels.many_arms.blocks import ARMS_PER_BLOCK, add_costs, block_minima
from pickbest.learners import FPMLFullManyArms
from pickbest.learners.fpml import FPMLState
from tests.kernels.inclusions import inclusions_of


@pytest.mark.parametrize("n_arms", [1, ARMS_PER_BLOCK, 2 * ARMS_PER_BLOCK + 17])
def test_costs_are_added_and_the_lowest_of_each_block_is_kept(n_arms):
    rng = np.random.default_rng(0)
    costs, seen = rng.normal(size=n_arms), rng.normal(size=n_arms)
    expected = costs + seen
    lowest = block_minima(costs[None])[0]
    add_costs(costs, seen, lowest)
    np.testing.assert_array_equal(costs, expected)
    parts = [expected[a : a + ARMS_PER_BLOCK] for a in range(0, n_arms, ARMS_PER_BLOCK)]
    np.testing.assert_array_equal(lowest, [part.min() for part in parts])
    np.testing.assert_array_equal(lowest, block_minima(expected[None])[0])


@pytest.mark.parametrize(
    ("n_arms", "budget", "scale"),
    [(5, 2, 1.0), (5, 5, 1.0), (1_200, 1, 0.0), (1_200, 3, 5.0), (1_200, 40, 30.0)],
)
def test_frequencies_are_inclusion_probabilities(n_arms, budget, scale):
    epsilon, replicates, repeats = 2.0, 200, 200
    row = scale * np.random.default_rng(1).random(n_arms)
    learner = FPMLFullManyArms(n_arms, budget, epsilon)
    known = FPMLState(row[None], np.zeros(1, np.int64))
    state = repeat_state(learner.restored(known), replicates)
    picked = np.zeros(n_arms)
    for seed in range(repeats):
        arms = learner.pick(state, rng_for(replicate_keys(seed, replicates), 0)).arms
        picked += np.bincount(arms.ravel(), minlength=n_arms)
    law = np.empty(n_arms)
    inclusions_of(row, epsilon, budget, np.arange(n_arms), law)
    n = replicates * repeats
    assert np.all(np.abs(picked - n * law) < 5.0 * np.sqrt(n * law * (1.0 - law)) + 5.0)
