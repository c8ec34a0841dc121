"""`pickbest feasible`: models and tables from disk, verdicts as exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz
from typer.testing import CliRunner

from pickbest.cli.main import app
from pickbest.core import PickbestError
from pickbest.feasibility import read_model
from pickbest.feasibility.models import read_files

MODEL = """Maximize
 obj: 3 x + 2 y + 1
Subject To
 c1: x + y <= 4
 c2: x + 3 y <= 6
 c3: x - y >= -1
 e: x + 2 z = 3
Bounds
 0 <= x <= 3
 0 <= y <= 5
 0 <= z <= 2
End
"""
FREE_MPS = """NAME          FREE
ROWS
 N  COST
 G  LIM1
 L  LIM2
COLUMNS
    X         COST      1.0   LIM1      1.0
    X         LIM2      1.0
    Y         LIM1      1.0
RHS
    RHS       LIM1      1.0   LIM2      4.0
RANGES
    RNG       LIM2      2.0
BOUNDS
 FR BND       X
 UP BND       Y         1.0
ENDATA
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "problem.lp"
    path.write_text(MODEL)
    return path


@pytest.fixture
def tables(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "A.csv", tmp_path / "b.csv"]
    paths[0].write_text("1,1\n-1,0\n")
    paths[1].write_text("1.5\n-0.8\n")
    return paths


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["feasible", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def test_model_becomes_rows_and_a_box(model: Path) -> None:
    problem = read_model(model)
    assert problem.A.shape == (5, 3)
    assert problem.variables == ("x", "y", "z")
    assert set(problem.constraints) == {
        "c1 (at most)",
        "c2 (at most)",
        "c3 (at least)",
        "e (at least)",
        "e (at most)",
    }
    slack = problem.A @ np.array([3.0, 1.0, 0.0]) - problem.b
    assert slack.min() == pytest.approx(0.0)
    targeted = read_model(model, target=12.0)
    assert targeted.constraints.count("objective (at least)") == 1
    assert (targeted.A @ np.array([3.0, 1.0, 0.0]) - targeted.b).min() == pytest.approx(0.0)


def test_mps_with_ranges_and_free_variables(tmp_path: Path) -> None:
    path = tmp_path / "free.mps"
    path.write_text(FREE_MPS)
    with pytest.raises(PickbestError, match="variable X has no finite bounds"):
        read_model(path)
    problem = read_model(path, bound=10.0, target=3.0)
    assert sorted(zip(problem.constraints, problem.b.tolist(), strict=True)) == [
        ("LIM1 (at least)", 1.0),
        ("LIM2 (at least)", 2.0),
        ("LIM2 (at most)", -4.0),
        ("objective (at most)", -3.0),
    ]


def test_exit_codes_say_the_verdict(model: Path) -> None:
    code, text = run(model, "-e", 0.01, "--target", 12, "-b", 2)
    assert code == 0
    assert "feasible" in text
    code, text = run(model, "-e", 0.01, "--target", 16)
    assert code == 3
    assert "infeasible" in text
    assert "objective (at least)" in text
    code, text = run(model, "-e", 0.0001, "--target", 11.9999, "--max-calls", 2)
    assert code == 4
    assert "undecided" in text


def test_json_of_tables(tables: list[Path]) -> None:
    code, text = run(*tables, "-e", 0.01, "--json")
    summary = json.loads(text)
    assert code == summary["exit_code"] == 0
    assert summary["status"] == "feasible"
    assert sum(summary["x"].values()) >= 1.49
    code, text = run(*tables, "--box", 0, 0.7, "--json", "-b", 2)
    summary = json.loads(text)
    assert code == 3
    assert summary["certificate"]["value"] < 0
    assert summary["certificate"]["multipliers"]["row 1"] > 0


def test_arrays_and_sets(tables: list[Path], tmp_path: Path) -> None:
    matrix, bounds = np.array([[1.0, 1.0], [-1.0, 0.0]]), np.array([1.5, -0.8])
    np.save(tmp_path / "A.npy", matrix)
    np.save(tmp_path / "b.npy", bounds)
    save_npz(tmp_path / "A.npz", csr_array(matrix))
    for name in ("A.npy", "A.npz"):
        read = read_files([tmp_path / name, tmp_path / "b.npy"])
        np.testing.assert_array_equal(read.A @ np.eye(2), matrix)
        np.testing.assert_array_equal(read.b, bounds)
    assert run(tmp_path / "A.npz", tmp_path / "b.npy", "-b", 2)[0] == 0
    assert run(*tables, "--box", -1, 0.5)[0] == 3
    assert read_files(tables).convex.dimension == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["A.csv"], "one model"),
        (["A.csv", "b.csv", "--target", "1"], "for models"),
        (["problem.lp", "--box", "0", "1"], "for A and b"),
        (["missing.mps"], "no such file"),
        (["A.csv", "missing.csv"], "no such file"),
        (["A.csv", "b.txt"], "no such file"),
        (["words.csv", "b.csv"], "must hold numbers"),
        (["broken.mps"], "cannot read"),
        (["problem.lp", "--bound", "-1"], "bound must be"),
    ],
)
def test_bad_input(
    arguments: list[str],
    says: str,
    model: Path,
    tables: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("words.csv").write_text("a,b\n1,2\n")
    Path("broken.mps").write_text("this is no model\n")
    with pytest.raises(PickbestError, match=says):
        run(*arguments)


BEYOND = """Maximize
 obj: x
Subject To
 c1: x - y >= 0
 c2: x >= 150
 c3: y >= 1
Bounds
 0 <= x
 0 <= y <= 5
End
"""


def test_a_bound_that_cuts_is_named(tmp_path: Path) -> None:
    path = tmp_path / "beyond.lp"
    path.write_text(BEYOND)
    for budget in (1, 2):
        options = (path, "--budget", budget, "--bound")
        code, text = run(*options, 100, "--json")
        told = json.loads(text)
        assert (code, told["bound"], told["needs_bound_of"]) == (3, 100.0, ["x"])
        assert "infeasible within --bound 100" in " ".join(run(*options, 100)[1].split())
        code, text = run(*options, 200, "--json")
        assert (code, json.loads(text)["needs_bound_of"]) == (0, [])


def test_infeasible_whatever_the_bound(tmp_path: Path) -> None:
    path = tmp_path / "never.lp"
    path.write_text("Minimize\n o: x\nSubject To\n c: y >= 6\nBounds\n y <= 5\n x free\nEnd\n")
    code, text = run(path, "--bound", 1000, "--json")
    assert (code, json.loads(text)["needs_bound_of"]) == (3, [])
