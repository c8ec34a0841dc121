"""Selection from buckets: exactly FPML's law, through moves, ties and extreme costs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numba import njit

from pickbest.core import (
    Choice,
    PickbestError,
    replicate_keys,
    rng_for,
)
from pickbest.kernels import buckets
from pickbest.kernels.inclusion import inclusion_probabilities
from pickbest.kernels.many import pick_many
from pickbest.kernels.random import STEP, uniform_at
from pickbest.learners.many import FPMLManyArms

COLUMNS = (buckets.FIRST, buckets.COUNT, buckets.ROOM)
KINDS = ("smooth", "tied", "heavy-tailed", "300 orders", "huge", "weighted")
SMOOTH, TIED, HEAVY_TAILED, ORDERS_300, HUGE, WEIGHTED = range(len(KINDS))
CLASSES = 8


def filled_buckets(bits, budget):
    n_arms = len(bits)
    links = np.zeros(buckets.links_size(n_arms), np.int32)
    slots = np.zeros(buckets.SLOTS_SIZE, np.int64)
    bits = np.array(bits, float)
    buckets.fill(bits, links, slots, budget)
    return bits, links, slots


def check_invariants(bits, links, slots, budget):
    """Every arm is in exactly the slot of its key, at its place; sums and reference are right."""
    n_arms = len(bits)
    met = np.zeros(n_arms, int)
    regions = []
    for slot in range(buckets.SLOTS):
        first, count, room = (slots[column + slot] for column in COLUMNS)
        assert 0 <= count <= room
        if room > 0:
            regions.append((first, first + room))
        for place in range(count):
            arm = links[first + place]
            met[arm] += 1
            assert links[arm] == place
            assert buckets.slot_of(slots, bits[arm]) == slot
    np.testing.assert_array_equal(met, 1)
    regions.sort()
    assert all(end <= begin for (_, end), (begin, _) in pairwise(regions))
    assert n_arms <= regions[0][0]
    assert regions[-1][1] <= slots[buckets.USED] <= len(links)
    assert slots[buckets.REFERENCE] == sorted(map(buckets.key_of, bits))[budget - 1]
    assert slots[buckets.REFERENCE] // buckets.BLOCK == slots[buckets.BASE]
    assert slots[buckets.COUNT + buckets.HEAVY] < budget
    # Whatever the history, the sums are those of buckets that were filled at once.
    _, _, fresh = filled_buckets(bits, budget)
    np.testing.assert_array_equal(slots[buckets.SUMS :], fresh[buckets.SUMS :])
    np.testing.assert_array_equal(
        slots[buckets.COUNT : buckets.ROOM], fresh[buckets.COUNT : buckets.ROOM]
    )


@njit
def play(bits, links, slots, budget, kind, rounds, key, excess, variance):
    """Rounds in which excess[i] is a sum of martingale differences, of variance `variance[i]`.

    With few arms, i is an arm, the difference is 1[arm picked] - q, and q comes from
    kernels.inclusion. With many, i is a class of arms, and the difference is the sum of weights
    of its picked arms less their number, over the arms that are likely enough to be picked.
    Returns the largest relative error of a weight.
    """
    n_arms = bits.shape[0]
    few = n_arms <= 64
    arms, weights = np.empty((1, budget), np.int64), np.empty((1, budget))
    keys = np.empty(1, np.uint64)
    asked, law = np.empty(budget, np.int64), np.empty(budget)
    every, spread = np.empty(n_arms), np.empty(n_arms)
    added = np.empty(budget)
    worst = 0.0
    counter = key
    for t in range(rounds):
        counter += STEP
        keys[0] = np.uint64(uniform_at(counter) * 2.0**63)
        pick_many(
            bits.reshape((1, -1)),
            links.reshape((1, -1)),
            slots.reshape((1, -1)),
            keys,
            True,
            arms,
            weights,
        )
        if few or t % 64 == 0:
            reference = np.sort(bits)[budget - 1]
            for a in range(n_arms):
                spread[a] = 2.0 ** min(max(bits[a] - reference, -1000.0), 1000.0)
        if few:
            for begin in range(0, n_arms, budget):
                for j in range(budget):
                    asked[j] = (begin + j) % n_arms
                inclusion_probabilities(spread, asked, law)
                for j in range(budget):
                    every[asked[j]] = law[j]
            for a in range(n_arms):
                excess[a] -= every[a]
                variance[a] += every[a] * (1.0 - every[a])
            for j in range(budget):
                excess[arms[0, j]] += 1.0
        else:
            likely = float(slots[buckets.REFERENCE]) + 8.0
            every[: excess.shape[0]] = 0.0
            for a in range(n_arms):
                if bits[a] < likely:
                    every[a % excess.shape[0]] -= 1.0
            for j in range(budget):
                if bits[arms[0, j]] < likely:
                    every[arms[0, j] % excess.shape[0]] += weights[0, j]
            for i in range(excess.shape[0]):
                excess[i] += every[i]
                variance[i] += every[i] ** 2
            if t % 64 == 0:
                inclusion_probabilities(spread, arms[0], law)
                for j in range(budget):
                    every[arms[0, j]] = law[j]
        for j in range(budget):
            if few or t % 64 == 0:
                worst = max(worst, abs(weights[0, j] * every[arms[0, j]] - 1.0))
            counter += STEP
            uniform = uniform_at(counter)
            if kind == SMOOTH:
                added[j] = 2.0 * uniform
            elif kind == TIED:
                added[j] = np.floor(3.0 * uniform) * (1.0 if uniform < 0.9 else 40.0)
            elif kind == HEAVY_TAILED:
                added[j] = min(0.01 / uniform**2, 1e12)
            elif kind == ORDERS_300:
                added[j] = 10.0 ** (300.0 * uniform - 298.5)
            elif kind == HUGE:
                added[j] = 10.0 ** (300.0 * uniform**8)
            else:
                added[j] = 0.05 * weights[0, j] * uniform
        buckets.learn(bits, links, slots, arms[0], added)
    return worst


def check_martingale(excess, variance):
    """Bernstein's bound at about 6 standard deviations; fixed seeds, so that it never flakes."""
    assert np.all(np.abs(excess) < 6.0 * np.sqrt(variance) + 6.0)


