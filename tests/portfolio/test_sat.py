"""SAT solvers as arms, and the example that runs them on mixed families."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

pytest.importorskip("pysat", reason="PySAT is not installed (extra: sat)")

from pysat.formula import CNF

from pickbest.core import PickbestError
from pickbest.portfolio import Portfolio, sat_solver
from pickbest.portfolio.run.answers.dimacs import read_dimacs, solve_by_pysat as solve
from pickbest.portfolio.run.portfolio_file import read_portfolio_file

EXAMPLE = Path(__file__).parents[2] / "examples" / "sat_portfolio"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    """examples/sat_portfolio/run.py as a module."""
    sys.path.insert(0, str(EXAMPLE))
    try:
        spec = importlib.util.spec_from_file_location("sat_portfolio_run", EXAMPLE / "run.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(EXAMPLE))
    return module


def test_solvers_answer_and_models_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "small.cnf"
    CNF(from_clauses=[[1, -2], [2], [-1, 3]]).to_file(str(path), comments=["c small"])
    assert read_dimacs(path) == [[1, -2], [2], [-1, 3]]
    assert solve([[1], [-1]], "minisat22") == ("UNSAT", None)
    arms = {name: sat_solver(name) for name in ("cadical195", "glucose4", "minisat22")}
    with Portfolio(arms, 3, 30.0, stop="deadline", cost="runtime") as portfolio:
        result = portfolio.solve(str(path))
        assert {run.answer[0] for run in result.runs} == {"SAT"}
        assert portfolio.history()[0].answer == list(result.answer)
        assert {(run.verdict, run.checked) for run in result.runs} == {("SAT", True)}
        with pytest.raises(PickbestError, match=r"none\.cnf: there is no such file"):
            portfolio.solve(str(tmp_path / "none.cnf"))


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("c a clause may span lines\np cnf 3 2\n1 -2\n3 0 -1\n0\n", [[1, -2, 3], [-1]]),
        ("p cnf 2 1\n1 2 0\n%\n0\n", [[1, 2]]),
        ("p cnf 2 2\n1 0 -2 0\n", [[1], [-2]]),
        ("p cnf 2 1\n1 2", [[1, 2]]),
        ("p cnf 1 1\n0\n", [[]]),
        ("p cnf 0 0\n", []),
    ],
)
def test_all_that_dimacs_allows_is_read(tmp_path: Path, text: str, clauses: object) -> None:
    path = tmp_path / "formula.cnf"
    path.write_text(text)
    assert read_dimacs(path) == clauses


def test_bad_names_and_files(tmp_path: Path) -> None:
    with pytest.raises(PickbestError, match="did you mean 'cadical195'"):
        sat_solver("cadical196")
    path = tmp_path / "bad.cnf"
    path.write_text("p cnf 2 1\n1 two 0\n")
    with pytest.raises(PickbestError, match="not a line of DIMACS"):
        read_dimacs(path)
    file = tmp_path / "portfolio.toml"
    file.write_text('budget = 1\ndeadline = 5\n[arms.x]\nsat = "cadical195"\n')
    assert repr(read_portfolio_file(file).arms["x"]) == repr(sat_solver("cadical195"))


def test_the_example_runs_live_and_reports(
    example: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    solvers = ["cadical195", "minisat22", "glucose4"]
    problems = example.write_problems(tmp_path / "problems", 4, seed=8)
    lives = {"thompson": example.run_live(problems, solvers, 0.5, tmp_path / "r.db", "thompson")}
    seconds = example.run_offline(problems, solvers, 0.5, lives)
    assert seconds.shape == (4, 3)
    assert np.all((seconds < 0.6) | np.isinf(seconds))
    text = example.report(lives, seconds, solvers, 0.5)
    for words in ("portfolio, thompson, live", "random pairs", "best pair in hindsight", "alone"):
        assert words in text
    example.write_runtimes(tmp_path / "runtimes.csv", problems, solvers, seconds)
    assert len((tmp_path / "runtimes.csv").read_text().splitlines()) == 5
