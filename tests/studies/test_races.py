"""The study of races: rows are kept, and say what they should."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from studies.__main__ import app
from studies.races import RULES

RUNNER = CliRunner()


@pytest.fixture
def runtimes(tmp_path):
    """Three solvers, each quick on a third of the problems; nobody solves the last one."""
    rng = np.random.default_rng(0)
    rows = ["problem,a,b,c"]
    for k in range(30):
        seconds = [rng.uniform(1, 5) if k % 3 == arm else rng.uniform(50, 90) for arm in range(3)]
        rows.append(",".join([f"p{k}", *(f"{one:.2f}" for one in seconds)]))
    (tmp_path / "few.csv").write_text("\n".join([*rows, "p30,,,"]) + "\n")
    return tmp_path / "few.csv"


def played(*words):
    result = RUNNER.invoke(app, ["races", *map(str, words), "--json"], catch_exceptions=False)
    return json.loads(result.stdout)["rows"]


def test_rules_are_compared_and_kept(runtimes, tmp_path):
    out = tmp_path / "rows.jsonl"
    options = ("--out", out, "--rounds", 30, "-r", 2, "--deadline", 100, "--costs", "runtime")
    rows = played("censoring", runtimes, *options)
    assert [row["rule"] for row in rows] == list(RULES)
    assert all(row["share"] == pytest.approx(np.mean(row["shares"])) for row in rows)
    # Whoever lets every run finish uses more of the processor than a race.
    assert rows[0]["cpu"] > rows[4]["cpu"]
    before = out.read_bytes()
    assert played("censoring", runtimes, *options) == rows
    assert out.read_bytes() == before
    shown = RUNNER.invoke(app, ["races", "censoring", str(runtimes), *map(str, options)])
    assert "worse than random" in shown.stdout


def test_prices_pay_for_processor_time(runtimes, tmp_path):
    options = ("--out", tmp_path / "prices.jsonl", "--rounds", 20, "-r", 2, "--deadline", 100)
    rows = played("prices", runtimes, *options, "--costs", "solved")
    by_rule = {(row["rule"], row["price"]): row for row in rows}
    for budget in (1, 2, 3):
        free, dear = (by_rule[f"auto, B = {budget}", price] for price in (0.0, 1.0))
        assert dear["total"] == pytest.approx(free["total"] + free["cpu"])
    assert ("schedules", 1.0) in by_rule


def test_errors_are_clear(runtimes):
    for words, message in (
        (["sensoring", str(runtimes), "--out", "x"], "unknown study 'sensoring'"),
    ):
        result = RUNNER.invoke(app, ["races", *words])
        assert message in str(result.exception)
