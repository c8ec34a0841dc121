"""Selection from buckets: exactly FPML's law, through moves, ties and extreme costs."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from pickbest.core import PickbestError, replicate_keys, rng_for
from pickbest.core.states import repeat_state
from pickbest.kernels.compiled import compiled
from pickbest.kernels.inclusion import inclusion_probabilities
from pickbest.kernels.many_arms import buckets
from pickbest.kernels.many_arms.bucket_picks import stretch_of
from pickbest.kernels.random import STEP, uniform_at
from pickbest.kernels.rules import Pick
from pickbest.learners import FPMLManyArms
from pickbest.learners.fpml import FPMLState
from pickbest.learners.fpml_buckets import new_work, pick_row

KINDS = ("smooth", "tied", "heavy-tailed", "300 orders", "huge", "weighted")
SMOOTH, TIED, HEAVY_TAILED, ORDERS_300, HUGE, WEIGHTED = range(len(KINDS))
CLASSES = 8


def learner_of(n_arms, budget):
    """A learner for which costs are bits."""
    return FPMLManyArms(n_arms, budget, epsilon=math.log(2.0))


def state_of(bits, budget):
    """The state of one replicate with these bits."""
    known = FPMLState(np.array([bits], float), np.zeros(1, np.int64))
    return learner_of(len(bits), budget).restored(known)


def check_invariants(state, budget):
    """Every arm is in exactly the bucket of its key, at its place; sums and reference are right."""
    bits, row = state.bits[0], buckets.row_of(state.buckets, 0)
    met = np.zeros(len(bits), int)
    regions = []
    for bucket in range(buckets.N_BUCKETS):
        first, size, room = (table[bucket] for table in (row.first, row.size, row.room))
        assert 0 <= size <= room
        if room > 0:
            regions.append((first, first + room))
        for place in range(size):
            arm = row.pool[first + place]
            met[arm] += 1
            assert row.places[arm] == place
            assert buckets.bucket_of(row.base[0], bits[arm]) == bucket
    np.testing.assert_array_equal(met, 1)
    regions.sort()
    assert all(end <= begin for (_, end), (begin, _) in pairwise(regions))
    assert regions[0][0] >= 0
    assert regions[-1][1] <= row.used[0] <= len(row.pool)
    assert row.reference[0] == sorted(map(buckets.key_of, bits))[budget - 1]
    assert row.reference[0] // buckets.BLOCK == row.base[0]
    assert row.size[buckets.HEAVY] < budget
    # Whatever the history, the sums are those of buckets that were filled at once.
    fresh = buckets.row_of(state_of(bits, budget).buckets, 0)
    np.testing.assert_array_equal(row.sums, fresh.sums)
    np.testing.assert_array_equal(row.size, fresh.size)


@compiled
def play(law, state, budget, kind, rounds, key, excess, variance):
    """Rounds in which excess[i] is a sum of martingale differences, of variance `variance[i]`.

    With few arms, i is an arm, the difference is 1[arm picked] - q, and q comes from
    kernels.inclusion. With many, i is a class of arms, and the difference is the sum of weights
    of its picked arms less their number, over the arms that are likely enough to be picked.
    Returns the largest relative error of a weight.
    """
    bits, row = state.bits[0], buckets.row_of(state.buckets, 0)
    n_arms = bits.shape[0]
    few = n_arms <= 64
    arms, weights = np.empty(budget, np.int64), np.empty(budget)
    nobody, work = np.empty(0, np.bool_), new_work(law, state, budget)
    asked, chances = np.empty(budget, np.int64), np.empty(budget)
    every, spread = np.empty(n_arms), np.empty(n_arms)
    added = np.empty(budget)
    worst = 0.0
    counter = key
    for t in range(rounds):
        counter += STEP
        own = np.uint64(uniform_at(counter) * 2.0**63)
        pick_row(law, state, 0, work, Pick(nobody, own, arms, weights))
        if few or t % 64 == 0:
            reference = np.sort(bits)[budget - 1]
            for a in range(n_arms):
                spread[a] = 2.0 ** min(max(bits[a] - reference, -1000.0), 1000.0)
        if few:
            for begin in range(0, n_arms, budget):
                for j in range(budget):
                    asked[j] = (begin + j) % n_arms
                inclusion_probabilities(spread, asked, chances)
                for j in range(budget):
                    every[asked[j]] = chances[j]
            for a in range(n_arms):
                excess[a] -= every[a]
                variance[a] += every[a] * (1.0 - every[a])
            for j in range(budget):
                excess[arms[j]] += 1.0
        else:
            likely = float(row.reference[0]) + 8.0
            every[: excess.shape[0]] = 0.0
            for a in range(n_arms):
                if bits[a] < likely:
                    every[a % excess.shape[0]] -= 1.0
            for j in range(budget):
                if bits[arms[j]] < likely:
                    every[arms[j] % excess.shape[0]] += weights[j]
            for i in range(excess.shape[0]):
                excess[i] += every[i]
                variance[i] += every[i] ** 2
            if t % 64 == 0:
                inclusion_probabilities(spread, arms, chances)
                for j in range(budget):
                    every[arms[j]] = chances[j]
        for j in range(budget):
            if few or t % 64 == 0:
                worst = max(worst, abs(weights[j] * every[arms[j]] - 1.0))
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
                added[j] = 0.05 * weights[j] * uniform
        buckets.add_bits(bits, row, arms, added)
    return worst


def check_martingale(excess, variance):
    """Bernstein's bound at about 6 standard deviations; fixed seeds, so that it never flakes."""
    assert np.all(np.abs(excess) < 6.0 * np.sqrt(variance) + 6.0)


