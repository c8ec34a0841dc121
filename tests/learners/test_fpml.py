"""FPML and FPML-partial against plain NumPy twins that draw the same numbers."""

import numpy as np
import pytest

from pickbest.core import replicate_keys, rng_for
from pickbest.kernels.compiled import interpreted
from pickbest.kernels.rules import Pick
from pickbest.learners import FPMLPartial, Weights

REPLICATES, N_ARMS = 200, 7


def spread_twin(costs, epsilon, budget):
    reference = np.sort(costs, axis=1)[:, budget - 1 : budget]
    return np.exp(epsilon * (costs - reference))


def pick(learner, costs, taken=None):
    state = learner.start(len(costs))
    state.costs[:] = costs
    rng = rng_for(replicate_keys(0, len(costs)), 3)
    arms = np.empty((len(costs), learner.budget), np.int64)
    weights = np.empty(arms.shape)
    work = learner.rule.new_work(learner.law, state, learner.budget)
    nobody = np.empty((len(costs), 0), np.bool_) if taken is None else taken
    for row, key in enumerate(rng.keys):
        asked = Pick(nobody[row], key, arms[row], weights[row])
        interpreted(learner.rule.pick_row, learner.law, state, row, work, asked)
    return arms, weights if learner.rule.weighted else None, rng


@pytest.fixture
def costs():
    return np.random.default_rng(1).random((REPLICATES, N_ARMS)) * 4


@pytest.mark.parametrize("budget", [1, 3])
def test_geometric_weights_equal_redrawing_in_a_loop(costs, budget):
    cap = 12
    arms, weights, rng = pick(
        FPMLPartial(N_ARMS, budget, 0.8, Weights.GEOMETRIC, resamples=cap), costs
    )
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
    arms, weights, rng = pick(FPMLPartial(N_ARMS, 3, 0.8), costs, taken)
    assert not np.isin(arms, [0, 3]).any()
    masked = np.where(taken, np.inf, costs + np.log(rng.uniforms(N_ARMS)) / 0.8)
    assert np.array_equal(arms, np.argsort(masked, axis=1)[:, :3])
    assert np.all(weights >= 1.0)


def test_costs_far_apart_keep_their_order():
    """Leaders that are certain, laggards that are impossible, and a contest between two."""
    costs = np.array([[0.0, 1e5, 1e5 + 0.1, 1e9, 1e300]]).repeat(1000, axis=0)
    arms, weights, _ = pick(FPMLPartial(5, 2, 2.0), costs)
    assert np.all(arms[:, 0] == 0)
    assert set(arms[:, 1]) == {1, 2}
    assert np.allclose(weights[:, 0], 1.0)
    share = (arms[:, 1] == 1).mean()
    assert abs(1 / weights[arms[:, 1] == 1, 1][0] - share) < 0.08
