"""Kernels against plain NumPy twins that draw the same numbers."""

import math

import numpy as np
import pytest

from pickbest.core import (
    GOLDEN,
    MIX_2,
    mix,
    mix_array,
    replicate_keys,
    rng_for,
)
from pickbest.kernels import leaders, random
from pickbest.kernels.random import exponential_at, fill_beta, round_key, slot_key, uniform_at

REPLICATES, N_ARMS = 200, 7


def spread_twin(costs, epsilon, budget):
    reference = np.sort(costs, axis=1)[:, budget - 1 : budget]
    return np.exp(epsilon * (costs - reference))


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


def exponentials_twin(keys, count):
    return np.array(
        [[exponential_twin(int(key) + a * GOLDEN) for a in range(1, count + 1)] for key in keys]
    )


def pick(costs, epsilon, budget, source, cap=1, probability=1.0, seed=0, taken=None):
    arms = np.empty((len(costs), budget), np.int64)
    weights = np.empty((len(costs), budget))
    rng = rng_for(replicate_keys(seed, len(costs)), 3)
    mask = np.empty((len(costs), 0), np.bool_) if taken is None else taken
    learned = np.zeros(len(costs), np.int64)
    leaders.pick_leaders(
        costs, learned, mask, rng.keys, epsilon, 0.0, source, cap, probability, arms, weights
    )
    return arms, weights, rng


@pytest.fixture
def costs():
    return np.random.default_rng(1).random((REPLICATES, N_ARMS)) * 4


@pytest.mark.parametrize("budget", [1, 3, 7])
def test_pick_equals_sorting_perturbed_costs(costs, budget):
    arms, _, rng = pick(costs, 0.8, budget, source=-1)
    perturbed = 0.8 * costs - exponentials_twin(rng.keys, N_ARMS)
    assert np.array_equal(arms, np.argsort(perturbed, axis=1)[:, :budget])


@pytest.mark.parametrize("budget", [1, 3])
def test_geometric_weights_equal_redrawing_in_a_loop(costs, budget):
    cap = 12
    arms, weights, rng = pick(costs, 0.8, budget, leaders.GEOMETRIC, cap)
    draws = rng.uniforms(N_ARMS * cap).reshape(REPLICATES, cap, N_ARMS)
    spread = spread_twin(costs, 0.8, budget)
    for r in range(REPLICATES):
        redrawn = [set(np.argsort(draws[r, k] * spread[r])[:budget]) for k in range(1, cap)]
        for j, arm in enumerate(arms[r]):
            again = next((k for k, chosen in enumerate(redrawn, 1) if arm in chosen), cap)
            assert weights[r, j] == again


def test_taken_arms_are_never_picked(costs):
    taken = np.zeros(costs.shape, np.bool_)
    taken[:, [0, 3]] = True
    arms, weights, rng = pick(costs, 0.8, 3, leaders.EXACT, taken=taken)
    assert not np.isin(arms, [0, 3]).any()
    masked = np.where(taken, np.inf, costs + np.log(rng.uniforms(N_ARMS)) / 0.8)
    assert np.array_equal(arms, np.argsort(masked, axis=1)[:, :3])
    assert np.all(weights >= 1.0)


def test_smallest_is_a_stable_sort():
    rng = np.random.default_rng(2)
    for size in (1, 2, 5, 9):
        values = rng.integers(0, 4, 9).astype(float)
        for repeats in (1, 20):
            many = np.tile(values, repeats) + 0.001 * np.repeat(np.arange(repeats), 9)
            arms = np.empty(size, np.int64)
            leaders.smallest(many, arms, np.empty(len(many)))
            assert np.array_equal(arms, np.argsort(many, kind="stable")[:size])


def test_costs_far_apart_keep_their_order():
    """Leaders that are certain, laggards that are impossible, and a contest between two."""
    costs = np.array([[0.0, 1e5, 1e5 + 0.1, 1e9, 1e300]]).repeat(1000, axis=0)
    arms, weights, _ = pick(costs, 2.0, 2, leaders.EXACT)
    assert np.all(arms[:, 0] == 0)
    assert set(arms[:, 1]) == {1, 2}
    assert np.allclose(weights[:, 0], 1.0)
    share = (arms[:, 1] == 1).mean()
    assert abs(1 / weights[arms[:, 1] == 1, 1][0] - share) < 0.08


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
