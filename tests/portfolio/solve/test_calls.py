"""`pickbest solve` in place of a solver: what it prints, what it ends with, what it leaves."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import signal
import subprocess
import sys

import pytest

from pickbest.portfolio.solve.known import DIMACS, SMTLIB, installed
from tests.portfolio.helpers import eventually, running
from tests.portfolio.solve.conftest import PROGRAM, SAT_SMT, SLEEPS, UNSAT_CNF, Calls

pytestmark = pytest.mark.usefixtures("learner_off")
HERE = {**installed(SMTLIB, "QF_BV"), **installed(DIMACS)}
needs_z3 = pytest.mark.skipif("z3" not in HERE, reason="z3 is not installed (extra: solvers)")
needs_sat = pytest.mark.skipif("cadical" not in HERE, reason="PySAT is missing (extra: solvers)")

SCRIPT = """\
for problem in sat.smt2 unsat.smt2 model.smt2 twice.smt2 wrong.smt2; do
  answer=$($SOLVER "$problem" 2>/dev/null | grep -v error | grep -c '^sat$')
  $SOLVER $problem > out.txt 2> /dev/null
  code=$?
  echo "$problem: exit code $code, $answer times sat, first line $(head -n 1 out.txt)"
  grep -c define-fun out.txt
done
$SOLVER -in < unsat.smt2
$SOLVER -T:60 sat.smt2
if $SOLVER -smt2 sat.smt2 | grep -q '^sat'; then echo satisfiable; fi
"""


@needs_z3
def test_a_script_needs_no_change(calls: Calls) -> None:
    """The same script, with z3 and with pickbest solve in its place."""
    calls.write("script.sh", SCRIPT)
    calls.write("model.smt2", SAT_SMT + "(get-model)\n")
    calls.write("twice.smt2", SAT_SMT + "(push 1)\n(assert (= x #x00))\n(check-sat)\n(pop 1)\n")
    calls.write("wrong.smt2", SAT_SMT.replace("(check-sat)", "(assert (= y x))\n"))
    said = {}
    z3 = HERE["z3"].argv[0]
    for solver in (z3, " ".join([*PROGRAM, "--solver", "z3"]), " ".join(PROGRAM)):
        calls.environment["SOLVER"] = solver
        done = calls.run("script.sh", program=["sh"])
        assert done.returncode == 0
        said[solver] = done.stdout
    with_z3, with_pickbest, with_whom_it_likes = said.values()
    assert "sat.smt2: exit code 0, 1 times sat, first line sat" in with_z3
    assert "satisfiable" in with_z3
    shown = with_z3.replace(_error_line(with_z3), "")
    assert with_pickbest.replace(_error_line(with_pickbest), "") == shown
    assert with_whom_it_likes.replace(_error_line(with_whom_it_likes), "") == shown


def _error_line(text: str) -> str:
    """What solvers say of a script with a mistake is their own; that they fail is not."""
    line = next(line for line in text.splitlines() if line.startswith("wrong.smt2"))
    assert "exit code 1, 0 times sat" in line
    return line


@needs_sat
def test_packed_files_and_standard_input(calls: Calls) -> None:
    for opener, suffix in ((gzip.open, ".gz"), (lzma.open, ".xz"), (bz2.open, ".bz2")):
        with opener(calls.folder / f"p.cnf{suffix}", "wt") as file:
            file.write(UNSAT_CNF)
        assert calls.run(f"p.cnf{suffix}").returncode == 20
    assert calls.run("-", stdin=b"c a comment\n" + UNSAT_CNF.encode()).returncode == 20
    assert calls.run("-", stdin=SAT_SMT.encode()).stdout == "sat\n"


@needs_sat
def test_diagnostics_are_asked_for(calls: Calls) -> None:
    done = calls.run("--who", "unsat.cnf")
    assert done.stdout == "s UNSATISFIABLE\n"
    assert "UNSAT answered" in done.stderr
    shown = json.loads(calls.run("--json", "sat.cnf").stdout)
    assert (shown["format"], shown["problem"], shown["exit_code"]) == ("dimacs", "sat.cnf", 10)
    assert shown["winner"] in {run["arm"] for run in shown["runs"]}
    assert len(shown["runs"]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none.cnf"], "none.cnf: cannot be read (No such file or directory)"),
        (["bin"], "bin: cannot be read (Is a directory)"),
        (["empty.cnf"], "empty.cnf: the file is empty"),
        (["-"], "-: the file is empty"),
        (["--budget", "0", "sat.cnf"], "--budget must be a whole number of at least 1, got 0"),
        (["--deadline", "-3", "sat.cnf"], "--deadline must be a number above 0"),
        (["--solver", "z4", "sat.smt2"], "unknown solver 'z4'"),
        (["text.txt"], "neither SMT-LIB nor DIMACS"),
        (["-", "sat.cnf"], "one problem at a time, got 2"),
        (["--deadline"], "--deadline needs a value"),
        (["--who=1", "sat.cnf"], "--who takes no value"),
        (["--no-such-thing"], "see `pickbest solve --help`"),
        (["--confrim", "sat.cnf"], "did you mean --confirm?"),
        (["broken.cnf.gz"], "broken.cnf.gz: cannot be read"),
    ],
)
def test_bad_input_is_said_on_standard_error(calls: Calls, words: list[str], said: str) -> None:
    calls.write("text.txt", "hello\n")
    calls.write("empty.cnf", " \n")
    calls.write("broken.cnf.gz", "hello\n")
    done = calls.run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_without_solvers_it_says_which_to_install(calls: Calls) -> None:
    calls.environment["PATH"] = ""
    done = calls.run("--solver", "picosat", "sat.cnf")
    assert done.returncode == 2
    assert "no solver for dimacs is installed; install one of picosat" in done.stderr


def test_help_teaches(calls: Calls) -> None:
    for words in (["--help"], ["solve", "--help"]):
        program = PROGRAM if len(words) == 1 else [sys.executable, "-m", "pickbest"]
        done = calls.run(*words, program=program)
        assert done.returncode == 0
        assert "in place of: z3 problem.smt2" in done.stdout
    listed = calls.run("--help", program=[sys.executable, "-m", "pickbest"])
    assert "solve" in listed.stdout


@needs_z3
@pytest.mark.parametrize(("word", "expected"), [("sat.smt2", 0), ("sat.cnf", 10), ("-in", 0)])
def test_nothing_that_takes_long_is_imported(calls: Calls, word: str, expected: int) -> None:
    """NumPy alone takes longer to import than a call may; a session needs even less."""
    slow = {"numpy", "numba", "sqlalchemy", "typer", "rich", "multiprocessing", "argparse"}
    if word == "-in":
        slow |= {"dataclasses", "pathlib", "random", "subprocess"}
    code = (
        "import sys\nfrom pickbest.cli.solve import main\ncode = main(sys.argv[1:])\n"
        f"slow = {slow} & set(sys.modules)\nassert not slow, slow\nsys.exit(code)"
    )
    script = b"(set-logic QF_BV)(declare-const x Bool)(assert x)(check-sat)"
    done = calls.run(word, program=[sys.executable, "-c", code], stdin=script)
    assert done.returncode == expected, done.stderr


LIARS = {
    "cvc5": "#!/bin/sh\necho unknown\n",
    "yices-smt2": "#!/bin/sh\necho '(error \"no\")'\nexit 1\n",
    "bitwuzla": "#!/bin/sh\necho timeout\n",
    "boolector": "#!/bin/sh\nkill -9 $$\n",
    "cvc4": SLEEPS,
}


@needs_z3
def test_whoever_does_not_answer_does_not_win(calls: Calls) -> None:
    """All but one say nothing of use; the call goes on until the one that knows has answered."""
    for name, text in LIARS.items():
        calls.fake(name, text)
    # It answers last: a solver that has not spoken by then is stopped, and says nothing.
    calls.fake("z3", "#!/bin/sh\nsleep 3\necho sat\n")
    named = [
        word
        for name in ("cvc5", "yices", "bitwuzla", "boolector", "z3")
        for word in ("--solver", name)
    ]
    done = calls.run("--who", "--budget", "5", *named, "sat.smt2")
    assert (done.returncode, done.stdout) == (0, "sat\n")
    for arm, reason in (
        ("cvc5", "no answer: unknown"),
        ("yices", "(error"),
        ("bitwuzla", "no answer: unknown"),
        ("boolector", "ended by signal 9"),
        ("z3", "SAT answered"),
    ):
        (line,) = [line for line in done.stderr.splitlines() if f" {arm}:" in line]
        assert reason in line
    slow = calls.run("--deadline", "0.5", "--solver", "cvc4", "--who", "sat.smt2")
    assert (slow.returncode, slow.stdout) == (0, "unknown\n")
    assert "cvc4: timeout" in slow.stderr


@needs_sat
def test_a_wrong_model_is_named_and_does_not_win(calls: Calls) -> None:
    calls.fake("minisat", "#!/bin/sh\necho s SATISFIABLE\necho v -1 2 -3 0\nexit 10\n")
    done = calls.run("--solver", "minisat", "--solver", "cadical", "sat.cnf")
    assert done.returncode == 10
    assert "minisat: SAT wrong: its model is none: it does not satisfy clause 1" in done.stderr
    alone = calls.run("--solver", "minisat", "sat.cnf")
    assert (alone.returncode, alone.stdout) == (1, "s UNKNOWN\n")


def test_a_large_model_comes_through_whole(calls: Calls) -> None:
    """50 MB: far more than is held in memory."""
    line = "print('(define-fun x%07d () Int %d)' % (i, i))"
    writes = f"print('sat');print('(');[{line} for i in range(1500000)];print(')')"
    calls.fake("z3", f'#!/bin/sh\nexec "{sys.executable}" -c "{writes}"\n')
    done = calls.run("--solver", "z3", "sat.smt2")
    assert done.returncode == 0
    assert len(done.stdout) > 50_000_000
    assert done.stdout.startswith("sat\n(\n(define-fun x0000000 () Int 0)\n")
    assert done.stdout.endswith("(define-fun x1499999 () Int 1499999)\n)\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_signals_end_all_solvers(calls: Calls, number: signal.Signals) -> None:
    seconds = f"{4000 + number}.{os.getpid()}"
    for name in ("z3", "cvc5"):
        calls.fake(name, f"#!/bin/sh\nsleep {seconds} &\nsleep {seconds}\n")
    process = calls.start("--solver", "z3", "--solver", "cvc5", "sat.smt2")
    assert eventually(lambda: len(running(seconds)) == 4)
    process.send_signal(number)
    output, errors = process.communicate(timeout=20)
    assert (output, errors) == (b"", b"")
    assert process.returncode == (-9 if number == signal.SIGKILL else 128 + number)
    assert eventually(lambda: not running(seconds))


@needs_sat
def test_a_reader_that_goes_away_is_no_traceback(calls: Calls) -> None:
    done = subprocess.run(
        " ".join([*PROGRAM, "sat.cnf"]) + " | true",
        shell=True, cwd=calls.folder, env=calls.environment, capture_output=True, check=False,
    )  # fmt: skip
    assert done.stderr == b""


@needs_z3
@pytest.mark.skipif("cvc5" not in HERE, reason="cvc5 is not installed (extra: solvers)")
def test_a_wrong_model_of_a_script_never_wins(calls: Calls) -> None:
    """Another solver is asked whether the formula holds under it."""
    calls.write("model.smt2", SAT_SMT + "(get-model)\n")
    model = "sat\n(\n  (define-fun x () (_ BitVec 8) #x{})\n)\n"
    for value, answered in (("04", False), ("05", True)):
        calls.fake("bitwuzla", f"#!/bin/sh\nprintf '{model.format(value)}'\n")
        done = calls.run("--solver", "bitwuzla", "model.smt2")
        assert done.stdout.startswith("sat\n") is answered
        assert ("its model does not satisfy the formula" in done.stderr) is not answered
    shown = json.loads(calls.run("--json", "--solver", "bitwuzla", "model.smt2").stdout)
    assert shown["runs"][0]["checked"] is True
