"""Random numbers inside kernels, against plain twins and against their laws."""

import math

import numpy as np
import pytest

from pickbest.core import GOLDEN, MIX_2, mix, mix_array, replicate_keys, rng_for
from pickbest.kernels import random
from pickbest.kernels.random import exponential_at, fill_beta, round_key, slot_key, uniform_at


def exponential_twin(counter):
    """Marsaglia and Tsang's ziggurat with Python's whole numbers."""
    stream = None
    while True:
        word = mix(counter if stream is None else stream) >> 3
        layer, draw = word & 255, float(word >> 8)
        value = draw * random.SCALES[layer]
        if draw < random.SAFE[layer]:
            return value
        stream = mix(counter ^ MIX_2) if stream is None else stream
        stream += GOLDEN
        uniform = ((mix(stream) >> 11) + 0.5) * 2.0**-53
        if layer == 0:
            return random.ZIGGURAT_EDGE - math.log(uniform)
        low, high = random.HEIGHTS[layer], random.HEIGHTS[layer + 1]
        if low + uniform * (high - low) < math.exp(-value):
            return value
        stream += GOLDEN


def test_random_helpers_equal_the_game():
    keys = replicate_keys(5, 3)
    rng = rng_for(keys, 17)
    assert [round_key(key, 17) for key in keys] == list(rng.keys)
    assert [slot_key(key, 2) for key in rng.keys] == list(rng.child(2).keys)
    assert slot_key(rng.keys[0], 0) == rng.keys[0]
    step = np.uint64(0x9E3779B97F4A7C15)
    first = [uniform_at(counter) for counter in rng.keys + step]
    assert np.array_equal(first, rng.uniforms(1)[:, 0])
    words = np.arange(10, dtype=np.uint64)
    assert [mix(int(word)) for word in words] == [int(word) for word in mix_array(words)]


def test_uniforms_are_uniform():
    """Moments and a chi-square over 2^20 draws across keys, rounds and positions."""
    keys = replicate_keys(3, 1024)
    draws = np.concatenate([rng_for(keys, t).uniforms(64).ravel() for t in range(16)])
    assert abs(draws.mean() - 0.5) < 5 * np.sqrt(1 / 12 / draws.size)
    counts = np.histogram(draws, bins=256, range=(0, 1))[0]
    chi2 = ((counts - draws.size / 256) ** 2).sum() / (draws.size / 256)
    assert abs(chi2 - 255) < 6 * np.sqrt(2 * 255)
    lagged = np.corrcoef(draws[:-1], draws[1:])[0, 1]
    assert abs(lagged) < 6 / np.sqrt(draws.size)


def test_exponentials_equal_their_twin_and_have_the_law():
    from scipy import stats

    counters = mix_array(np.arange(200_000, dtype=np.uint64))
    draws = np.array([exponential_at(counter) for counter in counters])
    assert [exponential_twin(int(c)) for c in counters[:5000]] == draws[:5000].tolist()
    assert stats.kstest(draws, "expon").pvalue > 1e-6
    beyond = draws[draws > random.ZIGGURAT_EDGE] - random.ZIGGURAT_EDGE
    assert len(beyond) == pytest.approx(200_000 * math.exp(-random.ZIGGURAT_EDGE), abs=60)
    assert stats.kstest(beyond, "expon").pvalue > 1e-6


@pytest.mark.parametrize(("alpha", "beta"), [(0.05, 0.3), (1.0, 1.0), (2.5, 7.0), (300.0, 900.0)])
def test_beta_draws_have_the_right_law(alpha, beta):
    from scipy import stats

    shape = (2000, 10)
    draws = np.empty(shape)
    fill_beta(replicate_keys(9, 2000), np.full(shape, alpha), np.full(shape, beta), draws)
    assert np.all((draws >= 0) & (draws <= 1))
    assert stats.kstest(draws.ravel(), stats.beta(alpha, beta).cdf).pvalue > 1e-6
