"""Leaving parts out of `auto`: they exist, matter, and are compared table by table."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pickbest.core import PickbestError
from pickbest.environments import Shuffled, Table, WithFeatures
from studies.ablation import (
    INFORMED,
    WHOLE,
    AblationCell,
    AblationPlan,
    Part,
    cells_at_hand,
    chosen_parts,
    half_of,
    played,
    run_ablation,
    summary_of,
)

ROOT = Path(__file__).parents[2]


@pytest.fixture
def cells():
    """Pairs of arms that complement each other, on two tables."""
    found = []
    for name in ("a", "b"):
        rng = np.random.default_rng(ord(name))
        kinds = rng.integers(2, size=120)
        costs = np.where(kinds[:, None] == [0, 1, 0, 1], 0.1, 0.9) * rng.uniform(0.8, 1, (120, 4))
        found.append(AblationCell("made up", name, 2, Table(costs)))
    return found


def test_every_part_can_be_left_out():
    """In a process of its own, as always: it would stay left out in this one."""
    code = """
from importlib import import_module
from studies.ablation import PARTS, leave_out
for part in PARTS:
    leave_out(part)
    for place, new in part.without.items():
        home, name = place.split(".")
        assert getattr(import_module(f"pickbest.learners.auto.{home}"), name) is new, part
"""
    outcome = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stderr


def test_a_part_that_auto_has_no_more_is_an_error():
    from studies.ablation import leave_out

    with pytest.raises(PickbestError, match=r"auto must have sets\.GONE"):
        leave_out(Part("gone", {"sets.GONE": 1}))


@pytest.fixture
def informed(cells):
    """One arm per round, and the feature says which kind of arm is good."""
    table = cells[0].environment
    kinds = (table.costs_table[:, 0] < 0.5).astype(float)
    game = WithFeatures(table, kinds[:, None], ("kind",))
    return AblationCell("with features", "a", 1, table, game, kind=INFORMED)


def test_what_is_left_out_is_missed_and_what_is_finished_is_kept(tmp_path, cells, informed):
    parts = chosen_parts(["pairs", "features"])
    plan = AblationPlan(tmp_path, [*cells, informed], parts, replicates=3, workers=2)
    shares = run_ablation(plan)
    free, known = summary_of(plan, shares)["families"]
    assert (free["tables"], known["tables"]) == (2, 1)
    pairs, features = free["parts"]
    # Without pairs, nothing says that arms of two kinds belong together.
    assert pairs["gain"] == pytest.approx(np.mean(list(pairs["tables"].values())))
    assert pairs["gain"] > 0.2
    mean = np.mean([np.mean(shares[WHOLE.name, number]) for number in range(2)])
    assert free["share"] == pytest.approx(mean)
    # Pairs are left out where there are no features, and features where there are some.
    assert features["gain"] is known["parts"][0]["gain"] is None
    assert known["parts"][1]["gain"] > 0.2
    kept = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert len(kept) == 6
    assert run_ablation(plan) == shares
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == kept


def test_where_there_is_no_gap_there_is_no_share():
    assert played(AblationCell("flat", "flat", 1, Table(np.full((20, 3), 0.5))), 2, 0) == []


def test_a_folder_is_read_into_families_and_halves(tmp_path):
    rows = ["problem,logic,a,b,c"]
    rows += [f"p{k},QF_BV,{1 + k},{'' if k % 2 else 3},{900 - k}" for k in range(12)]
    folder = tmp_path / "smtcomp22"
    folder.mkdir()
    for name in ("one", "two", "three"):
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n")
    found = cells_at_hand(tmp_path, [1, 2, 3])
    divisions = {"divisions, recorded", "divisions with features"}
    assert {cell.family for cell in found} == divisions | {"races", "races, all finished"}
    assert {cell.budget for cell in found} == {1, 2}
    halves = ({cell.table.removeprefix("SMT ") for cell in half_of(found, n)} for n in (0, 1))
    assert list(halves) == [{"one", "two"}, {"three"}]
    assert half_of(found, None) == found
    with pytest.raises(PickbestError, match="no table here"):
        cells_at_hand(tmp_path / "smtcomp22", [1])


def test_cells_are_known_by_what_they_hold(cells, informed):
    first, second = cells
    assert first.digest != second.digest
    shuffled = AblationCell("made up", "a", 2, Shuffled(first.environment))
    assert shuffled.digest != first.digest
    assert AblationCell("made up", "a", 2, first.environment).digest == first.digest
    changed = replace(informed.informed, features=1.0 - informed.informed.features)
    assert replace(informed, informed=changed).digest != informed.digest
