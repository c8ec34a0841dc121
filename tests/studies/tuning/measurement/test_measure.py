"""Measuring: resumable to the single evaluation, the same bytes, clean ends."""

import csv
import json
import os
import platform
import random
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
from studies.tuning.measurement.journal import Record, Records, open_journal, read_journal
from studies.tuning.measurement.loop import measure
from studies.tuning.measurement.plan import Settings, make_plan
from studies.tuning.measurement.processes import PINNED
from studies.tuning.measurement.tables import collect, reward_rows, write_tables
from studies.tuning.tasks import Caps, Evaluation
from studies.tuning.tasks.task import loss_of_frequencies

pytestmark = pytest.mark.slow
pytest.importorskip("sklearn")

HERE = Path(__file__).parent
TABLES = ("losses.csv", "pool.csv", "rewards.csv", "tasks.csv", "provenance.json")
ROOT = HERE.parents[3]


@pytest.fixture(autouse=True)
def _own_optimizers(monkeypatch):
    """Workers find the optimizers of these tests."""
    monkeypatch.setenv("PYTHONPATH", f"{HERE}{os.pathsep}{ROOT}")


def plan_for(*optimizers: str, calls=3, pool=4, sets=("iris",), models=("lasso",), **more):
    settings = Settings(optimizers, calls, pool, **more)
    return make_plan(settings, list(sets), list(models))


