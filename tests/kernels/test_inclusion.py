"""Inclusion probabilities against exact fractions and against brute force at any size."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest

from pickbest.core import replicate_keys, rng_for
from pickbest.kernels import inclusion
from pickbest.kernels.compiled import compiled
from pickbest.kernels.integrals import enough_below
from pickbest.learners import FPMLManyArms
from tests.kernels.inclusions import inclusions_of

inclusion_probabilities = compiled(inclusion.inclusion_probabilities)

NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(12)


def exact(weights, arm, budget):
    """q of one arm in fractions: integrate Σ over subsets piece by piece."""
    others = [w for a, w in enumerate(weights) if a != arm]
    own = weights[arm]
    edges = sorted({Fraction(0), 1 / own, *(1 / w for w in others if w > own)})
    total = Fraction(0)
    for begin, end in pairwise(edges):
        # counts[i]: the polynomial in z of P(exactly i of the others lie below z).
        counts = [[Fraction(1)]]
        for w in others:
            below = [Fraction(0), w] if w * end <= 1 else [Fraction(1), Fraction(0)]
            above = [1 - below[0], -below[1]]
            longer = [times(c, above) for c in counts] + [[Fraction(0)]]
            for i, c in enumerate(counts):
                longer[i + 1] = plus(longer[i + 1], times(c, below))
            counts = longer
        for c in counts[:budget]:
            total += sum(x * (end ** (k + 1) - begin ** (k + 1)) / (k + 1) for k, x in enumerate(c))
    return own * total


def times(left, right):
    product = [Fraction(0)] * (len(left) + len(right) - 1)
    for i, x in enumerate(left):
        for j, y in enumerate(right):
            product[i + j] += x * y
    return product


def plus(left, right):
    size = max(len(left), len(right))
    left, right = ([*x, *[Fraction(0)] * (size - len(x))] for x in (left, right))
    return [x + y for x, y in zip(left, right, strict=True)]


@compiled
def brute(spread, arm, budget, nodes, node_weights):
    """q of one arm: all others one by one, in panels of four expected arms."""
    total = 0.0
    begin = 0.0
    counts = np.empty(budget)
    for edge in np.sort(spread)[: budget + 1]:
        slope = 0.0
        for b in range(spread.shape[0]):
            if spread[b] > begin:
                slope += 1.0 / spread[b]
        if slope == 0.0:
            break
        # Behind this, fewer than `budget` are below with probability under 1e-19.
        end = min(edge, spread[arm], (45.0 + 4.0 * budget) / slope)
        panels = np.ceil(slope * (end - begin) / 4.0)
        while begin < end:
            width = (end - begin) / panels
            for i in range(nodes.shape[0]):
                z = begin + width * (nodes[i] + 1.0) / 2.0
                counts[:] = 0.0
                counts[0] = 1.0
                for b in range(spread.shape[0]):
                    if b != arm:
                        below = min(1.0, z / spread[b])
                        for k in range(budget - 1, 0, -1):
                            counts[k] += below * (counts[k - 1] - counts[k])
                        counts[0] -= below * counts[0]
                total += node_weights[i] / 2.0 * width * counts.sum()
            begin = begin + width if panels > 1.0 else end
            panels -= 1.0
    return total / spread[arm]


def spread_of(bits, budget):
    return 2.0 ** np.clip(bits - np.sort(bits)[budget - 1], -200.0, 1000.0)


@pytest.mark.parametrize("budget", [1, 2, 3, 5])
def test_few_arms_against_fractions(budget):
    weights = [Fraction(1), Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(1, 50)]
    spread = np.array([float(1 / w) for w in weights])
    for arms in combinations(range(5), budget):
        out = np.empty(budget)
        inclusion_probabilities(spread, np.array(arms), out)
        expected = [float(exact(weights, arm, budget)) for arm in arms]
        np.testing.assert_allclose(out, expected, rtol=1e-13)


@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0])
@pytest.mark.parametrize(
    ("n_arms", "budget"), [(9, 1), (9, 6), (39, 3), (40, 3), (100, 1), (100, 10), (1_000, 4)]
)
def test_any_number_of_arms_against_brute_force(n_arms, budget, scale):
    rng = np.random.default_rng(n_arms + budget)
    spread = spread_of(scale * rng.random(n_arms), budget)
    arms = np.argsort(rng.random(n_arms) * spread)[:budget]
    out = np.empty(budget)
    inclusion_probabilities(spread, arms, out)
    for j in (0, budget - 1):
        expected = brute(spread, arms[j], budget, NODES, NODE_WEIGHTS)
        assert out[j] == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(
    ("n_arms", "budget", "kind"),
    [
        (9, 3, "spread"),
        (100, 4, "spread"),
        (1_000, 10, "spread"),
        (10_000, 10, "flat"),
        (10_000, 3, "spread"),
        (10_000, 3, "one heavy"),
        (1_000_000, 1, "spread"),
        (1_000_000, 2, "one heavy"),
    ],
)
def test_arms_in_groups_against_brute_force(n_arms, budget, kind):
    rng = np.random.default_rng(n_arms + budget)
    bits = rng.exponential(3.0, n_arms) + 1e6
    if kind == "flat":
        bits = rng.random(n_arms)
    elif kind == "one heavy":
        bits[7] = bits.min() - 14.0
    learner = FPMLManyArms(n_arms, budget, epsilon=math.log(2.0))
    state = learner.refreshed(learner.start(1)._replace(costs=bits[None]))
    choice = learner.pick(state, rng_for(replicate_keys(n_arms, 1), 0))
    arms, weights = choice.arms, choice.weights
    spread = spread_of(bits, budget)
    for j in range(budget) if n_arms < 1_000 else [budget - 1]:
        expected = brute(spread, arms[0, j], budget, NODES, NODE_WEIGHTS)
        assert 1.0 / weights[0, j] == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(("n_arms", "budget"), [(50, 5), (200, 40)])
def test_probabilities_of_all_arms_sum_to_the_budget(n_arms, budget):
    bits = np.random.default_rng(1).exponential(5.0, n_arms)
    out = np.empty(n_arms)
    inclusions_of(bits, math.log(2.0), budget, np.arange(n_arms), out)
    assert out.sum() == pytest.approx(budget, rel=1e-13)


@pytest.mark.parametrize(
    "bits",
    [
        [0, 1, 1, 5],
        [0, 0, 1030, 1031, 2],
        [0, 1020, 1025, 1026, 1027],
        [3000, 0, 1, 2999, 3900],
        [0, 900, 901, 1800, 1801, 2400],
        [7, 7 + 10**6, 9 + 10**6, 7 + 10**9],
    ],
)
def test_any_arm_has_its_probability_however_far_behind(bits):
    """Against fractions, where weights are powers of 2; exp of so many bits loses some digits."""
    # The law depends on differences to the last of the leaders only, up to 2^-1000.
    for budget in range(1, len(bits) + 1):
        last = sorted(bits)[budget - 1]
        weights = [Fraction(2) ** min(max(last - b, -5000), 5000) for b in bits]
        expected = [float(exact(weights, arm, budget)) for arm in range(len(bits))]
        out = np.empty(len(bits))
        inclusions_of(np.array(bits, float), math.log(2.0), budget, np.arange(len(bits)), out)
        np.testing.assert_allclose(out, expected, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize(("n_arms", "budget"), [(1_000, 450), (20_000, 1_500)])
def test_a_large_budget_does_not_underflow(n_arms, budget):
    # From about 420 on, the chance that none is below underflows inside the range.
    out = np.empty(budget)
    inclusion_probabilities(np.ones(n_arms), np.arange(budget), out)
    np.testing.assert_allclose(out, budget / n_arms, rtol=1e-11)


@pytest.mark.parametrize("budget", [1, 2, 3, 10, 100])
def test_what_lies_beyond_the_range_is_negligible(budget):
    # Many light arms: the number that lies below is Poisson, and one arm is left out.
    count = enough_below(budget) - 1.0
    logs = [i * math.log(count) - count - math.lgamma(i + 1.0) for i in range(budget)]
    assert sum(map(math.exp, logs)) < math.exp(-29.9)


def test_arms_that_are_certain_or_cannot_be_picked():
    out = np.empty(2)
    inclusion_probabilities(np.array([0.0, 1.0, 1.0, np.inf]), np.array([0, 2]), out)
    np.testing.assert_allclose(out, [1.0, 0.5], rtol=1e-14)
    inclusion_probabilities(np.array([np.inf, 1e-300, 1.0]), np.array([1, 2]), out)
    np.testing.assert_array_equal(out, 1.0)
    inclusion_probabilities(np.array([1e-300, 1.0, 1e300]), np.array([0, 2]), out)
    np.testing.assert_allclose(out, [1.0, 5e-301], rtol=1e-12)
