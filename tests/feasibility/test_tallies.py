"""The best mix of answers against an exact linear program."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from pickbest.feasibility.calls import BestMix, MeanAnswer
from pickbest.feasibility.oracles import Answer
from pickbest.feasibility.sets import System


def exactly(slacks):
    """The largest smallest slack of any mix of rows, by all constraints at once."""
    n_answers, n_constraints = slacks.shape
    return -linprog(
        np.append(np.zeros(n_answers), -1.0),
        A_ub=np.hstack([-slacks.T, np.ones((n_constraints, 1))]),
        b_ub=np.zeros(n_constraints),
        A_eq=np.append(np.ones(n_answers), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0.0, None)] * n_answers + [(None, None)],
    ).fun


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_it_is_the_best_of_all_mixes(scale):
    rng = np.random.default_rng(3)
    system = System.of(scale * rng.normal(size=(60, 4)), scale * rng.normal(size=60))
    mix, mean, seen = BestMix(system), MeanAnswer(system), []
    for _ in range(30):
        answer = Answer(rng.normal(size=4), 0.0, np.full(60, 1.0 / 60.0))
        slacks = system.slacks(answer.x)
        seen.append(slacks)
        for tally in (mix, mean):
            tally.add(answer, slacks)
        best = exactly(np.array(seen) / scale) * scale
        assert mix.worst_slack == pytest.approx(best, abs=1e-6 * scale)
        assert mix.worst_slack >= mean.worst_slack - 1e-6 * scale
        assert system.slacks(mix.x).min() == pytest.approx(mix.worst_slack, abs=1e-9 * scale)


def test_ever_more_answers_are_never_worse_than_their_mean():
    """Most are forgotten on the way; what they had in common is not."""
    rng = np.random.default_rng(4)
    system = System.of(rng.normal(size=(40, 10)), np.zeros(40))
    mix, mean = BestMix(system), MeanAnswer(system)
    for _ in range(120):
        answer = Answer(rng.normal(size=10), 0.0, np.full(40, 1.0 / 40.0))
        for tally in (mix, mean):
            tally.add(answer, system.slacks(answer.x))
        assert mix.worst_slack >= mean.worst_slack - 1e-9
