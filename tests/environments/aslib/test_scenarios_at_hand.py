"""Eleven scenarios of ASlib, where they are at hand."""

from pathlib import Path

import numpy as np
import pytest

from pickbest.environments.aslib import read_scenario, read_scenarios
from pickbest.hindsight import best_subset

DATA = Path(__file__).parents[4] / "shared" / "data" / "aslib"
pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"the eleven scenarios of ASlib are not at {DATA}"
)
# Instances, algorithms, default cost, and the best subsets' mean rewards for B = 1, 2, 3.
KNOWN = {
    "ASP-POTASSCO": (1294, 11, "solved", (0.8586, 0.9134, 0.9250)),
    "CPMP-2015": (527, 4, "solved", (0.8121, 0.9298, 0.9715)),
    "CSP-Minizinc-Obj-2016": (100, 22, "quality", (0.8649, 0.9710, 0.9875)),
    "GLUHACK-2018": (353, 8, "solved", (0.4816, 0.5609, 0.6119)),
    "IPC2018": (240, 15, "solved", (0.7083, 0.7542, 0.7792)),
    "MAXSAT12-PMS": (876, 6, "solved", (0.7694, 0.8390, 0.8527)),
    "OPENML-WEKA-2017": (105, 30, "quality", (0.9462, 0.9732, 0.9834)),
    "QBF-2011": (1368, 5, "solved", (0.5768, 0.7018, 0.7515)),
    "SAT11-HAND": (296, 15, "solved", (0.5000, 0.6250, 0.6858)),
    "SAT15-INDU": (300, 28, "solved", (0.8700, 0.9067, 0.9233)),
    "SAT18-EXP": (353, 37, "solved", (0.5864, 0.6771, 0.7309)),
}


@pytest.mark.parametrize("name", KNOWN)
def test_the_scenarios_at_hand(name):
    instances, algorithms, cost, rewards = KNOWN[name]
    real = read_scenario(DATA / name)
    assert real.solved.shape == (instances, algorithms)
    assert real.default_cost == cost
    assert len(real.feature_names) == real.features.shape[1] > 0
    table = real.costs().costs_table
    found = [1.0 - best_subset(table, budget).cost / instances for budget in (1, 2, 3)]
    assert found == pytest.approx(rewards, abs=5e-5)


def test_a_hard_scenario_by_an_independent_count():
    lines = (DATA / "SAT11-HAND" / "algorithm_runs.arff").read_text().split("@DATA")[1].split()
    solved = {tuple(line.split(",")[0:3:2]) for line in lines if line.endswith(",ok")}
    real = read_scenario(DATA / "SAT11-HAND")
    pairs = {
        (real.instances[row], real.algorithms[column])
        for row, column in np.argwhere(real.solved == 1)
    }
    assert pairs == solved


def test_the_measures_of_a_scenario_with_two():
    quality, time = read_scenarios(DATA)[2], read_scenario(DATA / "CSP-Minizinc-Obj-2016", "time")
    assert (quality.measure, quality.cutoff, time.kind, time.cutoff) == (
        *("obj", None, "runtime"),
        1200.0,
    )
    assert time.solved.sum() < quality.solved.sum()
