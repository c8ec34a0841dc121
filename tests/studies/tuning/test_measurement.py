"""Measuring: what is finished is kept, the same bytes come out, and failures are told."""

import csv
import json
import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pickbest.core import PickbestError
from pickbest.environments import read_table
from studies.tuning import measurement
from studies.tuning.measurement import (
    PINNED,
    Record,
    Settings,
    kept_records,
    make_plan,
    measure,
    play,
)
from studies.tuning.tables import collect, reward_rows, write_tables
from studies.tuning.task import Evaluation, loss_of_frequencies

pytest.importorskip("sklearn")
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
TABLES = ("losses.csv", "pool.csv", "rewards.csv", "tasks.csv", "provenance.json")


def plan_for(*optimizers: str, calls=3, pool=4, sets=("iris",), models=("lasso",), **more):
    settings = Settings(optimizers, calls, pool, **more)
    return make_plan(settings, list(sets), list(models))


def measured(plan, folder, workers=1):
    write_tables(plan, measure(plan, folder, workers), folder)
    return {name: (folder / name).read_bytes() for name in TABLES}


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def command(folder: Path, **environment: str) -> subprocess.Popen[str]:
    settings = ["--tasks", "iris,wine", "--models", "lasso", "--optimizers", "random,hyperopt"]
    settings += ["--calls", "3", "--pool", "4", "--out", str(folder)]
    return subprocess.Popen(
        [sys.executable, "-m", "studies", "measure", *settings],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_measurement_ends_with_the_same_bytes(tmp_path, number):
    whole = command(tmp_path / "whole", OPENBLAS_CORETYPE="Nehalem", OMP_NUM_THREADS="2")
    out, errors = whole.communicate(timeout=240)
    assert whole.returncode == 0, errors
    assert "2 of 2 tasks complete" in out
    first = command(tmp_path / "stopped")
    deadline = time.monotonic() + 120
    while len(list((tmp_path / "stopped").glob("units/*.json"))) < 2 and first.poll() is None:
        assert time.monotonic() < deadline, "the measurement does not get on"
        time.sleep(0.02)
    first.send_signal(number)
    first.communicate(timeout=60)
    assert 2 <= len(list((tmp_path / "stopped").glob("units/*.json"))) < 6
    if number == signal.SIGINT:
        assert first.returncode == 130
        assert (tmp_path / "stopped" / "rewards.csv").exists()
    second = command(tmp_path / "stopped")
    _, errors = second.communicate(timeout=240)
    assert second.returncode == 0, errors
    for name in TABLES:
        one, two = ((tmp_path / how / name).read_bytes() for how in ("whole", "stopped"))
        assert one == two, name


def test_tables_have_their_layout_and_a_measurement_can_grow(tmp_path):
    plan = plan_for("random")
    measured(plan, tmp_path)
    assert not kept_records(plan_for("random", seed=1), tmp_path)
    # The pool does not depend on how many calls a run has.
    assert list(kept_records(plan_for("random", calls=2), tmp_path)) == ["lasso-iris/pool"]
    grown = plan_for("random", "hyperopt", models=("mlp", "lasso"))
    assert len(kept_records(grown, tmp_path)) == 2
    files = measured(grown, tmp_path, workers=2)
    losses = rows_of(tmp_path / "losses.csv")
    assert [row["task"] for row in losses] == ["mlp-iris"] * 2 + ["lasso-iris"] * 2
    assert [row["optimizer"] for row in losses[:2]] == ["RandomSearch", "HyperOpt"]
    assert all(float(row["3"]) > 0 for row in losses)
    assert len(rows_of(tmp_path / "pool.csv")[0]) == 5
    table = read_table(tmp_path / "rewards.csv", rewards=True)
    assert table.arm_names == ("RandomSearch", "HyperOpt")
    facts = rows_of(tmp_path / "tasks.csv")[0]
    assert (facts["rows"], facts["features"], facts["classes"]) == ("150", "4", "3")
    assert float(facts["opt"]) <= float(facts["rand"])
    provenance = json.loads(files["provenance.json"])
    assert provenance["environment"]["OPENBLAS_CORETYPE"] == "Haswell"
    assert provenance["tasks"] == {"planned": 2, "complete": 2, "degenerate": []}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="about x86-64 instructions")