@pytest.mark.parametrize("kind", range(len(KINDS)), ids=KINDS)
@pytest.mark.parametrize(("n_arms", "budget"), [(12, 3), (7, 1), (6, 5)])
def test_excess_of_every_arm_is_a_martingale(kind, n_arms, budget):
    law, state = learner_of(n_arms, budget).law, state_of(np.zeros(n_arms), budget)
    excess, variance = np.zeros(n_arms), np.zeros(n_arms)
    worst = play(law, state, budget, kind, 60_000, np.uint64(7 + kind), excess, variance)
    check_invariants(state, budget)
    check_martingale(excess, variance)
    assert worst < 1e-11


@pytest.mark.parametrize("kind", [SMOOTH, HEAVY_TAILED, WEIGHTED])
def test_many_arms_stay_unbiased_through_moves_and_compactions(kind):
    n_arms, budget = 2_000, 5
    spread = np.random.default_rng(kind).exponential(30.0, n_arms)
    law, state = learner_of(n_arms, budget).law, state_of(spread, budget)
    excess, variance = np.zeros(CLASSES), np.zeros(CLASSES)
    for key in range(3):
        worst = play(law, state, budget, kind, 5_000, np.uint64(key), excess, variance)
        check_invariants(state, budget)
        assert worst < 1e-11
    assert np.all(np.abs(excess) < 6.0 * np.sqrt(variance))


def test_subsets_have_the_law_of_sorted_perturbed_costs():
    n_draws, budget = 200_000, 2
    bits = np.array([0.0, 0.4, 1.0, 1.0, 2.7])
    uniforms = np.random.default_rng(0).random((n_draws, len(bits)))
    brute = np.sort(np.argsort(uniforms * 2.0**bits, axis=1)[:, :budget], axis=1)
    learner, state = learner_of(5, budget), repeat_state(state_of(bits, budget), 1_000)
    counts = np.zeros((2, 25))
    counts[0] += np.bincount(brute @ [5, 1], minlength=25)
    for key in range(n_draws // 1_000):
        arms = learner.pick(state, rng_for(replicate_keys(key, 1_000), 0)).arms
        counts[1] += np.bincount(np.sort(arms, axis=1) @ [5, 1], minlength=25)
    met = counts.sum(axis=0) > 0
    chi_square = (np.diff(counts, axis=0)[0][met] ** 2 / counts.sum(axis=0)[met]).sum()
    assert met.sum() == 10
    # The 0.9999 quantile of 9 degrees of freedom.
    assert chi_square < 33.7


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
    state = state_of([0.0, 0.0, 1e300, 5e299], budget)
    row = buckets.row_of(state.buckets, 0)
    buckets.add_bits(state.bits[0], row, np.array([0, 1]), np.array([1.5e300, 1.2e300]))
    check_invariants(state, budget)
    choice = learner_of(4, budget).pick(state, rng_for(replicate_keys(0, 1), 0))
    assert sorted(choice.arms[0].tolist()) == [2, 3]
    np.testing.assert_array_equal(choice.weights, 1.0)


@pytest.mark.parametrize("chance", [1e-12, 1e-6, 9e-5, 1.1e-4, 0.3])
def test_a_stretch_has_its_chance(chance):
    assert stretch_of(chance) == pytest.approx(-math.log1p(-chance), rel=1e-14)


@pytest.fixture
def sound():
    state = state_of([0.5, 3.0, 3.5, 70.0, 2.0, 250.0], 2)
    buckets.check_buckets(state.bits, state.buckets)
    return state


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("used", lambda used: -1),
        ("used", lambda used: used - 1),
        ("used", lambda used: 10**6),
        ("first", lambda first: first - 1),
        ("first", lambda first: first + 10**6),
        ("size", lambda size: size + 1),
        ("size", lambda size: -size),
        ("room", lambda room: np.where(room > 0, 1, 0) * 2**40),
        ("room", lambda room: np.where(room > 0, room + 1, 0)),
        ("pool", lambda pool: np.zeros_like(pool)),
        ("places", lambda places: places + 1),
        ("base", lambda base: base + 1),
        ("base", lambda base: -1),
        ("reference", lambda reference: reference + buckets.BLOCK),
        ("sums", lambda sums: sums + 1),
    ],
)
def test_buckets_of_a_file_are_those_of_its_bits(sound, field, change):
    damaged = getattr(sound.buckets, field).copy()
    damaged[:] = change(damaged)
    with pytest.raises(PickbestError, match="not those of the saved bits"):
        buckets.check_buckets(sound.bits, sound.buckets._replace(**{field: damaged}))