@pytest.mark.parametrize("kind", range(len(KINDS)), ids=KINDS)
@pytest.mark.parametrize(("n_arms", "budget"), [(12, 3), (7, 1), (6, 5)])
def test_excess_of_every_arm_is_a_martingale(kind, n_arms, budget):
    state = filled_buckets(np.zeros(n_arms), budget)
    excess, variance = np.zeros(n_arms), np.zeros(n_arms)
    worst = play(*state, budget, kind, 60_000, np.uint64(7 + kind), excess, variance)
    check_invariants(*state, budget)
    check_martingale(excess, variance)
    assert worst < 1e-11


@pytest.mark.parametrize("kind", [SMOOTH, HEAVY_TAILED, WEIGHTED])
def test_many_arms_stay_unbiased_through_moves_and_compactions(kind):
    n_arms, budget = 2_000, 5
    spread = np.random.default_rng(kind).exponential(30.0, n_arms)
    state = filled_buckets(spread, budget)
    excess, variance = np.zeros(CLASSES), np.zeros(CLASSES)
    for key in range(3):
        worst = play(*state, budget, kind, 5_000, np.uint64(key), excess, variance)
        check_invariants(*state, budget)
        assert worst < 1e-11
    assert np.all(np.abs(excess) < 6.0 * np.sqrt(variance))


