"""The benchmarks' plain NumPy references and our learners play by the same law."""

import sys
from pathlib import Path

import numpy as np
import pytest

from pickbest.catalog import make_learner
from pickbest.environments import Table
from pickbest.simulation.simulate import simulate

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import reference

N_ARMS, ROUNDS, RUNS = 5, 60, 150
TABLE = np.random.default_rng(3).random((ROUNDS, N_ARMS)) ** np.linspace(0.3, 3, N_ARMS)


def compare(learner, play):
    """Mean costs of many games agree within five standard errors."""
    ours = simulate({"ours": learner}, Table(TABLE), replicates=2000, seed=1).costs("ours")
    ours = ours.mean(axis=1)
    theirs = np.array([play(np.random.default_rng(seed)) for seed in range(RUNS)])
    error = np.hypot(ours.std() / 2000**0.5, theirs.std() / RUNS**0.5)
    assert abs(ours.mean() - theirs.mean()) < 5 * error


@pytest.mark.parametrize("budget", [1, 3])
def test_fpml(budget):
    learner = make_learner("fpml", N_ARMS, budget, ROUNDS, epsilon=0.2)
    compare(learner, lambda rng: reference.fpml(TABLE, budget, 0.2, rng))


@pytest.mark.parametrize(("slots", "slot_budget"), [(1, 2), (2, 1), (2, 2)])
def test_fpml_partial_and_og_hybrid(slots, slot_budget):
    learner = make_learner(
        "og-hybrid", N_ARMS, slots * slot_budget, ROUNDS, slot_budget=slot_budget,
        slots="independent", weights="geometric", epsilon=0.2, resamples=6,
    )  # fmt: skip

    def play(rng):
        boxes = [reference.PartialBox(N_ARMS, slot_budget, 0.2, 6, rng) for _ in range(slots)]
        return reference.greedy(TABLE, boxes)

    compare(learner, play)
