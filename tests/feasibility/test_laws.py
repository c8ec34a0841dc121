"""The laws over tuples of constraints: exact ones against plain NumPy, samples against exact."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial import polynomial

from pickbest.catalog import make_learner
from pickbest.core import Seen, replicate_keys, rng_for
from pickbest.feasibility import laws
from pickbest.feasibility.laws import Playing, leader_law, merged
from pickbest.learners import FPML, Hedge
from pickbest.learners.adahedge import AdaHedge


def leader_law_twin(costs: np.ndarray, epsilon: float) -> np.ndarray:
    """w_a ∫_0^1 Π_{c ≠ a} (1 - z w_c) dz, by multiplying the polynomial out."""
    weights = np.exp(-epsilon * (costs - costs.min()))
    chances = []
    for a in range(len(costs)):
        product = np.array([1.0])
        for weight in np.delete(weights, a):
            product = polynomial.polymul(product, [1.0, -weight])
        integral = polynomial.polyint(product)
        chances.append(weights[a] * polynomial.polyval(1.0, integral))
    return np.array(chances)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 3.0])
@pytest.mark.parametrize("n_arms", [1, 2, 5, 12])
def test_leader_law_equals_its_twin(n_arms: int, epsilon: float) -> None:
    costs = np.random.default_rng(n_arms).uniform(0, 10, n_arms)
    chances = leader_law(costs, epsilon)
    np.testing.assert_allclose(chances, leader_law_twin(costs, epsilon), rtol=1e-9, atol=1e-14)


def test_leader_law_of_many_arms() -> None:
    """Equal arms are equally likely; arms far behind have no chance; nothing overflows."""
    costs = np.zeros(100_000)
    np.testing.assert_allclose(leader_law(costs, 0.1), 1e-5, rtol=1e-9)
    costs[500:] = 1e6
    chances = leader_law(costs, 2.0)
    np.testing.assert_allclose(chances[:500], 1 / 500, rtol=1e-9)
    assert chances[500:].max() == 0.0


def test_samples_converge_to_the_exact_law(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = FPML(6, 1, epsilon=0.7, decay=1 / 3)
    exact = Playing(learner, 0)
    monkeypatch.setattr(laws, "SAMPLES", 50_000)
    monkeypatch.setattr(laws, "has_exact_law", lambda learner: False)
    sampled = Playing(learner, 0)
    assert (exact.samples, sampled.samples) == (None, 50_000)
    for playing in (exact, sampled):
        for k in range(3):
            playing.law(k)
            playing.learn(np.array([0.1, 0.9, 0.3, 0.5, 0.7, 0.2]))
    slacks = np.array([1.0, -1.0, 0.5, -0.2, 0.1, -0.4])
    expected = exact.law(3).expected_minimum(slacks)
    assert sampled.law(3).expected_minimum(slacks) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("learner", [Hedge(3, rate=2.0), AdaHedge(3)])
def test_hedge_plays_softmax(learner: Hedge | AdaHedge) -> None:
    """Its own draws have the law that is said of it."""
    playing, state = Playing(learner, 0), learner.start(20_000)
    keys, costs = replicate_keys(1, 20_000), np.array([0.0, 0.5, 1.0])
    for k in range(2):
        choice = learner.pick(state, rng_for(keys, k))
        playing.learn(costs)
        state = learner.learn(state, choice, Seen.of(np.tile(costs, (20_000, 1))))
    drawn = np.bincount(learner.pick(state, rng_for(keys, 2)).arms[:, 0], minlength=3) / 20_000
    np.testing.assert_allclose(playing.law(2).probabilities, drawn, atol=0.02)


def test_which_laws_are_exact() -> None:
    assert Playing(FPML(100_000, 1, 0.1), 0).samples is None
    assert Playing(FPML(16, 3, 0.1), 0).samples == 256
    assert Playing(make_learner("og", 5, 2, 100), 0).samples == 256


def test_merged_counts_subsets_in_any_order() -> None:
    law = merged(np.array([[2, 0], [0, 2], [1, 2], [0, 2]]))
    assert law.tuples.tolist() == [[0, 2], [1, 2]]
    assert law.probabilities.tolist() == [0.75, 0.25]