def test_subsets_have_the_law_of_sorted_perturbed_costs():
    n_draws, budget = 200_000, 2
    bits = np.array([0.0, 0.4, 1.0, 1.0, 2.7])
    uniforms = np.random.default_rng(0).random((n_draws, len(bits)))
    brute = np.sort(np.argsort(uniforms * 2.0**bits, axis=1)[:, :budget], axis=1)
    state = [np.repeat(array[None], 1_000, axis=0) for array in filled_buckets(bits, budget)]
    arms, weights = np.empty((1_000, budget), np.int64), np.empty((1_000, budget))
    counts = np.zeros((2, 25))
    counts[0] += np.bincount(brute @ [5, 1], minlength=25)
    for key in range(n_draws // 1_000):
        pick_many(*state, replicate_keys(key, 1_000), False, arms, weights)
        counts[1] += np.bincount(np.sort(arms, axis=1) @ [5, 1], minlength=25)
    met = counts.sum(axis=0) > 0
    chi_square = (np.diff(counts, axis=0)[0][met] ** 2 / counts.sum(axis=0)[met]).sum()
    assert met.sum() == 10
    # The 0.9999 quantile of 9 degrees of freedom.
    assert chi_square < 33.7


@pytest.mark.parametrize(("n_arms", "budget"), [(1, 1), (2, 1), (9, 9), (50, 7), (300, 1)])
def test_equal_arms_have_equal_weights(n_arms, budget):
    learner = FPMLManyArms(n_arms, budget, epsilon=1.0)
    choice = learner.pick(learner.start(1), rng_for(replicate_keys(0, 1), 0))
    np.testing.assert_allclose(choice.weights, n_arms / budget, rtol=1e-12)
    assert len(set(choice.arms[0].tolist())) == budget


def test_keys_keep_the_order_of_all_floats():
    values = np.concatenate([np.arange(300) / 3, 2.0 ** np.arange(1023), [1.7e308]])
    values = np.unique(np.concatenate([values, np.nextafter(values, 2e308)]))
    keys = [buckets.key_of(value) for value in values]
    assert keys == sorted(keys)
    assert all(buckets.key_of(buckets.least_bits(key)) == key for key in keys)
    big = values >= 2.0**53
    assert [buckets.least_bits(key) for key in np.array(keys)[big]] == values[big].tolist()


def test_an_arm_that_no_longer_weighs_anything_comes_back():
    budget = 2
    state = filled_buckets([0.0, 0.0, 1e300, 5e299], budget)
    buckets.learn(*state, np.array([0, 1]), np.array([1.5e300, 1.2e300]))
    check_invariants(*state, budget)
    arms, weights = np.empty((1, budget), np.int64), np.empty((1, budget))
    pick_many(*(array[None] for array in state), np.zeros(1, np.uint64), True, arms, weights)
    assert sorted(arms[0].tolist()) == [2, 3]
    np.testing.assert_array_equal(weights, 1.0)


def rounds_of(learner, state, begin, end):
    keys = replicate_keys(3, len(state["bits"]))
    for t in range(begin, end):
        choice = learner.pick(state, rng_for(keys, t))
        seen = np.random.default_rng(t).random(choice.arms.shape)
        state = learner.learn(state, choice, seen)
    return state


def test_a_restored_state_goes_on_bit_for_bit():
    learner = FPMLManyArms(n_arms=400, budget=3, epsilon=0.05)
    whole = rounds_of(learner, learner.start(2), 0, 600)
    half = rounds_of(learner, learner.start(2), 0, 300)
    restored = {name: array.copy() for name, array in half.items()}
    state = rounds_of(learner, restored, 300, 600)
    for name, array in whole.items():
        np.testing.assert_array_equal(state[name], array)
        assert array.dtype == state[name].dtype


def test_pick_leaves_the_state_as_it_is():
    learner = FPMLManyArms(n_arms=400, budget=3, epsilon=0.05)
    state = rounds_of(learner, learner.start(1), 0, 100)
    before = {name: array.copy() for name, array in state.items()}
    rng = rng_for(replicate_keys(0, 1), 9)
    first, second = learner.pick(state, rng), learner.pick(state, rng)
    np.testing.assert_array_equal(first.arms, second.arms)
    np.testing.assert_array_equal(first.weights, second.weights)
    for name, array in before.items():
        np.testing.assert_array_equal(state[name], array)


@pytest.mark.parametrize("bad", [-0.5, np.nan])
def test_a_bad_cost_is_refused_and_changes_nothing(bad):
    learner = FPMLManyArms(n_arms=100, budget=2, epsilon=0.1)
    state = learner.start(1)
    choice = learner.pick(state, rng_for(replicate_keys(0, 1), 0))
    with pytest.raises(PickbestError, match="at least 0"):
        learner.learn(state, choice, np.array([[0.5, bad]]))
    with pytest.raises(PickbestError, match="weights"):
        learner.learn(state, Choice(choice.arms), np.array([[0.5, 0.5]]))
    assert np.all(state["bits"] == 0.0)


def test_memory_is_at_most_64_bytes_an_arm():
    state = FPMLManyArms(n_arms=10_000, budget=2, epsilon=0.1).start(1)
    assert sum(array.nbytes for array in state.values()) <= 64 * 10_000
