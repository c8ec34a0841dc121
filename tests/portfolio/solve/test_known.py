"""The table of solvers, held against the solvers themselves."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pickbest.portfolio.solve import known
from pickbest.portfolio.solve.known import DIMACS, SMTLIB, SOLVERS, Solver, located, takes
from tests.portfolio.solve.conftest import SAT_CNF, SAT_SMT, UNSAT_CNF, UNSAT_SMT

HERE = [(solver, located(solver, known.places())) for solver in SOLVERS]
REAL = [pytest.param(solver, id=solver.name) for solver, found in HERE if found]
MODULES = [solver for solver in SOLVERS if solver.module]


def run(solver: Solver, path: Path, **asked: bool) -> tuple[str, int]:
    found = located(solver, known.places(), **asked)
    assert found is not None
    done = subprocess.run(
        found.on(str(path)), capture_output=True, text=True, check=False, timeout=60
    )
    return done.stdout, done.returncode


@pytest.mark.parametrize("solver", [each for each in REAL if each.values[0].format == SMTLIB])
def test_smt_solvers_answer_twice(solver: Solver, tmp_path: Path) -> None:
    if not takes(solver, "QF_BV"):
        pytest.skip("a solver of strings")
    path = tmp_path / "a.smt2"
    path.write_text(UNSAT_SMT.replace("(assert (d", "(check-sat)\n(push 1)\n(assert (d"))
    said, _ = run(solver, path, incremental=True)
    if solver.name == "boolector" and "sat" not in said.split():
        pytest.skip("Boolector before 2.0 is not incremental in SMT-LIB 2")
    assert said.split() == ["sat", "unsat"]


@pytest.mark.parametrize("solver", MODULES, ids=lambda solver: solver.module)
def test_modules_stand_in_for_programs(
    solver: Solver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = solver.module.partition(":")[0]
    if not known.has_module(module):
        pytest.skip(f"{module} is not installed (extra: solvers)")
    monkeypatch.setattr(known, "places", lambda: [str(tmp_path)])
    path = tmp_path / ("a.cnf" if solver.format == DIMACS else "a.smt2")
    found = located(solver, [str(tmp_path)])
    assert found is not None
    assert known.RUNNER in found.argv
    smt = solver.format == SMTLIB
    for text, expected in (
        (SAT_SMT if smt else SAT_CNF, ("sat", 0) if smt else ("s SATISFIABLE", 10)),
        (UNSAT_SMT if smt else UNSAT_CNF, ("unsat", 0) if smt else ("s UNSATISFIABLE", 20)),
    ):
        path.write_text(text)
        said, code = run(solver, path)
        assert (said.splitlines()[0], code) == expected


@pytest.mark.parametrize(
    ("logic", "who", "not_who"),
    [
        ("QF_ABV", {"z3", "cvc5", "cvc4", "yices", "bitwuzla", "boolector"}, {"opensmt"}),
        ("QF_UFLRA", {"z3", "yices", "opensmt", "mathsat"}, {"bitwuzla", "boolector"}),
        ("UFLIA", {"z3", "cvc5", "cvc4"}, {"yices", "opensmt", "bitwuzla"}),
        ("QF_SLIA", {"z3", "cvc5", "cvc4"}, {"yices", "bitwuzla"}),
        ("QF_FP", {"z3", "bitwuzla"}, {"yices", "boolector"}),
        ("ALL", {"z3", "cvc5", "cvc4", "mathsat"}, {"yices", "bitwuzla", "boolector", "opensmt"}),
    ],
)
def test_logics_are_given_to_solvers_that_take_them(
    logic: str, who: set[str], not_who: set[str]
) -> None:
    found = {solver.name for solver in SOLVERS if solver.format == SMTLIB and takes(solver, logic)}
    assert who <= found
    assert not not_who & found
    names = [solver.name for solver in SOLVERS if solver.format == SMTLIB and takes(solver, logic)]
    assert len(names) == len(set(names))
