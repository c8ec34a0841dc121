"""Exp3.M's law and its draws."""

import numpy as np
import pytest

from pickbest.core import replicate_keys
from pickbest.learners import exp3_m


@pytest.mark.parametrize("budget", [1, 2, 4])
@pytest.mark.parametrize("mixing", [0.01, 0.5])
@pytest.mark.parametrize("scale", [0.1, 3.0, 50.0, 5000.0])
def test_capped_law_sums_to_the_budget(budget, mixing, scale):
    rng = np.random.default_rng(4)
    law = np.empty(5)
    for _ in range(50):
        scores = rng.random(5) * scale
        exp3_m.capped_law(scores, mixing, budget, law)
        assert law.sum() == pytest.approx(budget, rel=1e-9)
        assert law.max() <= 1 + 1e-12
        assert law.min() >= budget * mixing / 5 - 1e-12
        assert np.all(np.diff(law[np.argsort(scores)]) >= -1e-12)


def test_dependent_rounding_keeps_the_marginals():
    law = np.array([1.0, 0.7, 0.25, 0.05, 0.5, 0.5])
    draws = 20_000
    counts = np.zeros(6)
    arms = np.empty(3, np.int64)
    for key in replicate_keys(2, draws):
        exp3_m.dependent_rounding(law, key, arms)
        assert len(set(arms)) == 3
        counts[arms] += 1
    error = np.sqrt(law * (1 - law) / draws)
    assert np.all(np.abs(counts / draws - law) <= 6 * error + 1e-12)
