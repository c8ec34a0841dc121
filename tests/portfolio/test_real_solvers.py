"""Answers of the solvers that are installed here."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from pickbest.portfolio import Portfolio, RunStatus
from pickbest.portfolio.run.answers.handling import installed_evaluators
from tests.portfolio.conftest import QUERY
from tests.portfolio.test_answers import runs_of, says

SAT_SOLVERS = {
    "minisat": ["minisat", "{problem}", "/dev/stdout"],
    "cadical": ["cadical", "-q", "{problem}"],
    "cryptominisat5": ["cryptominisat5", "--verb=0", "{problem}"],
    "picosat": ["picosat", "{problem}"],
    "clasp": ["clasp", "{problem}"],
    "kissat": ["kissat", "-q", "{problem}"],
    "glucose": ["glucose", "-model", "{problem}"],
}

SMT_SOLVERS = {
    "z3": ["z3", "{problem}"],
    "cvc5": ["cvc5", "--produce-models", "{problem}"],
    "cvc4": ["cvc4", "--lang=smt2", "--produce-models", "{problem}"],
    "boolector": ["boolector", "{problem}"],
    "bitwuzla": ["bitwuzla", "{problem}"],
    "yices-smt2": ["yices-smt2", "{problem}"],
}


def random_formula(path: Path, seed: int, variables: int = 40) -> bool:
    """A random 3-SAT formula near the threshold; whether it is satisfiable, says PySAT."""
    rng = random.Random(seed)
    clauses = [
        [rng.choice([-1, 1]) * each for each in rng.sample(range(1, variables + 1), 3)]
        for _ in range(round(4.26 * variables))
    ]
    lines = [" ".join(map(str, [*clause, 0])) for clause in clauses]
    path.write_text(f"p cnf {variables} {len(clauses)}\n" + "\n".join(lines) + "\n")
    from pysat.solvers import Solver

    with Solver(name="cadical195", bootstrap_with=clauses) as solver:
        return bool(solver.solve())


@pytest.mark.parametrize("solver", list(SAT_SOLVERS))
def test_real_sat_solvers(solver: str, tmp_path: Path) -> None:
    pytest.importorskip("pysat", reason="PySAT is not installed (extra: sat)")
    if shutil.which(solver) is None:
        pytest.skip(f"{solver} is not installed")
    verdicts = set()
    with Portfolio({solver: SAT_SOLVERS[solver]}, 1, 20.0) as portfolio:
        for seed in range(6):
            path = tmp_path / f"{seed}.cnf"
            wanted = "SAT" if random_formula(path, seed) else "UNSAT"
            result = portfolio.solve(str(path))
            assert result.verdict == wanted, result
            assert result.runs[0].checked == (wanted == "SAT")
            verdicts.add(wanted)
    assert verdicts == {"SAT", "UNSAT"}


@pytest.mark.parametrize("solver", list(SMT_SOLVERS))
def test_real_smt_solvers(solver: str, query: str, tmp_path: Path) -> None:
    if shutil.which(solver) is None:
        pytest.skip(f"{solver} is not installed")
    asks = QUERY if solver != "boolector" else QUERY.replace("(get-model)", "")
    Path(query).write_text(asks)
    unsat = tmp_path / "unsat.smt2"
    unsat.write_text(asks.replace("(check-sat)", "(assert (bvugt |a b| c))(check-sat)"))
    bad = tmp_path / "bad.smt2"
    bad.write_text(asks.replace("(assert (bvult", "(assert (bvultt"))
    with Portfolio({solver: SMT_SOLVERS[solver]}, 1, 20.0) as portfolio:
        sat = portfolio.solve(query)
        assert sat.verdict == "SAT", sat
        # Yices prints its models as equations, not as definitions: nothing to put in.
        others = installed_evaluators().keys() - {solver} if solver != "yices-smt2" else ()
        assert sat.runs[0].checked == bool(others and "(get-model)" in asks)
        assert portfolio.solve(str(unsat)).verdict == "UNSAT"
        failed = portfolio.solve(str(bad))
        assert (failed.winner, failed.verdict) == (None, ""), failed


@pytest.mark.skipif(not installed_evaluators(), reason="no SMT solver is installed")
@pytest.mark.parametrize(
    ("logic", "body", "wrong"),
    [
        ("QF_LIA", "(declare-fun x () Int)(assert (> x 3))", "(define-fun x () Int (- 2))"),
        ("QF_LRA", "(declare-fun x () Real)(assert (= (* 3 x) 1.0))", "(define-fun x () Real 1.0)"),
        (
            "QF_FP",
            "(declare-fun x () (_ FloatingPoint 8 24))(assert (fp.isNaN x))",
            "(define-fun x () (_ FloatingPoint 8 24) (_ +zero 8 24))",
        ),
    ],
)
def test_models_of_many_logics(logic: str, body: str, wrong: str, tmp_path: Path) -> None:
    path = tmp_path / "a.smt2"
    text = f"(set-option :produce-models true)(set-logic {logic}){body}(check-sat)(get-model)"
    path.write_text(text)
    found = {name: SMT_SOLVERS[name] for name in ("z3", "cvc5") if shutil.which(name)}
    arms = {**found, "lies": says(f"sat\\n({wrong})")}
    with Portfolio(arms, len(arms), 20.0, stop="deadline") as portfolio:
        runs = runs_of(portfolio.solve(str(path)))
    assert runs["lies"].status is RunStatus.WRONG
    for name in found:
        assert runs[name].verdict == "SAT", runs[name]
        assert runs[name].checked == (len(installed_evaluators()) > 1), runs[name]
