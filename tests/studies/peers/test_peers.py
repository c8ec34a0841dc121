"""Peers: they learn, and use features; and the environments that they are measured in."""

import csv

import numpy as np
import pytest

from pickbest.catalog import make_learner
from pickbest.core import PickbestError, Seen, replicate_keys, rng_for
from pickbest.environments import Shuffled, Table, WithFeatures
from pickbest.simulation.simulate import simulate
from pickbest.testing.learners import check_picks, check_split_replicates
from studies.benchmark.lineup import INFORMED, PEERS, peer_entries
from studies.benchmark.report import build_report
from studies.benchmark.run_cells import BenchmarkPlan, run_cells
from studies.peers.environments import peer_environments
from studies.report.markdown import to_markdown

RANDOM = np.random.default_rng(0)
KIND = RANDOM.integers(2, size=400)
CHANCES = np.where(np.arange(4) == KIND[:, None], 0.9, 0.3)
TABLE = Table(1.0 - (RANDOM.random((400, 4)) < CHANCES))
FEATURES = np.column_stack([1e6 * KIND + RANDOM.normal(size=400), RANDOM.normal(size=400)])


@pytest.mark.parametrize("label", [label for label in PEERS if label != INFORMED])
def test_peers_keep_to_the_game_and_use_features(label):
    budget = 2 if label == "CPPL" else 1
    learner = make_learner(PEERS[label], 4, budget)
    check_picks(learner)
    check_split_replicates(learner)
    runs = [
        simulate({"it": learner}, Shuffled(TABLE), 5, features=features).mean_reward("it")
        for features in (FEATURES, RANDOM.normal(size=(400, 2)))
    ]
    assert runs[0] > runs[1] + (0.02 if budget == 2 else 0.1)


def test_more_features_than_matrices_hold_are_projected():
    learner = make_learner(PEERS["LinUCB"], 3, 1)
    state = learner.start(2, 200)
    rows = RANDOM.normal(size=(2, 200))
    choice = learner.pick(state, rng_for(replicate_keys(0, 2), 0), rows)
    state = learner.learn(state, choice, Seen.of(np.zeros((2, 1))), rows)
    assert state.inverse.shape[-1] < 100


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "smtcomp22"
    folder.mkdir()
    for name in ("A", "B"):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            rows = [
                [n, "QF_BV" if n % 2 else "BV", 1.0, "", 600 if n % 2 else ""] for n in range(60)
            ]
            csv.writer(file).writerows([["problem", "logic", "x", "y", "z"], *rows])
    return tmp_path


def test_environments_come_in_halves_and_costs(data):
    chosen, judged = (peer_environments(data, half=half) for half in ("chosen on", "judged"))
    assert [place.name for place in chosen[:2]] == ["SMT A", "SMT A shuffled"]
    assert [place.name for place in judged if "SMT" in place.name] == ["SMT B", "SMT B shuffled"]
    assert judged[0].informed.names == ("logic",)
    for costs, expected in (("solved", 0.0), ("runtime", 0.5)):
        place = peer_environments(data, costs, "judged")[0]
        assert place.environment.costs_table[1].tolist()[1:] == [1.0, expected]
    with pytest.raises(PickbestError, match="costs must be"):
        peer_environments(data, "minutes")


def test_the_page_has_them(data, tmp_path):
    places = [place for place in peer_environments(data, half="judged") if "SMT" in place.name]
    plan = BenchmarkPlan(tmp_path / "cells", places, peer_entries(), (1, 2), replicates=2)
    cells = run_cells(plan)
    labels = {entry.label for entry in peer_entries()}
    assert {cell.learner for cell in cells} == labels
    text = to_markdown(build_report(plan, cells))
    assert all(label in text for label in labels)


def test_features_are_charged(data):
    (place, _) = (each for each in peer_environments(data, half="judged") if "SMT" in each.name)
    table = place.environment
    dearer = Table(np.minimum(table.costs_table + 0.5, 1.0), table.arm_names)
    informed = WithFeatures(dearer, place.informed.features, ("logic",))
    learners = {"auto": make_learner("auto", 3, 1)}
    with_cost = simulate(learners, informed, 3).mean_reward("auto")
    assert with_cost < simulate(learners, place.informed, 3).mean_reward("auto") - 0.2
