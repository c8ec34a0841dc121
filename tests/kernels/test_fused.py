"""Full feedback in one pass: costs, block minima, and FPML's law; and the heap behind it."""

from __future__ import annotations

import numpy as np
import pytest

from pickbest.core import replicate_keys
from pickbest.kernels.fused import ARMS_PER_BLOCK, add_costs, n_blocks, pick_from_blocks
from pickbest.kernels.heap import keep_smallest, sort_kept
from pickbest.kernels.inclusion import inclusion_probabilities


@pytest.mark.parametrize("n_arms", [1, ARMS_PER_BLOCK, 2 * ARMS_PER_BLOCK + 17])
def test_costs_are_added_and_the_lowest_of_each_block_is_kept(n_arms):
    rng = np.random.default_rng(0)
    costs, seen = rng.normal(size=(2, n_arms)), rng.normal(size=(2, n_arms))
    expected = costs + seen
    lowest = np.zeros((2, n_blocks(n_arms)))
    add_costs(costs, seen, lowest)
    np.testing.assert_array_equal(costs, expected)
    for block in range(lowest.shape[1]):
        part = expected[:, block * ARMS_PER_BLOCK : (block + 1) * ARMS_PER_BLOCK]
        np.testing.assert_array_equal(lowest[:, block], part.min(axis=1))


@pytest.mark.parametrize(
    ("n_arms", "budget", "scale"),
    [(5, 2, 1.0), (5, 5, 1.0), (1_200, 1, 0.0), (1_200, 3, 5.0), (1_200, 40, 30.0)],
)
def test_frequencies_are_inclusion_probabilities(n_arms, budget, scale):
    epsilon, replicates, repeats = 2.0, 200, 200
    row = scale * np.random.default_rng(1).random(n_arms)
    costs = np.repeat(row[None], replicates, axis=0)
    lowest = np.zeros((replicates, n_blocks(n_arms)))
    add_costs(costs, np.zeros(costs.shape), lowest)
    picked = np.zeros(n_arms)
    arms = np.empty((replicates, budget), np.int64)
    for seed in range(repeats):
        keys = replicate_keys(seed, replicates)
        pick_from_blocks(costs, lowest, np.full(replicates, epsilon), keys, arms)
        picked += np.bincount(arms.ravel(), minlength=n_arms)
    law, out = np.empty(n_arms), np.empty(budget)
    spread = np.exp(epsilon * (row - np.sort(row)[budget - 1]))
    for begin in range(0, n_arms, budget):
        asked = np.arange(begin, begin + budget) % n_arms
        inclusion_probabilities(spread, asked, out)
        law[asked] = out
    n = replicates * repeats
    assert np.all(np.abs(picked - n * law) < 5.0 * np.sqrt(n * law * (1.0 - law)) + 5.0)


@pytest.mark.parametrize("size", [1, 2, 7, 64])
def test_the_heap_keeps_the_smallest_and_breaks_ties_by_index(size):
    values = np.random.default_rng(size).integers(0, 40, 200).astype(float)
    kept, items = np.empty(size), np.empty(size, np.int64)
    filled = 0
    for item, value in enumerate(values):
        filled = keep_smallest(kept, items, filled, value, item)
    sort_kept(kept, items)
    expected = np.argsort(values, kind="stable")[:size]
    np.testing.assert_array_equal(items, expected)
    np.testing.assert_array_equal(kept, values[expected])
