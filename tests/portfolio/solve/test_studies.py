"""The studies of examples/: problems that solvers understand, races replayed as they would be."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from pickbest.portfolio import Run, RunStatus
from pickbest.portfolio.runs import Task
from pickbest.portfolio.solve.known import DIMACS, SMTLIB, places, which

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="module")
def study() -> Iterator[ModuleType]:
    sys.path.insert(0, str(EXAMPLES))
    try:
        yield import_module("solver_study")
    finally:
        sys.path.remove(str(EXAMPLES))


@pytest.fixture
def replayed(study: ModuleType) -> ModuleType:
    return sys.modules["replayed"]


def write(path: Path, solvers: str, rows: list[str]) -> Path:
    path.write_text("\n".join([f"problem,group,verdict,{solvers}", *rows]) + "\n")
    return path


@pytest.mark.skipif(which("z3", places()) is None, reason="z3 is not installed")
def test_problems_are_understood(study: ModuleType, tmp_path: Path) -> None:
    seen: set[str] = set()
    for name, text in study.STUDIES["smt"].stream(80, 1):
        if study.group_of(name) in seen:
            continue
        seen.add(study.group_of(name))
        path = tmp_path / "problem.smt2"
        path.write_text(text)
        said = subprocess.run(
            [str(which("z3", places())), "-T:1", path], capture_output=True, text=True, check=False
        ).stdout
        assert said.split()[0] in ("sat", "unsat", "unknown", "timeout"), said
    assert len(seen) == 10
    assert study.STUDIES["smt"].stream(5, 1) == study.STUDIES["smt"].stream(5, 1)
    assert all(text.startswith("p cnf ") for _, text in study.STUDIES["sat"].stream(3, 1))


@pytest.mark.parametrize(("name", "groups"), [("smt", 10), ("sat", 5)])
def test_what_was_measured_is_here(study: ModuleType, name: str, groups: int) -> None:
    measured = study.rows(study.STUDIES[name].runtimes)
    assert [row["problem"] for row in measured] == sorted(
        name for name, _ in study.STUDIES[name].stream(300, 1)
    )
    assert len({row["group"] for row in measured}) == groups
    solvers = list(measured[0])[3:]
    assert tuple(solvers) == study.STUDIES[name].solvers
    for solver in solvers:
        assert any(row[solver] for row in measured)


def test_a_run_is_measured(study: ModuleType) -> None:
    verdict, cpu, _ = study.run([sys.executable, "-c", "print('s UNSATISFIABLE')"], 5.0)
    assert verdict == "unsat"
    assert cpu < 5.0
    assert study.run([sys.executable, "-c", "print('sat')"], 5.0)[0] == "sat"
    assert study.run([sys.executable, "-c", "print('unknown')"], 5.0)[0] == ""
    verdict, cpu, _ = study.run([sys.executable, "-c", "print('sat')\nwhile 1: 0"], 1.0)
    assert verdict == ""
    assert 0.8 < cpu < 1.5


def test_contradictions_are_no_table(study: ModuleType) -> None:
    rows = [
        dict(zip(study.COLUMNS, ("000-QF_BV", solver, verdict, "0.1", "0.1"), strict=True))
        for solver, verdict in (("z3", "sat"), ("cvc5", "unsat"))
    ]
    with pytest.raises(SystemExit, match="contradict each other about 000-QF_BV"):
        study.write_table(study.STUDIES["smt"], rows)


def test_races_are_replayed(replayed: ModuleType, tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "z3,cvc5,cvc4", ["p,UFLIA,sat,0.5,0.25,"])
    engine = replayed.Recorded(replayed.Measured.read(path, SMTLIB, 2.0))
    tasks = [Task(name, 2.0, argv=(name, "p")) for name in ("z3", "cvc5", "cvc4")]
    heard: list[Run] = []

    def ends(run: Run) -> bool:
        heard.append(run)
        return run.status is RunStatus.FINISHED

    runs = engine.race(tasks, ends, lambda: False)
    assert [run.arm for run in runs] == ["z3", "cvc5", "cvc4"]
    assert [run.arm for run in heard] == ["cvc5", "z3", "cvc4"]
    assert [(run.status, run.seconds) for run in runs] == [
        (RunStatus.STOPPED, 0.25),
        (RunStatus.FINISHED, 0.25),
        (RunStatus.STOPPED, 0.25),
    ]
    alone = engine.race(tasks[2:], ends, lambda: False)
    assert [(run.status, run.seconds) for run in alone] == [(RunStatus.TIMEOUT, 2.0)]


def test_reports_say_who_is_ahead(replayed: ModuleType, tmp_path: Path) -> None:
    """A pair that is always best is found; where all are alike, nothing is beaten."""
    better = [f"{n},x,sat,{0.1 + n % 2},{1.1 - n % 2},1.5,1.5,1.5" for n in range(60)]
    path = write(tmp_path / "t.csv", "cadical,kissat,minisat,picosat,clasp", better)
    table = replayed.Measured.read(path, DIMACS, 2.0)
    assert table.takes.all()
    ways = replayed.ways(table)
    names = [way.name for way in ways]
    assert names[0] == "`pickbest solve`"
    assert "best pair in hindsight: cadical + kissat" in names
    assert np.isclose(ways[-1].seconds.sum(axis=1), 6.0).all()
    text = replayed.report(table, ways, "x")
    assert "beats average single solver" in text
    assert "beats random pairs" in text
    assert "not within 10 %" in text  # sixty rounds are few
    alike = [f"{n},x,sat,1,1,1" for n in range(20)]
    table = replayed.Measured.read(write(path, "cadical,kissat,clasp", alike), DIMACS, 2.0)
    said = replayed.report(table, replayed.ways(table), "x")
    assert "is level with random pairs" in said
    assert "within 10 % of the best pair in hindsight: +0.0%" in said
