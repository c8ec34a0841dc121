"""Answers: how they are read, what is none, and what is wrong; with real solvers where they are."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import shutil
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from pickbest import PickbestError
from pickbest.portfolio import Command, Function, Limits, Portfolio, Run, RunStatus
from pickbest.portfolio.answers import cnf
from pickbest.portfolio.answers.cnf import broken_clause, literals_of, numbers, read_dimacs
from pickbest.portfolio.answers.evaluator import Evaluator, installed_evaluators
from pickbest.portfolio.answers.formats import (
    DIMACS,
    NUMBER,
    SMTLIB,
    TEXT,
    as_format,
    guess_format,
)
from pickbest.portfolio.answers.reading import AnswerFormat, Reading, RejectedError, unevaluated
from pickbest.portfolio.answers.smtlib import split_commands, substituted
from pickbest.portfolio.engines.local import LocalEngine
from pickbest.portfolio.runs import Result

SATISFIABLE = "p cnf 3 3\n1 -2 0\n2\n0\n-1 3 0\n"
QUERY = "(set-logic QF_BV)\n(declare-fun |a b| () (_ BitVec 8))\n(declare-fun c () (_ BitVec 8))\n"
QUERY += "(assert (= (bvadd |a b| c) #x07))\n(assert (bvult |a b| #x03))\n"
QUERY += "(check-sat)\n(get-model)\n"


# What answers are made of, to be put together at random; " ; " ends a line.
PIECES = [
    b"s SATISFIABLE ;", b"; s UNSATISFIABLE ;", b"; v 1 -2 0 ;", b"; v", b"-1 2 0 ;", b"; SAT ;",
    b"; sat ;", b"; unsat ;", b"; unknown ;", b'(error "x")', b"(define-fun x () Int 1)", b"(",
    b")", b"|", b'"', b"; 1e5", b"99999999999999999999",
]  # fmt: skip


@pytest.fixture
def formula(tmp_path: Path) -> str:
    path = tmp_path / "small.cnf"
    path.write_text(SATISFIABLE)
    return str(path)


@pytest.fixture
def query(tmp_path: Path) -> str:
    path = tmp_path / "small.smt2"
    path.write_text(QUERY)
    return str(path)


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


@pytest.mark.parametrize("small", [0, cnf.SMALL])
def test_checks_agree_with_brute_force(small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cnf, "SMALL", small)
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


@given(st.lists(st.sampled_from(PIECES) | st.binary(max_size=8), max_size=40))
@settings(max_examples=300, deadline=None)
def test_whatever_an_arm_writes_is_read(pieces: list[bytes]) -> None:
    """Outputs are data of others: no exception, and nothing but what was asked for."""
    text = b" ".join(pieces).replace(b"\r", b"\n").decode(errors="replace")
    for form, problem in ((DIMACS, [[1, 2], [-1]]), (SMTLIB, "p"), (NUMBER, "p"), (TEXT, "p")):
        reading = read(form, text.replace(" ; ", "\n"), problem=problem)
        assert reading.status in RunStatus
        assert reading.verdict in ("", "SAT", "UNSAT") or set(reading.verdict.split()) <= {
            "SAT",
            "UNSAT",
        }
        assert not (reading.checked and reading.verdict != "SAT")


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


def test_nobody_is_asked_about_itself(query: str) -> None:
    engine = LocalEngine()
    try:
        evaluator = Evaluator(engine)
        (only,) = evaluator._found = dict(list(evaluator._found.items())[:1]) or {"z3": "z3"}
        assert evaluator("(check-sat)", f"/usr/bin/{only}") == ""
    finally:
        engine.close()


def test_no_answer_never_wins_and_never_stops_a_race(formula: str, query: str) -> None:
    later = "sleep 0.3; "
    for problem, unknown, answer in (
        (formula, "s UNKNOWN", "s UNSATISFIABLE"),
        (query, "unknown", "unsat"),
        (query, "timeout", "unsat"),
    ):
        arms = {
            "unknown": says(unknown),
            "nothing": ["true"],
            "knows": ["sh", "-c", f"{later}echo '{answer}'"],
        }
        with Portfolio(arms, 3, 20.0, cost="runtime") as portfolio:
            result = portfolio.solve(problem)
        runs = runs_of(result)
        assert (result.winner, result.verdict) == ("knows", "UNSAT")
        for arm in ("unknown", "nothing"):
            assert runs[arm].status is RunStatus.NO_ANSWER
            assert runs[arm].cost == 1.0
            assert runs[arm].reason.startswith("no answer: ")


BIG = (
    "import sys\n"
    "print('s SATISFIABLE' if sys.argv[1] == 'first' else 'c begin')\n"
    "line = 'v ' + ' '.join(str(-i) for i in range(1, 13)) + '\\n'\n"
    "sys.stdout.write(line * (50_000_000 // len(line)))\n"
    "print('v 0'); print('s SATISFIABLE' if sys.argv[1] == 'last' else 'c end')\n"
    "sys.exit(10)\n"
)


def test_liars_and_loudmouths_never_win_and_all_are_named(formula: str) -> None:
    """One lies, one gives up at once, two print 50 MB of a wrong model, one hangs."""
    arms = {
        "lies": says("s SATISFIABLE\\nv -1 -2 -3 0", 10),
        "unknown": says("s UNKNOWN"),
        "loud first": [sys.executable, "-c", BIG, "first"],
        "loud last": [sys.executable, "-c", BIG, "last"],
        "hangs": ["sleep", "60"],
    }
    with Portfolio(arms, 5, 20.0) as portfolio:
        result = portfolio.solve(formula)
        assert (result.winner, result.answer) == (None, None)
    runs = runs_of(result)
    assert runs["hangs"].status is RunStatus.TIMEOUT
    assert runs["unknown"].status is RunStatus.NO_ANSWER
    for arm in ("lies", "loud first", "loud last"):
        assert (runs[arm].status, runs[arm].verdict) == (RunStatus.WRONG, "SAT")
        assert "clause 2: 2" in runs[arm].reason


def test_long_outputs_are_kept_whole_beside_the_journal(formula: str, tmp_path: Path) -> None:
    script = "print('s SATISFIABLE'); print('v 1 2 3 0'); print('c x' * 100_000); exit(10)"
    arms = {"long": [sys.executable, "-c", script]}
    with Portfolio(arms, 1, 20.0, tmp_path / "r.db") as portfolio:
        result = portfolio.solve(formula)
        assert result.runs[0].checked
        assert result.runs[0].truncated
        assert "bytes are left out here" in result.answer
        assert result.answer.startswith("s SATISFIABLE")
        (view,) = portfolio.history()
    kept = tmp_path / "r.db.outputs" / "0-long.txt"
    assert result.output == str(kept)
    assert view.output == kept.name
    assert len(kept.read_text().splitlines()) == 3
    assert kept.stat().st_mode & 0o077 == 0


def test_an_output_that_is_too_long_for_its_file_is_said_to_be(formula: str) -> None:
    head = "print('s SATISFIABLE'); print('v 1 2 3 0');"
    tail = "print('s UNSATISFIABLE');"
    loud = "print('c x' * 1_000_000);"
    arms = {
        "head": [sys.executable, "-c", head + loud],
        "tail": [sys.executable, "-c", loud + tail],
        "middle": [sys.executable, "-c", loud + tail + loud],
    }
    limits = Limits(output_bytes=1000, spool_bytes=10_000)
    with Portfolio(arms, 3, 20.0, limits=limits, stop="deadline") as portfolio:
        runs = runs_of(portfolio.solve(formula))
    assert all(run.cut and run.truncated for run in runs.values())
    assert runs["head"].reason == "no answer: its model is not whole in what was kept of its output"
    assert runs["tail"].verdict == "UNSAT"
    assert runs["middle"].reason == (
        "no answer: it names no verdict in what was kept of its output"
    )


def test_exit_codes_of_sat_solvers_in_plain_text_are_explained() -> None:
    with Portfolio({"a": says("", 20)}, 1, 20.0) as portfolio:
        (run,) = portfolio.solve("no suffix").runs
    assert run.reason == 'exit code 20; SAT solvers answer so: set answer = "dimacs"'
    with Portfolio({"a": says("", 20)}, 1, 20.0, answer="dimacs") as portfolio:
        assert portfolio.solve("no suffix").verdict == "UNSAT"


def returns_model(problem: object) -> tuple[str, list[int]]:
    return "SAT", [1, 2, 3]


def test_formats_of_single_arms(formula: str) -> None:
    arms = {
        "text": Command(tuple(says("hello")), answer=TEXT),
        "number": Command(tuple(says("7")), answer=NUMBER),
        "function": Function(returns_model, answer=DIMACS),
        "as it is": returns_model,
        "code 3": Command(tuple(says("s UNSATISFIABLE", 3)), success=(3,)),
    }
    with Portfolio(arms, 5, 20.0, stop="deadline") as portfolio:
        runs = runs_of(portfolio.solve(formula))
    assert {arm: (run.verdict, run.checked) for arm, run in runs.items()} == {
        "text": ("", False),
        "number": ("", False),
        "function": ("SAT", True),
        "as it is": ("", False),
        "code 3": ("UNSAT", False),
    }
    assert runs["number"].value == 7.0


def refuses_long(run: Run) -> str | None:
    assert run.problem == "p"
    return f"{len(run.text)} letters" if len(run.text) > 3 else None


def no_cost_for_long(run: Run) -> float | None:
    return None if refuses_long(run) else 0.5


@pytest.mark.parametrize("by", ["check", "cost"])
def test_a_check_or_a_cost_refuses_answers_and_the_race_goes_on(by: str) -> None:
    arms = {"long": ["echo", "too long"], "short": ["sh", "-c", "sleep 2; printf yes"]}
    options = {"check": refuses_long} if by == "check" else {"cost": no_cost_for_long}
    with Portfolio(arms, 2, 20.0, **options) as portfolio:  # type: ignore[arg-type]
        result = portfolio.solve("p")
    assert result.winner == "short"
    run = runs_of(result)["long"]
    assert run.status is RunStatus.WRONG
    reason = "9 letters" if by == "check" else "the cost function refuses it"
    assert run.reason == f"wrong: {reason}"


def fails(run: Run) -> bool:
    raise KeyError("oh")


def test_a_check_that_fails_is_the_users_fault() -> None:
    with Portfolio({"a": ["echo", "a"]}, 1, 20.0, check=fails) as portfolio:
        (run,) = portfolio.solve("p").runs
    assert run.status is RunStatus.BROKEN
    assert run.reason == "the check failed: KeyError('oh')"


SAT_SOLVERS = {
    "minisat": ["minisat", "{problem}", "/dev/stdout"],
    "cadical": ["cadical", "-q", "{problem}"],
    "cryptominisat5": ["cryptominisat5", "--verb=0", "{problem}"],
    "picosat": ["picosat", "{problem}"],
    "clasp": ["clasp", "{problem}"],
    "kissat": ["kissat", "-q", "{problem}"],
    "glucose": ["glucose", "-model", "{problem}"],
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


SMT_SOLVERS = {
    "z3": ["z3", "{problem}"],
    "cvc5": ["cvc5", "--produce-models", "{problem}"],
    "cvc4": ["cvc4", "--lang=smt2", "--produce-models", "{problem}"],
    "boolector": ["boolector", "{problem}"],
    "bitwuzla": ["bitwuzla", "{problem}"],
    "yices-smt2": ["yices-smt2", "{problem}"],
}


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
        others = installed_evaluators().keys() - {solver}
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
            "QF_UFLIA",
            "(declare-fun f (Int) Int)(assert (> (f 1) (f 2)))",
            "(define-fun f ((x Int)) Int x)",
        ),
        (
            "QF_ALIA",
            "(declare-fun a () (Array Int Int))(assert (= (select a 1) 5))",
            "(define-fun a () (Array Int Int) ((as const (Array Int Int)) 4))",
        ),
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