def test_every_wide_instruction_set_of_numpy_is_disabled():
    from numpy._core._multiarray_umath import __cpu_dispatch__

    wide = {name for name in __cpu_dispatch__ if name not in {"X86_V2", "X86_V3"}}
    assert set(PINNED["NPY_DISABLE_CPU_FEATURES"].split()) == wide


class Listener:
    """Remembers what it is told; gives up after `most` calls."""

    def __init__(self, most=99):
        self.told, self.most = [], most

    def ask(self):
        if len(self.told) == self.most:
            raise RuntimeError("no\nidea")
        return {"C": 1.0, "intercept_scaling": 1.0}

    def tell(self, point, loss):
        self.told.append(loss)


def test_a_failure_is_told_as_the_worst_loss(monkeypatch):
    losses, listener = iter([None, 0.5, 3.0, None]), Listener()
    monkeypatch.setattr(measurement, "make_optimizer", lambda *settings: listener)
    monkeypatch.setattr(measurement, "evaluate", lambda task, point: Evaluation(next(losses)))
    unit = next(plan_for("random", calls=4, pool=4).units())
    assert [record.loss for record in play(unit)] == [None, 0.5, 3.0, None]
    assert listener.told == [loss_of_frequencies(unit.task), 0.5, 3.0, 3.0]


def test_an_optimizer_that_gives_up_is_recorded(monkeypatch):
    monkeypatch.setattr(measurement, "make_optimizer", lambda *settings: Listener(2))
    records = play(next(plan_for("random", calls=4).units()))
    assert [record.loss is None for record in records] == [False, False, True, True]
    assert records[3].reason == "optimizer: RuntimeError: no idea"


def test_a_process_that_dies_is_a_failure(monkeypatch):
    killed = subprocess.CompletedProcess([], -signal.SIGKILL, "", "")
    monkeypatch.setattr(measurement.subprocess, "run", lambda *words, **options: killed)
    records = measurement.play_elsewhere(next(plan_for("random").units()))
    assert [record.reason for record in records] == ["process died (signal 9)"] * 3


def test_incomplete_and_degenerate_tasks_are_left_out(tmp_path):
    plan = plan_for("random", sets=("iris", "wine", "digits"))
    records = {
        unit.name: [
            Record({}, 0.5 if unit.task.dataset == "iris" else 1.0 / (call + 2))
            for call in range(unit.calls)
        ]
        for unit in list(plan.units())[:-1]
    }
    found = collect(plan, records)
    assert {one.task.name for one in found} == {"lasso-iris", "lasso-wine"}
    assert [name for name, _ in reward_rows(found)] == ["lasso-wine"]
    write_tables(plan, records, tmp_path)
    provenance = json.loads((tmp_path / "provenance.json").read_text())
    assert provenance["tasks"]["degenerate"] == ["lasso-iris"]


def test_refused_sets_are_listed(tmp_path):
    rows = [f"{k},{k % 2}" for k in range(30)]
    (tmp_path / "good.csv").write_text("\n".join(["x,target", *rows]))
    (tmp_path / "bad.csv").write_text("x,target\n1,a\n")
    plan = make_plan(Settings(("random",), data=str(tmp_path)), [], ["lasso"])
    assert list(plan.datasets) == ["good"]
    assert "at least 2 classes" in plan.refused["bad"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pool": 2}, "at least calls=3"),
        ({"calls": 0}, "calls"),
        ({"models": ("tree",)}, "unknown model"),
        ({"sets": ("iris", "iris")}, "must be different"),
        ({"sets": ("irish",)}, "did you mean 'iris'"),
    ],
)
def test_bad_settings_say_why(options, message):
    with pytest.raises(PickbestError, match=message):
        plan_for("random", **options)


def test_an_unknown_optimizer_is_refused():
    with pytest.raises(PickbestError, match="did you mean 'random'"):
        plan_for("randon")
