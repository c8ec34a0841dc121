"""Bounds and exact values beside games: FPML on one good arm, exact weights."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pickbest import theory
from pickbest.catalog import make_learner
from pickbest.environments import Table
from pickbest.simulation.simulate import simulate


@pytest.mark.parametrize(("n_arms", "budget"), [(6, 1), (6, 4), (20, 3)])
def test_exact_regret_on_one_good_arm(n_arms: int, budget: int) -> None:
    costs = np.ones((300, n_arms))
    costs[:, -1] = 0.0
    learner = make_learner("fpml", n_arms, budget, epsilon=0.15)
    regret = simulate({"fpml": learner}, Table(costs), 2_000).regret("fpml")
    exact = theory.good_arm_regret(n_arms=n_arms, budget=budget, rounds=300, epsilon=0.15)
    assert abs(regret.mean() - exact) < 4 * regret.std() / math.sqrt(2_000)


def test_the_first_round_is_a_uniform_subset() -> None:
    assert theory.good_arm_regret(n_arms=7, budget=3, rounds=1, epsilon=9.0) == pytest.approx(4 / 7)


def test_exact_weights_stay_under_their_bound() -> None:
    n_arms, rounds = 4, 20_000
    epsilon = math.sqrt((1 + math.log(n_arms)) / (n_arms * rounds))
    bound = theory.exact_weights_regret_bound_at(n_arms=n_arms, rounds=rounds, epsilon=epsilon)
    costs = np.ones((rounds, n_arms))
    costs[:, -1] = 0.0
    learners = {
        "own": make_learner("fpml-partial", n_arms, 1, rounds, epsilon=epsilon),
        "uniform": make_learner("uniform", n_arms, 1),
    }
    simulation = simulate(learners, Table(costs), 10)
    assert simulation.regret("own").mean() <= bound < simulation.regret("uniform").mean()
    tuned = theory.partial_epsilon_practical(n_arms=n_arms, slot_budget=1, rounds=rounds)
    practical = theory.exact_weights_regret_bound_at(n_arms=n_arms, rounds=rounds, epsilon=tuned)
    assert practical == pytest.approx(
        (2 * n_arms + 0.5) * math.sqrt(rounds * math.log(n_arms)), rel=0.2
    )
