"""Measuring: what is finished is kept, the same bytes come out, and processes end cleanly."""

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
from studies.commands.measure import measure_tables
from studies.tuning.measurement import units
from studies.tuning.measurement.plan import Settings, make_plan
from studies.tuning.measurement.run import PINNED, kept_records, measure
from studies.tuning.measurement.tables import collect, reward_rows, write_tables
from studies.tuning.measurement.units import Record
from studies.tuning.tasks import Caps, Evaluation
from studies.tuning.tasks.task import loss_of_frequencies

pytest.importorskip("sklearn")
pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
ROOT = HERE.parents[3]
TABLES = ("losses.csv", "pool.csv", "rewards.csv", "tasks.csv", "provenance.json")


@pytest.fixture(autouse=True)
def _own_optimizers(monkeypatch):
    """Measurers find the optimizers of these tests."""
    monkeypatch.syspath_prepend(HERE)
    monkeypatch.setenv("PYTHONPATH", f"{HERE}{os.pathsep}{ROOT}")


def plan_for(*optimizers: str, calls=3, pool=4, sets=("iris",), models=("lasso",), **more):
    settings = Settings(optimizers, calls, pool, **more)
    return make_plan(settings, list(sets), list(models))


def measured(plan, folder, **options):
    write_tables(plan, measure(plan, folder, **options), folder)
    return {name: (folder / name).read_bytes() for name in TABLES}


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def command(folder: Path, *options: str) -> subprocess.Popen[str]:
    settings = ["--tasks", "iris", "--optimizers", "random,measured_optimizers:Honest"]
    settings += ["--calls", "6", "--pool", "100", "--workers", "2", "--out", str(folder)]
    return subprocess.Popen(
        [sys.executable, "-m", "studies", "measure", *settings, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(folder: Path, count: int, running: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while len(list(folder.glob("units/*.json"))) < count and running.poll() is None:
        assert time.monotonic() < deadline, "the measurement does not get on"
        time.sleep(0.02)


def test_kills_leave_the_same_bytes(tmp_path):
    running = command(tmp_path / "whole", "--models", "lasso")
    out, errors = running.communicate(timeout=120)
    assert running.returncode == 0, errors
    assert "1 of 1 tasks complete" in out
    for count in (2, 4):
        running = command(tmp_path / "killed", "--models", "lasso")
        wait_for(tmp_path / "killed", count, running)
        running.kill()
        running.communicate()
    assert 0 < len(list((tmp_path / "killed").glob("units/*.json"))) < 7
    running = command(tmp_path / "killed", "--models", "lasso")
    _, errors = running.communicate(timeout=120)
    assert running.returncode == 0, errors
    for name in TABLES:
        same = (tmp_path / "whole" / name).read_bytes() == (tmp_path / "killed" / name).read_bytes()
        assert same, name


def children_of(pid: int) -> list[int]:
    """The processes that a measurer has started, and those that they have."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True)
    pairs = [tuple(map(int, line.split())) for line in listed.stdout.splitlines()]
    own = {child for child, parent in pairs if parent == pid}
    return [child for child, parent in pairs if child in own or parent in own]


def assert_all_end(pids: list[int]) -> None:
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() < deadline, "processes were left behind"
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_a_measurer_ends_its_processes(tmp_path, number):
    running = command(tmp_path, "--models", "mlp")
    wait_for(tmp_path, 1, running)
    pids = children_of(running.pid)
    assert pids
    running.send_signal(number)
    _, errors = running.communicate(timeout=30)
    assert_all_end(pids)
    if number != signal.SIGKILL:
        assert running.returncode == 130, errors
        assert "the same command goes on" in errors
        assert (tmp_path / "rewards.csv").exists()


def test_tables_have_their_layout(tmp_path):
    plan = plan_for("random", "measured_optimizers:Honest", models=("mlp", "lasso"))
    files = measured(plan, tmp_path, workers=2)
    losses = rows_of(tmp_path / "losses.csv")
    assert [row["task"] for row in losses] == ["mlp-iris"] * 2 + ["lasso-iris"] * 2
    assert [row["optimizer"] for row in losses[:2]] == [
        "RandomSearch",
        "measured_optimizers:Honest",
    ]
    assert all(float(row["3"]) > 0 for row in losses)
    assert len(rows_of(tmp_path / "pool.csv")[0]) == 5
    table = read_table(tmp_path / "rewards.csv", rewards=True)
    assert table.arm_names == ("RandomSearch", "measured_optimizers:Honest")
    facts = rows_of(tmp_path / "tasks.csv")[0]
    assert (facts["rows"], facts["features"], facts["classes"]) == ("150", "4", "3")
    assert float(facts["opt"]) <= float(facts["rand"])
    provenance = json.loads(files["provenance.json"])
    assert provenance["environment"]["OPENBLAS_CORETYPE"] == "Haswell"
    assert provenance["tasks"] == {"planned": 2, "complete": 2, "degenerate": []}


def test_a_measurement_can_grow_and_other_settings_are_another_one(tmp_path):
    plan = plan_for("random")
    measured(plan, tmp_path)
    assert len(kept_records(plan, tmp_path)) == 2
    for changed in ({"seed": 1}, {"caps": Caps(50, 3)}):
        assert not kept_records(plan_for("random", **changed), tmp_path)
    # The pool does not depend on how many calls a run has.
    assert list(kept_records(plan_for("random", calls=2), tmp_path)) == ["lasso-iris/pool/0"]
    grown = plan_for("random", "measured_optimizers:Honest", pool=24, repetitions=2)
    assert len(kept_records(grown, tmp_path)) == 1
    files = measured(grown, tmp_path)
    assert files == measured(grown, tmp_path / "fresh", workers=2)
    names = [row["task"] for row in rows_of(tmp_path / "rewards.csv")]
    assert names == ["lasso-iris#1", "lasso-iris#2"]


def test_the_environment_of_the_measurer_does_not_matter(tmp_path):
    options = ["--tasks", "wine", "--models", "mlp", "--optimizers", "random", "--calls", "2"]
    for name, changed in (("one", {}), ("two", {"OPENBLAS_CORETYPE": "Nehalem"})):
        line = [sys.executable, "-m", "studies", "measure", *options, "--pool", "2"]
        environment = {**os.environ, **changed, "OMP_NUM_THREADS": "2"}
        subprocess.run([*line, "--out", str(tmp_path / name)], env=environment, check=True)
    one, two = ((tmp_path / name / "losses.csv").read_bytes() for name in ("one", "two"))
    assert one == two


@pytest.mark.skipif(platform.machine() != "x86_64", reason="about x86-64 instructions")
def test_every_wide_instruction_set_of_numpy_is_disabled():
    from numpy._core._multiarray_umath import __cpu_dispatch__

    wide = {name for name in __cpu_dispatch__ if name not in {"X86_V2", "X86_V3"}}
    assert set(PINNED["NPY_DISABLE_CPU_FEATURES"].split()) == wide


def test_an_optimizer_that_fails_is_recorded(tmp_path):
    plan = plan_for("measured_optimizers:Tired", calls=4)
    measured(plan, tmp_path)
    (row,) = rows_of(tmp_path / "losses.csv")
    assert row["2"] != ""
    assert (row["3"], row["4"]) == ("", "")
    assert rows_of(tmp_path / "tasks.csv")[0]["failures"] == "2"
    records = kept_records(plan, tmp_path)["lasso-iris/measured_optimizers:Tired/0"]
    assert records[3].reason == "optimizer: RuntimeError: no idea"


def test_a_process_that_dies_thrice_is_a_failure(tmp_path):
    said: list[str] = []
    plan = plan_for("measured_optimizers:Deadly", calls=4)
    records = measure(plan, tmp_path, warn=said.append)["lasso-iris/measured_optimizers:Deadly/0"]
    assert len(said) == 3
    assert records[0].loss is not None
    assert all("process died (SIGKILL)" in record.reason for record in records[1:])


def test_a_failure_is_told_as_the_worst_loss(monkeypatch):
    told: list[float] = []
    losses = iter([None, 0.5, 3.0, None])

    class Listener:
        def ask(self):
            return {"C": 1.0, "intercept_scaling": 1.0}

        def tell(self, point, loss):
            told.append(loss)

    monkeypatch.setattr(units, "make_optimizer", lambda *settings: Listener())
    monkeypatch.setattr(units, "evaluate", lambda task, point: Evaluation(next(losses)))
    unit = next(plan_for("random", calls=4).units())
    assert [record.loss for record in units.play(unit, 0)] == [None, 0.5, 3.0, None]
    assert told == [loss_of_frequencies(unit.task), 0.5, 3.0, 3.0]


def test_only_what_is_complete_is_in_the_tables(tmp_path):
    plan = plan_for("random", sets=("iris", "wine"))
    all_but_one = list(plan.units())[:-1]
    records = {u.name: [Record({}, 1.0 / (c + 2)) for c in u.calls] for u in all_but_one}
    found = collect(plan, records)
    assert [one.task.name for one in found] == ["lasso-iris"]
    assert len(reward_rows(plan, found)) == 1
    measure(plan_for("random"), tmp_path)
    assert measure_tables(plan, tmp_path, None, as_json=True)
    assert len(rows_of(tmp_path / "losses.csv")) == 1


def test_an_unknown_optimizer_stops_everything(tmp_path):
    with pytest.raises(PickbestError, match="did you mean 'random'"):
        measure(plan_for("randon"), tmp_path)
    with pytest.raises(PickbestError, match="cannot be imported"):
        measure(plan_for("measured_optimizers:Nobody"), tmp_path)


def test_degenerate_tasks_are_listed_and_left_out(tmp_path):
    plan = plan_for("random", sets=("iris", "wine"))
    records = {
        unit.name: [
            Record({}, 0.5 if unit.task.dataset == "iris" else 1.0 / (call + 1))
            for call in unit.calls
        ]
        for unit in plan.units()
    }
    write_tables(plan, records, tmp_path)
    assert [row["task"] for row in rows_of(tmp_path / "rewards.csv")] == ["lasso-wine"]
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
