"""Exponential weights against plain NumPy twins."""

import numpy as np
import pytest

from pickbest.core import replicate_keys, rng_for
from pickbest.kernels.compiled import compiled
from pickbest.kernels.rules import Pick
from pickbest.kernels.softmax import ShareLaw, ShareState, new_share_work, pick_share


@compiled
def pick_rows(law, state, taken, keys, arms, weights):
    work = new_share_work(law, state, 1)
    for row in range(keys.shape[0]):
        pick_share(law, state, row, work, Pick(taken[row], keys[row], arms[row], weights[row]))


def pick_one(scores, taken, rng, law):
    arms, weights = np.empty((len(scores), 1), np.int64), np.empty((len(scores), 1))
    nobody = np.empty((len(scores), 0), np.bool_)
    excluded = nobody if taken is None else taken
    pick_rows(law, ShareState(scores), excluded, rng.keys, arms, weights)
    return arms, weights


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
    arms, weights = pick_one(scores, taken, rng, ShareLaw(0.7, mixing))
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
        assert weights[r, 0] == pytest.approx(1 / law[arms[r, 0]], rel=1e-12)


def test_pick_one_has_the_law():
    mixing = 0.3
    count = 100_000
    scores = np.tile([0.0, 2.0, 1.0, 3.0, 0.5], (count, 1))
    taken = np.zeros((count, 5), np.bool_)
    taken[:, 3] = True
    rng = rng_for(replicate_keys(2, count), 0)
    arms, _ = pick_one(scores, taken, rng, ShareLaw(1.0, mixing))
    law = law_twin(scores[0], 1.0, mixing, taken[0])
    share = np.bincount(arms[:, 0], minlength=5) / count
    assert np.all(np.abs(share - law) <= 6 * np.sqrt(law * (1 - law) / count))


def test_scores_of_any_size_do_not_overflow():
    scores = np.array([[1e300, 0.0, -1e300], [0.0, 0.0, 0.0]])
    rng = rng_for(replicate_keys(1, 2), 0)
    arms, weights = pick_one(scores, None, rng, ShareLaw(1.0, 0.0))
    assert arms[0, 0] == 0
    assert weights[0, 0] == 1.0
    assert np.all(np.isfinite(weights))
