"""The example that tunes a queue of jobs with two optimizers each."""

import importlib.util
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
pytest.importorskip("sklearn")
pytest.importorskip("matplotlib")

EXAMPLE = Path(__file__).parents[2] / "examples" / "tune_many.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("example_tune_many", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(example, monkeypatch, capsys, *options):
    monkeypatch.setattr(sys, "argv", ["tune_many", *options])
    example.main()
    return capsys.readouterr().out


def test_live_jobs_run_and_are_drawn(example, monkeypatch, capsys, tmp_path):
    plot = tmp_path / "plot.png"
    options = ["--jobs", "2", "--calls", "3", "--optimizers", "random,optuna-qmc,cmaes"]
    options += ["--always", "random,optuna-qmc", "--plot", str(plot)]
    printed = run(example, monkeypatch, capsys, *options)
    assert "pickbest" in printed
    assert "always random + optuna-qmc" in printed
    assert plot.stat().st_size > 10_000


def test_every_pair_is_compared_on_a_table(example, monkeypatch, capsys, tmp_path):
    folder = tmp_path / "table"
    folder.mkdir()
    header = "task,optimizer,repetition,1,2\n"
    rows = [
        f"job{k},{name},1,{0.5 + place},{0.2 + place + k}\n"
        for k in range(8)
        for place, name in enumerate("abc")
    ]
    (folder / "losses.csv").write_text(header + "".join(rows))
    monkeypatch.setattr(example, "GAMES", 2)
    options = ["--table", str(folder), "--plot", str(tmp_path / "plot.png")]
    printed = run(example, monkeypatch, capsys, *options)
    assert "always a + b" in printed
    assert "always b + c" in printed
    assert "random pairs" in printed


def test_the_shipped_table_is_the_default_of_a_replay(example):
    losses = example.read_losses("")
    assert len(losses) >= 240
    assert all(len(runs) == 9 for runs in losses.values())
