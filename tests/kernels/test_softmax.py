"""Exponential-weight kernels against plain NumPy twins."""

import numpy as np
import pytest

from pickbest.core import replicate_keys, rng_for
from pickbest.kernels import softmax


def law_twin(scores, rate, mixing, taken):
    weights = np.exp(rate * (scores - scores.max()))
    law = (1 - mixing) * weights / weights.sum() + mixing / len(scores)
    law = np.where(taken, 0.0, law)
    return law / law.sum()


@pytest.mark.parametrize("mixing", [0.0, 0.3])
def test_pick_one_inverts_the_law(mixing):
    scores = np.random.default_rng(0).random((300, 6)) * 5
    taken = np.zeros((300, 6), np.bool_)
    taken[:, 2] = True
    rng = rng_for(replicate_keys(1, 300), 0)
    arms, weights = np.empty((300, 1), np.int64), np.empty((300, 1))
    softmax.pick_one(scores, taken, rng.keys, 0.7, mixing, 0.1, arms, weights)
    uniforms = rng.uniforms(1)[:, 0]
    for r in range(300):
        law = law_twin(scores[r], 0.7, mixing, taken[r])
        # The mixture's uniform part comes first, then the rest by inverting its sums.
        share = np.exp(0.7 * scores[r]) / np.exp(0.7 * scores[r]).sum() * ~taken[r]
        uniform_part, free = mixing * 5 / 6, np.flatnonzero(~taken[r])
        target = uniforms[r] * (uniform_part + (1 - mixing) * share.sum())
        if target < uniform_part:
            expected = free[int(target / uniform_part * 5)]
        else:
            expected = np.searchsorted((1 - mixing) * np.cumsum(share), target - uniform_part)
        assert arms[r, 0] == expected
        assert weights[r, 0] == pytest.approx(1 / (law[arms[r, 0]] + 0.1), rel=1e-12)


def test_pick_one_has_the_law():
    mixing = 0.3
    count = 100_000
    scores = np.tile([0.0, 2.0, 1.0, 3.0, 0.5], (count, 1))
    taken = np.zeros((count, 5), np.bool_)
    taken[:, 3] = True
    keys = rng_for(replicate_keys(2, count), 0).keys
    arms, weights = np.empty((count, 1), np.int64), np.empty((count, 1))
    softmax.pick_one(scores, taken, keys, 1.0, mixing, 0.0, arms, weights)
    law = law_twin(scores[0], 1.0, mixing, taken[0])
    share = np.bincount(arms[:, 0], minlength=5) / count
    assert np.all(np.abs(share - law) <= 6 * np.sqrt(law * (1 - law) / count))


def test_scores_of_any_size_do_not_overflow():
    scores = np.array([[1e300, 0.0, -1e300], [0.0, 0.0, 0.0]])
    arms, weights = np.empty((2, 1), np.int64), np.empty((2, 1))
    keys = rng_for(replicate_keys(1, 2), 0).keys
    softmax.pick_one(scores, np.empty((2, 0), np.bool_), keys, 1.0, 0.0, 0.0, arms, weights)
    assert arms[0, 0] == 0
    assert weights[0, 0] == 1.0
    assert np.all(np.isfinite(weights))


@pytest.mark.parametrize("budget", [1, 2, 4])
@pytest.mark.parametrize("mixing", [0.01, 0.5])
@pytest.mark.parametrize("scale", [0.1, 3.0, 50.0, 5000.0])
def test_capped_law_sums_to_the_budget(budget, mixing, scale):
    rng = np.random.default_rng(4)
    law = np.empty(5)
    for _ in range(50):
        scores = rng.random(5) * scale
        softmax.capped_law(scores, mixing, budget, law)
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
        softmax.dependent_rounding(law, key, arms)
        assert len(set(arms)) == 3
        counts[arms] += 1
    error = np.sqrt(law * (1 - law) / draws)
    assert np.all(np.abs(counts / draws - law) <= 6 * error + 1e-12)
