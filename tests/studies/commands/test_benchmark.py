"""`benchmark` from end to end."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from pickbest.core import PickbestError
from studies.commands.benchmark import benchmark


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> typer.Typer:
    monkeypatch.delenv("PICKBEST_DATA", raising=False)
    built = typer.Typer()
    built.command()(benchmark)
    return built


def test_small_benchmark(app: typer.Typer, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = [
        "--environments", "paper-rewards", "--environments", "chasing-5", "-b", "1-2", "-r", "6",
        "-l", "fpml-partial as run", "-l", "uniform", "-l", "exp3",
        "--out", str(out), "--json",
    ]  # fmt: skip
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    found = json.loads(result.stdout)
    assert found["cells"] == 15
    assert {row["learner"] for row in found["learners"]} == {"fpml-partial as run", "uniform"}
    page = (out / "report.html").read_text()
    assert (out / "figures" / "share-by-budget.svg").exists()
    assert "http" not in page.replace("http://www.w3.org", "")
    for text in ("paper-rewards", "paired by"):
        assert text in page
    assert "pickbest reproduce" not in page
    assert "Learners that play every budget" in (out / "report.html").read_text()
    with (out / "cells.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 15
    reacts = [row for row in rows if row["environment"] == "chasing-5"]
    assert all(row["share"] == "" and row["reward"] for row in reacts)
    for row in rows:
        if row["share"]:
            gap = float(row["best"]) - float(row["random"])
            share = (float(row["reward"]) - float(row["random"])) / gap
            assert float(row["share"]) == pytest.approx(share)
    again = CliRunner().invoke(app, words[:-1], catch_exceptions=False)
    assert "15 cells" in again.stdout
    assert (out / "report.html").read_text() == page


def test_errors_are_clear(app: typer.Typer, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for words, message in (
        (["--learners", "thomson"], "unknown learner 'thomson'"),
        (["--environments", "task1"], "unknown environment 'task1'"),
        (["--budgets", "0"], "budgets must be"),
        (["--data", str(tmp_path)], "aslib"),
    ):
        result = CliRunner().invoke(app, [*words, "--out", str(out)])
        assert isinstance(result.exception, PickbestError)
        assert message in str(result.exception)
    assert not out.exists()
