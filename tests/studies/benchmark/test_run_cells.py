"""Cells are kept: what is finished is not played again, and a killed run loses nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pickbest.core import PickbestError
from pickbest.environments import Chasing, Table, Task2
from studies.benchmark import run_cells as running
from studies.benchmark.environments import (
    NamedEnvironment,
    chosen_environments,
    environments_at_hand,
    recorded,
)
from studies.benchmark.lineup import chosen_entries
from studies.benchmark.run_cells import BenchmarkPlan, run_cells
from studies.benchmark.shares import Cell

ROOT = Path(__file__).parents[3]


@pytest.fixture
def plan(tmp_path: Path, table: Table) -> BenchmarkPlan:
    environments = [
        *recorded("mine", table),
        NamedEnvironment("drawn", "drawn", "synthetic", Task2(20)),
        NamedEnvironment("reacts", "reacts", "adversary", Chasing(4, 20, width=2)),
    ]
    entries = chosen_entries(["fpml-partial as run", "uniform", "exp3"])
    return BenchmarkPlan(tmp_path / "cells", environments, entries, (1, 4), replicates=5)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many learners each unit played."""
    counts: list[int] = []
    whole: Callable[[running.Unit], object] = running.play_unit

    def counting(unit: running.Unit) -> object:
        counts.append(len(unit.learners))
        return whole(unit)

    monkeypatch.setattr(running, "play_unit", counting)
    return counts


def numbers(cells: list[Cell]) -> list[object]:
    return [(c.place.name, c.budget, c.learner, replace(c.result, seconds=0.0)) for c in cells]


def test_only_what_is_missing_is_played(plan: BenchmarkPlan, played: list[int]) -> None:
    first = run_cells(plan)
    # Exp3 has one arm, and four of the last environment's four arms are no choice.
    assert played == [3, 2, 3, 2, 3, 2, 3]
    assert len(first) == 18
    assert numbers(run_cells(plan)) == numbers(first)
    assert len(played) == 7
    files = sorted(plan.kept.iterdir())
    files[0].unlink()
    files[1].write_text('{"rewards": [0.5')
    files[2].write_text("{}")
    played.clear()
    assert numbers(run_cells(plan)) == numbers(first)
    assert sum(played) == 3
    played.clear()
    run_cells(replace(plan, entries=chosen_entries(["uniform", "exp3", "thompson"])))
    assert played == [1] * 7, "a new learner adds only its own cells"
    run_cells(replace(plan, seed=1))
    run_cells(replace(plan, replicates=6))
    assert len(played) == 21


def test_workers_change_nothing(plan: BenchmarkPlan, tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    alone = run_cells(plan, lambda done, total: calls.append((done, total)))
    assert calls[-1] == (calls[-1][1],) * 2
    together = run_cells(replace(plan, kept=tmp_path / "other", workers=2))
    assert numbers(together) == numbers(alone)


def test_no_learner_can_play(plan: BenchmarkPlan) -> None:
    with pytest.raises(PickbestError, match="below the number of arms"):
        run_cells(replace(plan, budgets=(10,)))
    with pytest.raises(PickbestError, match="replicates must be a whole number of at least 2"):
        replace(plan, replicates=1)


def test_a_killed_run_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    kept = tmp_path / "killed" / "cells"
    command = [sys.executable, "-m", "studies", "benchmark", "--environments", "synthetic"]
    command += ["-l", "uniform", "-l", "thompson", "-b", "1-2", "-r", "30"]
    command += ["--workers", "2", "--out", str(kept.parent)]
    process = subprocess.Popen(command, cwd=ROOT)
    while len(list(kept.glob("*.json"))) < 4 and process.poll() is None:
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert 4 <= len(list(kept.glob("*.json"))) < 20
    environments = chosen_environments(environments_at_hand(), ["synthetic"])
    entries = chosen_entries(["uniform", "thompson"])
    resumed, whole = (
        run_cells(BenchmarkPlan(folder, environments, entries, (1, 2), replicates=30))
        for folder in (kept, tmp_path / "whole")
    )
    assert numbers(resumed) == numbers(whole)
    assert len(whole) == 20
