"""Finding the few smallest."""

import numpy as np

from pickbest.kernels import leaders


def test_smallest_is_a_stable_sort():
    rng = np.random.default_rng(2)
    for size in (1, 2, 5, 9):
        values = rng.integers(0, 4, 9).astype(float)
        for repeats in (1, 20):
            many = np.tile(values, repeats) + 0.001 * np.repeat(np.arange(repeats), 9)
            arms = np.empty(size, np.int64)
            leaders.smallest(many, arms, np.empty(len(many)))
            assert np.array_equal(arms, np.argsort(many, kind="stable")[:size])
