"""Answers: how they are read, what is none, and what is wrong; with real solvers where they are."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import time
from pathlib import Path

import pytest

from pickbest import PickbestError
from pickbest.portfolio import Portfolio, Run, RunStatus
from pickbest.portfolio.engine.local import LocalEngine
from pickbest.portfolio.run.answers import dimacs, handling
from pickbest.portfolio.run.answers.dimacs import broken_clause, literals_of, numbers, read_dimacs
from pickbest.portfolio.run.answers.handling import (
    DIMACS,
    SMTLIB,
    AnswerFormat,
    Evaluator,
    as_format,
    guess_format,
    installed_evaluators,
)
from pickbest.portfolio.run.answers.reading import NUMBER, TEXT, Reading, RejectedError, unevaluated
from pickbest.portfolio.run.answers.smtlib import split_commands, substituted
from pickbest.portfolio.runs import Result
from tests.portfolio.conftest import SATISFIABLE


def read(form: AnswerFormat, output: str, code: int = 0, problem: object = "p") -> Reading:
    run = Run("a", RunStatus.FINISHED, exit_code=code, stdout=output, problem=problem)
    return form.read(run, unevaluated)


def says(text: str, code: int = 0) -> list[str]:
    return ["sh", "-c", f"printf '%b' '{text}'; exit {code}"]


def runs_of(result: Result) -> dict[str, Run]:
    return {run.arm: run for run in result.runs}


@pytest.mark.parametrize(
    ("output", "code", "status", "verdict"),
    [
        ("c hello\ns SATISFIABLE\nv 1 0\n", 10, "finished", "SAT"),
        ("s UNSATISFIABLE\n", 20, "finished", "UNSAT"),
        ("UNSATISFIABLE\n", 20, "finished", "UNSAT"),
        ("SAT\n1 2 3 0\n", 0, "finished", "SAT"),
        ("", 10, "finished", "SAT"),
        ("s UNKNOWN\n", 0, "no answer", ""),
        ("INDETERMINATE\n", 0, "no answer", ""),
        ("c s SATISFIABLE\n", 0, "no answer", ""),
        ("", 0, "no answer", ""),
        ("s SATISFIABLE\ns UNSATISFIABLE\n", 0, "wrong", ""),
        ("s SATISFIABLE\n", 20, "wrong", ""),
    ],
)
def test_dimacs(output: str, code: int, status: str, verdict: str) -> None:
    reading = read(DIMACS, output, code)
    assert (reading.status.value, reading.verdict) == (status, verdict)


@pytest.mark.parametrize(
    ("output", "code", "status", "verdict"),
    [
        ("sat\n", 0, "finished", "SAT"),
        ('unsat\n(error "line 7: model is not available")\n', 1, "finished", "UNSAT"),
        ("unknown\n", 0, "no answer", ""),
        ("timeout\n", 0, "no answer", ""),
        ("", 0, "no answer", ""),
        ('(error "line 3: unknown constant x")\nsat\n', 1, "no answer", ""),
        ('(error "line 3: unknown constant x")\n', 1, "crashed", ""),
        ("sat\nunsat\n", 0, "finished", "SAT UNSAT"),
        ("sat\nunknown\n", 0, "no answer", ""),
    ],
)
def test_smtlib(output: str, code: int, status: str, verdict: str) -> None:
    reading = read(SMTLIB, output, code)
    assert (reading.status.value, reading.verdict) == (status, verdict)


def test_a_verdict_for_every_check(query: str, tmp_path: Path) -> None:
    assert read(SMTLIB, "sat\n", problem=query).verdict == "SAT"
    assert read(SMTLIB, "sat\nsat\n", problem=query).status is RunStatus.NO_ANSWER
    twice = tmp_path / "twice.smt2"
    twice.write_text("(check-sat) ; (check-sat)\n(push 1)(check-sat)(pop 1)")
    assert "1 verdicts for 2 check-sat" in read(SMTLIB, "sat\n", problem=twice).reason
    assert read(SMTLIB, "sat\nunsat\n", problem=twice).verdict == "SAT UNSAT"
    twice.write_text("(check-sat)(assert (unclosed) (check-sat)")
    assert read(SMTLIB, "sat\n", problem=twice).verdict == "SAT"


def test_number_and_text() -> None:
    assert read(NUMBER, "hello\n42.5\n").value == 42.5
    assert read(NUMBER, "hello\n").status is RunStatus.NO_ANSWER
    assert read(TEXT, "hello\n").status is RunStatus.FINISHED
    assert read(TEXT, "").status is RunStatus.FINISHED
    for word in ("unknown\n", "UNKNOWN", " timeout\n"):
        assert read(TEXT, word).status is RunStatus.NO_ANSWER


def first_word(run: Run) -> str | None:
    if run.text.startswith("bad"):
        raise RejectedError("it says bad")
    return run.text.split()[0] if run.text.split() else None


def test_a_function_reads_answers() -> None:
    own = as_format(first_word)
    assert read(own, "yes indeed\n").verdict == "yes"
    assert read(own, "").status is RunStatus.NO_ANSWER
    assert read(own, "bad").reason == "wrong: it says bad"
    with pytest.raises(PickbestError, match="did you mean 'dimacs'"):
        as_format("dimac")
    with pytest.raises(PickbestError, match="must be a name or a function"):
        as_format(3)  # type: ignore[arg-type]


def test_formats_are_guessed_from_names() -> None:
    for name in ("a.cnf", "b/a.CNF.gz", "a.cnf.xz", "a.cnf.bz2", Path("a.cnf")):
        assert guess_format(name) is DIMACS
    assert guess_format("a.smt2.gz") is SMTLIB
    for other in ("a.txt", "cnf", "a.gz", 3, [[1, 2]]):
        assert guess_format(other) is TEXT


@pytest.mark.parametrize("opener", [gzip.open, lzma.open, bz2.open])
def test_packed_formulas_are_read(tmp_path: Path, opener: object) -> None:
    suffix = {gzip.open: ".gz", lzma.open: ".xz", bz2.open: ".bz2"}[opener]
    path = tmp_path / f"a.cnf{suffix}"
    with opener(path, "wt") as file:  # type: ignore[operator]
        file.write(SATISFIABLE)
    assert read_dimacs(path) == [[1, -2], [2], [-1, 3]]
    path.write_text("no such thing")
    with pytest.raises(PickbestError, match="cannot be read"):
        read_dimacs(path)


def test_models_of_formulas_are_checked(formula: str) -> None:
    right = read(DIMACS, "s SATISFIABLE\nv 1 2\nv 3 0\n", 10, formula)
    assert (right.verdict, right.checked) == ("SAT", True)
    for model, reason in (
        ("1 -2 3", "clause 2: 2"),
        ("1 2", "clause 3: -1 3"),
        ("1 2 3 -3", "variable 3 both true and false"),
        ("1 2 x", "no list of numbers: x"),
        ("1 2 99999999999999999999", "no list of numbers"),
    ):
        reading = read(DIMACS, f"s SATISFIABLE\nv {model} 0\n", 10, formula)
        assert (reading.status, reading.verdict) == (RunStatus.WRONG, "SAT")
        assert reason in reading.reason
    assert not read(DIMACS, "s SATISFIABLE\n", 10, formula).checked
    assert read(DIMACS, "SAT\n1 2 3 0\n", 10, formula).checked


@pytest.mark.parametrize("small", [0, dimacs.SMALL])
def test_checks_agree_with_brute_force(small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dimacs, "SMALL", small)
    rng = random.Random(0)
    for _ in range(300):
        clauses = [
            [rng.choice([-1, 1]) * rng.randint(1, 5) for _ in range(rng.randint(1, 3))]
            for _ in range(rng.randint(0, 8))
        ]
        model = [sign * rng.choice([-1, 1]) for sign in rng.sample(range(1, 6), rng.randint(0, 5))]
        held = all(any(each in model for each in clause) for clause in clauses)
        found = broken_clause(numbers(" ".join(map(str, model)).encode()), literals_of(clauses))
        assert (found == "") == held


def test_commands_of_a_script() -> None:
    text = '; (x)\n(echo "a ) ""b""")\n(assert |( x|)\n'
    assert [name for name, _ in split_commands(text)] == ["echo", "assert"]
    for bad in ("(a", "a)"):
        with pytest.raises(ValueError, match="a bracket"):
            list(split_commands(bad))


def test_long_chains_of_definitions_end(query: str) -> None:
    chain = "".join(f"(define-fun d{n} () Int d{n + 1})" for n in range(20_000))
    run = Run("a", RunStatus.FINISHED, stdout=f"sat\n({chain})", problem=query)
    started = time.monotonic()
    assert substituted(run).count("define-fun d") == 20_000
    assert time.monotonic() - started < 60.0


MODEL = "sat\\n(\\n(define-fun |a b| () (_ BitVec 8) #x02)\\n(define-fun c () (_ BitVec 8) {c})\\n)"


@pytest.mark.skipif(not installed_evaluators(), reason="no SMT solver is installed")
def test_models_of_queries_are_checked_by_another_solver(query: str) -> None:
    arms = {
        "right": says(MODEL.format(c="#x05")),
        "lies": says(MODEL.format(c="#x06")),
        "partial": says("sat\\n(model (define-fun c () (_ BitVec 8) #x05))"),
        "commands": says(MODEL.format(c="#x05) (check-sat) (exit")),
    }
    with Portfolio(arms, 4, 20.0, stop="deadline") as portfolio:
        runs = runs_of(portfolio.solve(query))
    assert (runs["right"].verdict, runs["right"].checked) == ("SAT", True)
    assert runs["lies"].status is RunStatus.WRONG
    assert "says another solver" in runs["lies"].reason
    assert runs["partial"].checked
    assert runs["commands"].checked


def test_only_definitions_of_a_model_reach_another_solver(query: str) -> None:
    output = '(set-option :regular-output-channel "x")\nsat\n((define-fun c () Int 5) (exit) a)'
    output += "\n(define-fun d () Int 6)"
    run = Run("a", RunStatus.FINISHED, stdout=output, problem=query)
    names = [name for name, _ in split_commands(substituted(run))]
    assert names == ["set-logic", "define-fun", "declare-fun", "assert", "assert", "check-sat"]


def test_nobody_is_asked_about_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handling, "installed_evaluators", lambda: {"z3": "/usr/bin/z3"})
    engine = LocalEngine()
    try:
        assert Evaluator(engine)("(check-sat)", "/usr/bin/z3") == ""
    finally:
        engine.close()
