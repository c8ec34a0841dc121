"""FPML with an adaptive rate: it conforms, and its regret stays under its bound."""

import numpy as np
import pytest

from pickbest import theory
from pickbest.core import play_table, replicate_keys, rng_for
from pickbest.environments import Bernoulli, OneGoodArm, RegimeChange
from pickbest.learners import FPMLAdaptive
from pickbest.testing.learners import check_bound, check_learner, check_long_run, check_unbiased


@pytest.mark.parametrize(
    "learner", [FPMLAdaptive(6, 2), FPMLAdaptive(4, 4), FPMLAdaptive(60, 3)], ids=str
)
def test_it_conforms(learner):
    check_learner(learner)
    check_long_run(learner, 20_000)


def test_weights_are_unbiased():
    check_unbiased(FPMLAdaptive(5, 2))


@pytest.mark.parametrize("budget", [1, 3])
@pytest.mark.parametrize("world", [OneGoodArm(8, 2000), RegimeChange(Bernoulli(8, 2000, 0.5))])
def test_adaptive_fpml_stays_under_its_bound(budget, world):
    bound = theory.adaptive_bound(n_arms=8, budget=budget, rounds=2000)
    assert bound < 2000
    check_bound(FPMLAdaptive(8, budget), world, bound)


def test_twice_the_slack_bounds_the_regret_that_was_met():
    learner, world = FPMLAdaptive(6, 2), Bernoulli(6, 3000, (0.3, 0.5, 0.5, 0.6, 0.7, 0.7))
    table = np.stack([world.costs({}, t, rng_for(replicate_keys(3, 40), t)) for t in range(3000)])
    state, paid = play_table(
        learner, learner.start(40), table.swapaxes(0, 1).copy(), replicate_keys(1, 40), 0
    )
    regret = paid.sum(axis=1) - table.sum(axis=0).min(axis=1)
    assert (
        regret.mean()
        < 2.0 * state.slack.mean()
        < theory.adaptive_bound(n_arms=6, budget=2, rounds=3000)
    )
