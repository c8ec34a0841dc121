"""What programs that call a solver rely on: models, exit codes, foreign words, names, links."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from pickbest.portfolio.solve.keep import Keep
from pickbest.portfolio.solve.known import DIMACS, SMTLIB, installed
from pickbest.portfolio.solve.problem import Problem
from pickbest.portfolio.solve.words import NAMES, parse
from tests.portfolio.helpers import eventually, running
from tests.portfolio.solve.conftest import PROGRAM, SAT_SMT, SLEEPS, UNSAT_SMT, Calls

pytestmark = pytest.mark.usefixtures("learner_off")
SAT = list(installed(DIMACS))
SMT = list(installed(SMTLIB, "QF_BV"))
needs_two = pytest.mark.skipif(len(SMT) < 2, reason="two SMT solvers are needed (extra: solvers)")


@pytest.mark.parametrize("solver", SAT)
def test_models_name_every_variable_of_the_header(calls: Calls, solver: str) -> None:
    """CBMC refuses a model that leaves variables out (D2)."""
    calls.write("gaps.cnf", "p cnf 10 2\n1 2 0\n-1 9 0\n")
    done = calls.run("--solver", solver, "gaps.cnf")
    values = [int(w) for line in done.stdout.splitlines()[1:] for w in line.split()[1:]]
    assert done.returncode == 10
    assert values[-1] == 0
    assert sorted(map(abs, values[:-1])) == list(range(1, 11))
    assert {1, 2} & set(values)


@pytest.mark.parametrize("solver", SMT)
def test_models_are_alike_from_every_solver(calls: Calls, solver: str) -> None:
    """halmos reads definitions, and nothing else (D3)."""
    calls.write("model.smt2", SAT_SMT + "(get-model)\n")
    done = calls.run("--solver", solver, "model.smt2")
    verdict, model = done.stdout.split("\n", 1)
    assert verdict == "sat", done.stderr
    model = re.sub(r"\s+", " ", model).strip()
    assert re.fullmatch(
        r"\( ?\(define-fun x \(\) \(_ BitVec 8\) (#x05|#b00000101|\(_ bv5 8\))\) ?\)", model
    )


def test_a_shim_that_calls_us_is_no_solver(calls: Calls) -> None:
    """22 nested races in 20 seconds (D4)."""
    real = installed(SMTLIB, "QF_BV")
    command = " ".join(PROGRAM)
    calls.fake("z3", f'#!/bin/sh\necho x >> starts\nexec {command} "$@"\n')  # names pickbest
    (calls.folder / "bin" / "cvc5").symlink_to(*calls.link("cvc5"))
    done = calls.run("--who", "sat.smt2")
    assert done.stdout == "sat\n"
    assert not (calls.folder / "starts").exists()
    assert ("z3" in real) == ("z3" in calls.run("--json", "--solver", "z3", "sat.smt2").stdout)
    # What cannot be seen from outside ends at the first nested call.
    hidden = calls.folder / "hidden"
    hidden.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    hidden.chmod(0o755)
    calls.fake("yices-smt2", f'#!/bin/sh\necho x >> starts\nexec {hidden} "$@"\n')
    alone = calls.run("--solver", "yices", "sat.smt2")
    assert (alone.returncode, alone.stdout) == (1, "unknown\n")
    assert "pickbest solve itself" in alone.stderr
    assert (calls.folder / "starts").read_text() == "x\n"


@needs_two
@pytest.mark.parametrize("name", ["z3", "cvc5", "my-solver"])
def test_it_may_be_called_through_a_link(calls: Calls, name: str) -> None:
    """D5."""
    done = calls.run("sat.smt2", program=calls.link(name))
    assert (done.returncode, done.stdout, done.stderr) == (0, "sat\n", "")


def test_memory_is_taken_as_the_file_needs_it(calls: Calls) -> None:
    """why3 limits its provers to 1000 MB (D6)."""
    calls.fake("z3", "#!/bin/sh\necho sat\n")
    done = subprocess.run(
        [*PROGRAM, "--solver", "z3", "sat.smt2"],
        cwd=calls.folder, env=calls.environment, capture_output=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1_000_000_000,) * 2),
    )  # fmt: skip
    assert (done.stdout, done.stderr) == (b"sat\n", b"")


@pytest.mark.parametrize(
    ("called", "words", "expected"),
    [
        ("z3", ["-T:0.5", "a"], {"deadline": 0.5}),
        ("z3", ["-t:1500", "-memory:100", "a"], {"check_seconds": 1.5, "memory": 100.0}),
        ("z3", ["timeout=2000", "-st", "-smt2", "a"], {"check_seconds": 2.0, "file": "a"}),
        ("z3", ["AUTO_CONFIG=false", "-model", "a"], {"passed": ("AUTO_CONFIG=false", "-model")}),
        ("z3", ["-in"], {"action": "session"}),
        ("z3", ["-version"], {"action": "version"}),
        ("z3", ["--what", "a"], {"passed_over": ("--what",), "file": "a"}),
        ("cvc5", ["--lang", "smt2", "--incremental"], {"action": "session"}),
        ("cvc5", ["--lang=smt2", "-q", "a"], {"action": "solve", "file": "a"}),
        ("cvc5", ["--tlimit=2500", "--produce-models", "a"], {"deadline": 2.5}),
        ("cvc5", ["--tlimit-per", "100", "--arrays-exp", "a"], {"passed": ("--arrays-exp",)}),
        ("yices-smt2", ["--timeout=3", "a"], {"deadline": 3.0}),
        ("yices-smt2", ["--incremental"], {"action": "session"}),
        ("bitwuzla", ["-t", "1500", "a"], {"deadline": 1.5}),
        ("boolector", ["-t", "4", "-m", "a"], {"deadline": 4.0}),
        ("kissat", ["--time=60", "-q", "--sat", "a"], {"deadline": 60.0, "passed": ("--sat",)}),
        ("kissat", [], {"action": "solve", "file": "-"}),
        ("cadical", ["-t", "5", "a"], {"deadline": 5.0}),
        ("", ["--lang", "smt2", "--produce-models", "-st", "a"], {"file": "a"}),
        ("", ["-t", "3", "-b", "4", "a"], {"deadline": 3.0, "budget": 4}),
        ("", [], {"action": "session"}),
    ],
)
def test_words_of_other_solvers_mean_what_they_mean_there(
    called: str, words: list[str], expected: dict[str, object]
) -> None:
    """D7."""
    found = parse(words, called)
    assert {name: getattr(found, name) for name in expected} == expected


@pytest.mark.parametrize("name", NAMES)
def test_under_another_name_nothing_is_refused(name: str) -> None:
    found = parse(["--frobnicate=3", "-zz", "a.cnf"], f"/usr/bin/{name}")
    assert found.file == "a.cnf"
    assert {*found.passed, *found.passed_over} == {"--frobnicate=3", "-zz"}


def test_what_is_passed_over_is_said_once(calls: Calls) -> None:
    calls.fake("cvc5", "#!/bin/sh\necho sat\n")
    done = calls.run("--frob", "-zz", "sat.smt2", program=calls.link("z3"))
    assert (done.stdout, done.stderr.count("\n")) == ("sat\n", 1)
    assert "--frob -zz" in done.stderr


@pytest.mark.parametrize(
    ("name", "said"), [("z3", r"Z3 version [\d.]+"), ("kissat", r"[\d.]+"), ("", "pickbest")]
)
def test_it_says_the_version_of_whom_it_stands_for(calls: Calls, name: str, said: str) -> None:
    calls.environment["PATH"] = ""
    done = calls.run("--version", program=calls.link(name or "pickbest"))
    assert done.returncode == 0
    assert re.match(said, done.stdout)


@needs_two
def test_malformed_scripts_end_with_1_and_the_solvers_words(calls: Calls) -> None:
    """D8."""
    calls.write("wrong.smt2", SAT_SMT.replace("#x0f", "undeclared"))
    done = calls.run("wrong.smt2")
    assert done.returncode == 1
    assert "error" in done.stdout
    assert done.stdout.startswith("(error ")
    calls.write("silent.smt2", '(set-logic QF_BV)\n(echo "hello")\n')
    done = calls.run("--who", "silent.smt2")
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "hello", "")


LOGICS = {
    "QF_BV": "(declare-const x (_ BitVec 8))(assert (= x #x01))",
    "QF_ABV": "(declare-const a (Array (_ BitVec 8) (_ BitVec 8)))(assert (= a a))",
    "QF_LIA": "(declare-const x Int)(assert (< (* 3 x) (- 2)))",
    "QF_NIA": "(declare-const x Int)(assert (< (* x x) 2))",
    "QF_LRA": "(declare-const x Real)(assert (< x 2.5))",
    "QF_UF": "(declare-sort U 0)(declare-fun f (U) U)(declare-const a U)(assert (= (f a) a))",
    "UFLIA": "(declare-fun f (Int) Int)(assert (forall ((x Int)) (> (f x) x)))(assert (< (f 0) 0))",
    "QF_S": '(declare-const s String)(assert (= (str.++ s "b") "ab"))',
    "QF_FP": "(declare-const x Float32)(assert (fp.isNaN x))",
    "QF_DTLIA": "(declare-datatypes ((L 0)) (((nil) (cons (head Int) (tail L)))))",
}


@pytest.mark.parametrize("logic", LOGICS)
def test_a_logic_that_is_not_named_is_found(calls: Calls, logic: str) -> None:
    """Else only z3 and cvc5 are asked, and nothing is ever learned (D9)."""
    comment = '; Int Real forall\n(set-info :source "Array BitVec")\n(set-info :x |String|)\n'
    text = LOGICS[logic] + "(check-sat)"
    assert Problem("a", SMTLIB, text.encode()).logic == logic
    assert Problem("a", SMTLIB, (f"(set-logic ALL)\n{text}").encode()).logic == logic
    named = Problem("a", SMTLIB, (comment + "(set-logic QF_AX)" + text).encode())
    assert (named.logic, named.checks) == ("QF_AX", 1)
    fit = list(installed(SMTLIB, logic))
    calls.write("unnamed.smt2", text)
    for solver in fit:
        done = calls.run("--solver", solver, "unnamed.smt2")
        assert done.stdout.strip() in ("sat", "unsat"), (solver, done)


@pytest.mark.skipif("cvc5" not in SMT, reason="cvc5 is not installed (extra: solvers)")
def test_one_question_is_not_asked_incrementally(calls: Calls) -> None:
    """Three proofs took more than 20 s instead of .3 s (D11)."""
    for name, incremental in (("sat.smt2", False), ("twice.smt2", True)):
        calls.write("twice.smt2", SAT_SMT + "(push 1)\n(check-sat)\n")
        problem = Problem(name, SMTLIB, (calls.folder / name).read_bytes())
        argv = installed(SMTLIB, "QF_BV", False, problem.incremental)["cvc5"].argv
        assert ("--incremental" in argv) is incremental
    code = (
        "from pickbest.portfolio.solve.modules import _cvc5\n"
        "print(_cvc5(False, False)[0].getOption('incremental'))"
    )
    if "modules" in " ".join(argv):
        done = calls.run(program=[sys.executable, "-c", code])
        assert done.stdout == "false\n"


def test_with_a_deadline_every_solver_has_its_turn(calls: Calls) -> None:
    """Those that were picked used the deadline up, and who knew was not asked (D11)."""
    for name in ("z3", "cvc5", "bitwuzla", "boolector", "cvc4", "mathsat"):
        calls.fake(name, SLEEPS)
    calls.fake("yices-smt2", "#!/bin/sh\necho unsat\n")
    calls.data.mkdir(parents=True, exist_ok=True)
    Keep(calls.data).offer("smtlib-QF_BV-2", [(("z3", "cvc5"), None)])
    done = calls.run("--who", "-T:2", "unsat.smt2")
    assert done.stdout == "unsat\n", done.stderr
    assert "yices: UNSAT answered" in done.stderr
    again = calls.run("--who", "--frozen", "-T:2", "unsat.smt2")
    assert again.stdout == "unsat\n"
    assert "z3" not in again.stderr  # it is known who solves this


def test_who_solved_it_before_has_a_place(calls: Calls) -> None:
    """Six calls on one file picked six different pairs (D14)."""
    for name in ("z3", "cvc5", "bitwuzla", "boolector", "cvc4", "mathsat"):
        calls.fake(name, "#!/bin/sh\nsleep 0.2\necho unknown\n")
    calls.fake("yices-smt2", "#!/bin/sh\nsleep 0.1\necho unsat\n")
    assert calls.run("unsat.smt2").stdout == "unsat\n"
    for change in ("", "; the same name, other content\n"):
        calls.write("unsat.smt2", UNSAT_SMT + change)
        shown = json.loads(calls.run("--json", "unsat.smt2").stdout)
        assert shown["winner"] == "yices"
        assert shown["runs"][0]["arm"] == "yices"
        assert len(shown["runs"]) <= 2
    calls.write("other.smt2", UNSAT_SMT)  # the same content, another name
    shown = json.loads(calls.run("--json", "--frozen", "other.smt2").stdout)
    assert [run["arm"] for run in shown["runs"]] == ["yices"]


@needs_two
def test_frozen_calls_repeat_and_learn_nothing(calls: Calls) -> None:
    def who() -> list[str]:
        done = calls.run("--frozen", "--json", "sat.smt2")
        return [run["arm"] for run in json.loads(done.stdout)["runs"]]

    first = who()
    assert all(who() == first for _ in range(4))
    assert sorted(path.name for path in calls.data.iterdir()) == ["learning.lock"]


@pytest.mark.parametrize(
    ("second", "code", "printed"),
    [("unsat", 3, "unknown"), ("sat", 0, "sat"), ("unknown", 0, "unknown")],
)
def test_two_solvers_must_agree_where_that_is_asked_for(
    calls: Calls, second: str, code: int, printed: str
) -> None:
    calls.fake("z3", "#!/bin/sh\necho sat\n")
    calls.fake("cvc5", f"#!/bin/sh\nsleep 0.3\necho {second}\n")
    done = calls.run("--confirm", "--solver", "z3", "--solver", "cvc5", "sat.smt2")
    assert (done.returncode, done.stdout) == (code, f"{printed}\n")
    assert ("contradict" in done.stderr) is (code == 3)


def test_no_answer_may_be_a_failure(calls: Calls) -> None:
    calls.fake("z3", "#!/bin/sh\necho unknown\n")
    plain = calls.run("--solver", "z3", "sat.smt2")
    assert (plain.returncode, plain.stdout) == (0, "unknown\n")
    strict = calls.run("--fail-unknown", "--solver", "z3", "sat.smt2")
    assert (strict.returncode, strict.stdout) == (1, "unknown\n")


def test_profiles_are_arms(calls: Calls) -> None:
    calls.fake("z3", '#!/bin/sh\necho "$@" >> words\necho sat\n')
    calls.fake("mine", '#!/bin/sh\necho "mine $@" >> words\necho sat\n')
    toml = (
        'use = ["z3-smt"]\nleave_out = ["cvc5"]\n'
        '[[solver]]\nname = "z3-seed"\nbase = "z3"\noptions = ["smt.random_seed=7"]\n'
        '[[solver]]\nname = "mine"\ncommand = ["mine", "--go", "{problem}"]\n'
    )
    (calls.folder / "config" / "pickbest").mkdir(parents=True)
    calls.write("config/pickbest/solvers.toml", toml)
    listed = calls.run("--list").stdout
    assert "z3-seed" in listed
    assert "cvc5-arrays" in listed.splitlines()[-1]  # ready-made, and not in use
    assert not re.search(r"smtlib +cvc5 ", listed)
    for name, expected in (("z3-seed", "smt.random_seed=7 -smt2"), ("mine", "mine --go")):
        assert calls.run("--solver", name, "sat.smt2").stdout == "sat\n"
        assert (calls.folder / "words").read_text().splitlines()[-1].startswith(expected)
    # A file that merely lies here is not read.
    calls.write("solvers.toml", toml.replace("mine", "theirs"))
    assert "theirs" not in calls.run("--list").stdout
    assert "theirs" in calls.run("--solvers", "solvers.toml", "--list").stdout


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("use = 3", "use must be a list of words"),
        ('use = ["z4"]', "unknown profile 'z4'"),
        ("what = 1", "unknown key 'what'"),
        ('[[solver]]\nname = "a b"', "a solver needs a name"),
        ('[[solver]]\nname = "a"\nbase = "z9"', "unknown solver 'z9'"),
        ('[[solver]]\nname = "a"\ncommand = ["a"]', "must name {problem}"),
        ("[", "cannot be read"),
    ],
)
def test_mistakes_in_solvers_toml_are_named(calls: Calls, toml: str, said: str) -> None:
    calls.write("own.toml", toml)
    done = calls.run("--solvers", "own.toml", "sat.smt2")
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.startswith("error: own.toml: ")


def test_stats_export_and_import(calls: Calls, tmp_path: Path) -> None:
    calls.fake("z3", "#!/bin/sh\nsleep 0.05\necho unsat\n")
    for name in ("cvc5", "cvc4", "yices-smt2", "bitwuzla", "boolector", "mathsat"):
        calls.fake(name, "#!/bin/sh\necho unknown\n")
    for number in range(3):
        calls.run(calls.write(f"{number}.smt2", f"{UNSAT_SMT}; {number}\n"))
    said = calls.run("--stats").stdout
    assert said.startswith("3 calls, 3 answered; ")
    told = json.loads(calls.run("--stats", "--json").stdout)
    (z3,) = [each for each in told["solvers"] if each["solver"] == "z3"]
    assert (z3["won"], z3["answered"], z3["calls"]) == (3, 3, 3)
    assert 0.15 <= z3["low"] <= z3["seconds"] <= z3["high"] < 5.0
    assert calls.run("--export", "a.jsonl").returncode == 0
    assert (calls.folder / "a.jsonl").stat().st_mode & 0o777 == 0o600
    (tmp_path / "other").mkdir()
    other = Calls(tmp_path / "other", {"PATH": calls.environment["PATH"]})
    done = other.run("--import", str(calls.folder / "a.jsonl"))
    assert (done.returncode, done.stderr) == (0, "added 3 calls\n")
    assert other.run("--import", str(calls.folder / "a.jsonl")).stderr == "added 0 calls\n"
    assert other.run("--stats").stdout == calls.run("--stats").stdout
    other.write("0.smt2", f"{UNSAT_SMT}; 0\n")
    shown = json.loads(other.run("--frozen", "--json", "0.smt2").stdout)
    assert [run["arm"] for run in shown["runs"]] == ["z3"]  # what is known came with it
    for content in ("", "{}", '{"format": "pickbest-solve-calls", "version": 1}\n{"id": 3}'):
        calls.write("bad.jsonl", content)
        assert calls.run("--import", "bad.jsonl").returncode == 2


def test_losers_end_when_the_answer_is_known(calls: Calls) -> None:
    """They ran on, up to a day, while nobody read the answer (M10)."""
    seconds = f"4321.{os.getpid()}"
    # No model: else the solvers are asked whether it holds, while the losers run on.
    writes = "print('sat');[print('; a comment %07d' % i) for i in range(20000)]"
    calls.fake("z3", f'#!/bin/sh\nexec "{sys.executable}" -c "{writes}"\n')
    calls.fake("cvc5", f"#!/bin/sh\nexec sleep {seconds}\n")
    process = calls.start("--solver", "z3", "--solver", "cvc5", "sat.smt2")
    assert eventually(lambda: bool(running(seconds)))
    assert eventually(lambda: not running(seconds))
    assert process.poll() is None  # it waits for its reader
    process.kill()
