"""Selection from groups: exactly FPML's law, through moves, ties and extreme costs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pickbest.core import PickbestError, replicate_keys, rng_for
from pickbest.core.states import repeat_state
from pickbest.kernels.compiled import compiled
from pickbest.kernels.inclusion import inclusion_probabilities
from pickbest.kernels.many_arms import arms_moved
from pickbest.kernels.random import STEP, uniform_at
from pickbest.kernels.rules import Pick
from pickbest.learners import FPMLManyArms
from pickbest.learners.fpml_many_arms import new_work, pick_row

KINDS = ("smooth", "tied", "heavy-tailed", "300 orders", "huge", "weighted")
SMOOTH, TIED, HEAVY_TAILED, ORDERS_300, HUGE, WEIGHTED = range(len(KINDS))
CLASSES = 8


def learner_of(n_arms, budget):
    """A learner for which costs are bits."""
    return FPMLManyArms(n_arms, budget, epsilon=math.log(2.0))


def state_of(bits, budget):
    """The state of one replicate with these bits."""
    learner = learner_of(len(bits), budget)
    return learner.refreshed(learner.start(1)._replace(costs=np.array([bits], float)))


def check_groups(state, budget):
    """Whatever the history, they are those that the same weights fill at once, but for the base."""
    groups, fresh = state.groups, state_of(state.costs[0], budget).groups
    shift = 2.0 ** (groups.base[0] - fresh.base[0])
    np.testing.assert_allclose(groups.weights, fresh.weights * shift, rtol=1e-9, atol=1e-300)
    assert 1 / 8 <= groups.level[0, 0] <= 8
    assert 0 < groups.level[0, 1] <= groups.level[0, 0]


@compiled
def play(law, state, budget, kind, rounds, key, excess, variance):
    """Rounds in which excess[i] is a sum of martingale differences, of variance `variance[i]`.

    With few arms, i is an arm, the difference is 1[arm picked] - q, and q comes from
    kernels.inclusion. With many, i is a class of arms, and the difference is the sum of weights
    of its picked arms less their number, over the arms that are likely enough to be picked.
    Returns the largest relative error of a weight.
    """
    bits = state.costs[0]
    n_arms = bits.shape[0]
    few = n_arms <= 64
    arms, weights = np.empty(budget, np.int64), np.empty(budget)
    nobody, work = np.empty(0, np.bool_), new_work(law, state, budget)
    asked, chances = np.empty(budget, np.int64), np.empty(budget)
    every, spread = np.empty(n_arms), np.empty(n_arms)
    worst = 0.0
    counter = key
    for t in range(rounds):
        counter += STEP
        own = np.uint64(uniform_at(counter) * 2.0**63)
        pick_row(law, state, 0, work, Pick(nobody, own, arms, weights))
        reference = np.sort(bits)[budget - 1]
        if few or t % 64 == 0:
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
            every[: excess.shape[0]] = 0.0
            for a in range(n_arms):
                if bits[a] < reference + 8.0:
                    every[a % excess.shape[0]] -= 1.0
            for j in range(budget):
                if bits[arms[j]] < reference + 8.0:
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
                added = 2.0 * uniform
            elif kind == TIED:
                added = np.floor(3.0 * uniform) * (1.0 if uniform < 0.9 else 40.0)
            elif kind == HEAVY_TAILED:
                added = min(0.01 / uniform**2, 1e12)
            elif kind == ORDERS_300:
                added = 10.0 ** (300.0 * uniform - 298.5)
            elif kind == HUGE:
                added = 10.0 ** (300.0 * uniform**8)
            else:
                added = 0.05 * weights[j] * uniform
            bits[arms[j]] = min(bits[arms[j]] + added, 1e307)
        arms_moved(state.costs, law.epsilon, state.groups, 0, arms, work)
    return worst


@pytest.mark.parametrize("kind", range(len(KINDS)), ids=KINDS)
@pytest.mark.parametrize(("n_arms", "budget"), [(12, 3), (7, 1), (6, 5)])
def test_excess_of_every_arm_is_a_martingale(kind, n_arms, budget):
    law, state = learner_of(n_arms, budget).law, state_of(np.zeros(n_arms), budget)
    excess, variance = np.zeros(n_arms), np.zeros(n_arms)
    worst = play(law, state, budget, kind, 60_000, np.uint64(7 + kind), excess, variance)
    # Bernstein's bound at about 6 standard deviations; fixed seeds, so that it never flakes.
    assert np.all(np.abs(excess) < 6.0 * np.sqrt(variance) + 6.0)
    assert worst < 1e-11


@pytest.mark.parametrize("kind", [SMOOTH, HEAVY_TAILED, WEIGHTED])
def test_many_arms_stay_unbiased_through_moves(kind):
    n_arms, budget = 2_000, 5
    spread = np.random.default_rng(kind).exponential(30.0, n_arms)
    law, state = learner_of(n_arms, budget).law, state_of(spread, budget)
    excess, variance = np.zeros(CLASSES), np.zeros(CLASSES)
    for key in range(3):
        worst = play(law, state, budget, kind, 5_000, np.uint64(key), excess, variance)
        check_groups(state, budget)
        assert worst < 1e-11
    assert np.all(np.abs(excess) < 6.0 * np.sqrt(variance))


@pytest.mark.parametrize("lowered", [1.0, 1e-3])
def test_subsets_have_the_law_of_sorted_perturbed_costs(lowered):
    """Also where so few arms lie below the level of the draws that the others must be looked at."""
    n_draws, budget = 200_000, 2
    bits = np.array([0.0, 0.4, 1.0, 1.0, 2.7])
    uniforms = np.random.default_rng(0).random((n_draws, len(bits)))
    brute = np.sort(np.argsort(uniforms * 2.0**bits, axis=1)[:, :budget], axis=1)
    learner, state = learner_of(5, budget), repeat_state(state_of(bits, budget), 1_000)
    state.groups.level[:, 1] *= lowered
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


def test_an_arm_that_no_longer_weighs_anything_comes_back():
    budget = 2
    learner, state = learner_of(4, budget), state_of([0.0, 0.0, 1e300, 5e299], budget)
    state.costs[0, :2] = 1.5e300, 1.2e300
    work = new_work(learner.law, state, budget)
    arms_moved(state.costs, learner.epsilon, state.groups, 0, np.array([0, 1]), work)
    choice = learner.pick(state, rng_for(replicate_keys(0, 1), 0))
    assert sorted(choice.arms[0].tolist()) == [2, 3]
    np.testing.assert_array_equal(choice.weights, 1.0)


@pytest.mark.parametrize(
    ("field", "number"),
    [("level", 0.0), ("level", 1e300), ("weights", -1.0), ("weights", 1e300), ("sums", 1e300),
     ("heaviest", 0.0)],
)  # fmt: skip
def test_groups_of_a_file_are_those_of_its_weights(field, number):
    groups = state_of(np.linspace(0.0, 50.0, 300), 3).groups
    groups.check()
    getattr(groups, field)[:] = number
    with pytest.raises(PickbestError, match="not those of the saved weights"):
        groups.check()