def measured(plan, folder, **options):
    journal = measure(plan, folder, **options)
    write_tables(plan, journal.records, folder)
    return {name: (folder / name).read_bytes() for name in TABLES}


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def command(folder: Path, *options: str) -> subprocess.Popen[str]:
    settings = ["--tasks", "iris", "--optimizers", "random,measured_optimizers:Honest"]
    settings += ["--calls", "12", "--pool", "12", "--workers", "2", "--out", str(folder)]
    return subprocess.Popen(
        [sys.executable, "-m", "studies", "measure", *settings, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def records_of(folder: Path) -> Records:
    lines = map(json.loads, (folder / "journal.jsonl").read_text().splitlines())
    return read_journal(folder, next(lines)["fixed"], {})


def evaluations(folder: Path) -> int:
    journal = folder / "journal.jsonl"
    return journal.read_bytes().count(b'"loss"') if journal.exists() else 0


def wait_for(folder: Path, count: int, running: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while evaluations(folder) < count and running.poll() is None:
        assert time.monotonic() < deadline, "the measurement does not get on"
        time.sleep(0.02)


def workers_of(pid: int) -> list[str]:
    """Command lines of living worker processes that a measurer has started."""
    listed = subprocess.run(
        ["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    )
    rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
    own = {row[0] for row in rows if row[1] == str(pid)}
    return [row[2] for row in rows if row[0] in own or row[1] in own]


def test_three_kills_leave_the_same_bytes(tmp_path):
    running = command(tmp_path / "whole")
    out, errors = running.communicate(timeout=120)
    assert running.returncode == 0, errors
    assert "2 of 2 tasks complete" in out
    rng = random.Random(5)
    for stretch in (1, 16, 32):
        running = command(tmp_path / "killed")
        wait_for(tmp_path / "killed", stretch + rng.randrange(16), running)
        time.sleep(rng.uniform(0, 0.2))
        running.kill()
        running.communicate()
    before = evaluations(tmp_path / "killed")
    assert 0 < before < 72
    with (tmp_path / "killed" / "journal.jsonl").open("ab") as file:
        file.write(b'{"unit": "lasso-iris/random/0", "ca')
    running = command(tmp_path / "killed")
    _, errors = running.communicate(timeout=120)
    assert running.returncode == 0, errors
    for name in TABLES:
        same = (tmp_path / "whole" / name).read_bytes() == (tmp_path / "killed" / name).read_bytes()
        assert same, name


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_all_processes_and_says_how_to_go_on(tmp_path, number):
    running = command(tmp_path, "--models", "mlp")
    wait_for(tmp_path, 2, running)
    assert workers_of(running.pid)
    running.send_signal(number)
    _, errors = running.communicate(timeout=30)
    assert running.returncode == 130, errors
    assert "the same command goes on" in errors
    assert not workers_of(running.pid)
    assert (tmp_path / "rewards.csv").exists()


def test_a_killed_measurer_leaves_no_process(tmp_path):
    running = command(tmp_path, "--models", "mlp")
    wait_for(tmp_path, 2, running)
    pids = [int(line) for line in _children(running.pid)]
    assert pids
    running.kill()
    running.communicate()
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _children(pid: int) -> list[str]:
    listed = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return listed.stdout.split()


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
    assert provenance["versions"]["scikit-learn"]
    assert provenance["environment"]["OPENBLAS_CORETYPE"] == "Haswell"
    assert provenance["tasks"] == {"planned": 2, "complete": 2, "degenerate": []}
    assert json.loads((tmp_path / "timings.json").read_text())["seconds"].keys() == {
        "mlp-iris",
        "lasso-iris",
    }


def test_a_measurement_can_grow(tmp_path):
    measured(plan_for("random"), tmp_path)
    grown = plan_for("random", "measured_optimizers:Honest", pool=6, repetitions=2)
    files = measured(grown, tmp_path)
    assert files == measured(grown, tmp_path / "fresh")
    names = [row["task"] for row in rows_of(tmp_path / "rewards.csv")]
    assert names == ["lasso-iris#1", "lasso-iris#2"]


def test_the_environment_of_the_measurer_does_not_matter(tmp_path, monkeypatch):
    plan = plan_for("random", calls=2, pool=2, sets=("wine",), models=("mlp",))
    files = measured(plan, tmp_path / "one")
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Nehalem")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert measured(plan, tmp_path / "two") == files


@pytest.mark.skipif(platform.machine() != "x86_64", reason="about x86-64 instructions")
def test_every_wide_instruction_set_of_numpy_is_disabled():
    from numpy._core._multiarray_umath import __cpu_dispatch__

    wide = {name for name in __cpu_dispatch__ if name not in {"X86_V2", "X86_V3"}}
    assert set(PINNED["NPY_DISABLE_CPU_FEATURES"].split()) == wide


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": 1}, "seed 0, and now it is 1"),
        ({"calls": 2}, "calls 3, and now it is 2"),
        ({"caps": Caps(50, 3)}, "caps"),
    ],
)
def test_other_settings_are_refused(tmp_path, changed, message):
    plan = plan_for("random")
    open_journal(tmp_path, plan.settings.fixed(), {}).close()
    with pytest.raises(PickbestError, match=message):
        measure(plan_for("random", **changed), tmp_path)


def test_other_versions_and_data_are_refused(tmp_path):
    fixed = plan_for("random").settings.fixed()
    open_journal(tmp_path, fixed, {"iris": "old"}).close()
    with pytest.raises(PickbestError, match="'iris' has changed"):
        open_journal(tmp_path, fixed, {"iris": "new"})
    newer = {**fixed, "versions": {**fixed["versions"], "numpy": "99.0"}}
    with pytest.raises(PickbestError, match=r"now it is 99\.0"):
        open_journal(tmp_path, newer, {})


def test_one_measurer_at_a_time(tmp_path):
    fixed = plan_for("random").settings.fixed()
    journal = open_journal(tmp_path, fixed, {})
    with pytest.raises(PickbestError, match="another process"):
        open_journal(tmp_path, fixed, {})
    journal.close()
    open_journal(tmp_path, fixed, {}).close()


def test_a_torn_line_is_dropped_and_a_broken_one_is_an_error(tmp_path):
    fixed = plan_for("random").settings.fixed()
    journal = open_journal(tmp_path, fixed, {})
    journal.append("a/random/0", 0, Record({"C": 0.1}, 0.25))
    journal.close()
    path = tmp_path / "journal.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"unit": "a/ran')
    again = open_journal(tmp_path, fixed, {})
    assert again.records == {"a/random/0": {0: Record({"C": 0.1}, 0.25)}}
    again.close()
    assert path.read_bytes() == whole
    path.write_bytes(whole + b"{nonsense}\n" + whole)
    with pytest.raises(PickbestError, match="line 3"):
        read_journal(tmp_path, fixed, {})


def test_a_run_that_asks_otherwise_starts_again(tmp_path):
    plan = plan_for("measured_optimizers:Fickle", calls=4)
    journal = open_journal(tmp_path, plan.settings.fixed(), {})
    journal.append("lasso-iris/measured_optimizers:Fickle/0", 0, Record({"C": 0.5}, 0.1))
    journal.close()
    said: list[str] = []
    journal = measure(plan, tmp_path, warn=said.append)
    assert "another point than before at call 1" in said[0]
    records = journal.records["lasso-iris/measured_optimizers:Fickle/0"]
    assert sorted(records) == [0, 1, 2, 3]
    assert records[0].loss != 0.1


def test_an_optimizer_that_fails_is_recorded(tmp_path):
    measured(plan_for("measured_optimizers:Tired", calls=4), tmp_path)
    (row,) = rows_of(tmp_path / "losses.csv")
    assert row["2"] != ""
    assert (row["3"], row["4"]) == ("", "")
    assert rows_of(tmp_path / "tasks.csv")[0]["failures"] == "2"
    records = records_of(tmp_path)["lasso-iris/measured_optimizers:Tired/0"]
    assert records[3].reason == "optimizer: RuntimeError: no idea"


def test_a_process_that_dies_thrice_is_a_failure(tmp_path):
    said: list[str] = []
    plan = plan_for("measured_optimizers:Deadly", calls=4)
    measure(plan, tmp_path, warn=said.append)
    assert len(said) == 3
    records = records_of(tmp_path)["lasso-iris/measured_optimizers:Deadly/0"]
    assert records[0].loss is not None
    assert all("process died (SIGKILL)" in records[call].reason for call in (1, 2, 3))


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
    messages = list(units.play_run(unit, 0, {}))
    assert [message["loss"] for message in messages if "call" in message] == [None, 0.5, 3.0, None]
    assert told == [loss_of_frequencies(unit.task), 0.5, 3.0, 3.0]


def test_only_what_is_complete_can_be_written_from_a_journal(tmp_path):
    plan = plan_for("random")
    measure(plan, tmp_path)
    assert measure_tables(plan, tmp_path, None, as_json=True)
    assert len(rows_of(tmp_path / "losses.csv")) == 1
    with pytest.raises(PickbestError, match="seed"):
        measure_tables(plan_for("random", seed=3), tmp_path, None, as_json=True)


def test_an_unknown_optimizer_stops_everything(tmp_path):
    with pytest.raises(PickbestError, match="did you mean 'random'"):
        measure(plan_for("randon"), tmp_path)
    with pytest.raises(PickbestError, match="cannot be imported"):
        measure(plan_for("measured_optimizers:Nobody"), tmp_path)


def test_degenerate_tasks_are_listed_and_left_out(tmp_path):
    plan = plan_for("random", sets=("iris", "wine"))
    records = {
        unit.name: {
            call: Record({}, 0.5 if unit.task.dataset == "iris" else 1.0 / (call + 1))
            for call in unit.calls
        }
        for unit in plan.units()
    }
    write_tables(plan, records, tmp_path)
    assert [row["task"] for row in rows_of(tmp_path / "rewards.csv")] == ["lasso-wine"]
    provenance = json.loads((tmp_path / "provenance.json").read_text())
    assert provenance["tasks"]["degenerate"] == ["lasso-iris"]


def test_tasks_that_are_not_complete_are_not_in_the_tables():
    plan = plan_for("random", sets=("iris", "wine"))
    all_but_one = list(plan.units())[:-1]
    records = {u.name: {c: Record({}, 1.0 / (c + 2)) for c in u.calls} for u in all_but_one}
    found = collect(plan, records)
    assert [one.task.name for one in found] == ["lasso-iris"]
    assert len(reward_rows(plan, found)) == 1


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
