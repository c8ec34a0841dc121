"""Sessions: answers in order, one per command, as of a single solver; nothing is left behind."""

from __future__ import annotations

import itertools
import os
import random
import re
import select
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from pickbest.portfolio.run.answers.commands import Splitter
from pickbest.portfolio.solve.keep import FILE, Keep
from pickbest.portfolio.solve.known import SMTLIB, SOLVERS, located, places
from tests.portfolio.helpers import eventually, running
from tests.portfolio.solve.conftest import PROGRAM, Calls

TALKING = list(
    dict.fromkeys(
        solver.name
        for solver in SOLVERS
        if solver.format == SMTLIB and located(solver, places(), session=True)
    )
)
pytestmark = pytest.mark.skipif(
    len(TALKING) < 2, reason="two solvers that talk are needed (extra: solvers)"
)
needs_z3 = pytest.mark.skipif("z3" not in TALKING, reason="z3 is not installed (extra: solvers)")
HARD = (
    "(declare-const p (_ BitVec 64))(declare-const q (_ BitVec 64))"
    "(assert (= (bvmul ((_ zero_extend 64) p) ((_ zero_extend 64) q))"
    " (_ bv{} 128)))(assert (bvugt p #x0000000000000001))(assert (bvugt q #x0000000000000001))"
)
PRIME = HARD.format(18446744073709551557)  # more than a minute for every solver


class Talk:
    """A client that writes commands and reads answers."""

    def __init__(self, calls: Calls, *words: str, program: list[str] | None = None) -> None:
        self.process = subprocess.Popen(
            [*(program or PROGRAM), *words], cwd=calls.folder, env=calls.environment, bufsize=0,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        calls.started.append(self.process)
        self.splitter = Splitter()
        self.heard: list[str] = []

    def write(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text.encode())

    def answer(self, seconds: float = 60.0) -> str:
        assert self.process.stdout is not None
        until = time.monotonic() + seconds
        while not self.heard:
            left = until - time.monotonic()
            ready, _, _ = select.select([self.process.stdout], [], [], max(left, 0.0))
            assert ready, "no answer came"
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            assert data, "the session ended"
            self.heard += [each.decode() for each in self.splitter.feed(data)]
        return self.heard.pop(0)

    def ask(self, text: str, seconds: float = 60.0) -> str:
        self.write(text)
        return self.answer(seconds)

    def end(self) -> tuple[str, str, int]:
        output, errors = self.process.communicate(timeout=30)
        return output.decode(), errors.decode(), self.process.returncode


def kept(folder: Path) -> list[str]:
    with closing(sqlite3.connect(folder / FILE)) as connection:
        return [str(name) for (name,) in connection.execute("select name from kept")]


def spoken(calls: Calls, script: str, *words: str) -> list[str]:
    done = calls.run("-in", *words, stdin=script.encode())
    assert done.stderr == ""
    return [each.decode() for each in Splitter().feed(done.stdout.encode() + b"\n")]


def test_a_conversation(calls: Calls) -> None:
    """A client that waits for each answer (D1); also one that is cut into pieces."""
    talk = Talk(calls, "-in")
    assert talk.ask("(set-option :print-success true)") == "success"
    assert talk.ask("(set-logic QF_BV)") == "success"
    for piece in ("(declare-const ", "x (_ BitVec 8", "))(push ", "1)"):
        talk.write(piece)
        time.sleep(0.01)
    assert [talk.answer(), talk.answer()] == ["success", "success"]
    assert talk.ask("(assert (= x #x05))") == "success"
    assert talk.ask("(check-sat)") == "sat"
    assert re.search("#x05|#b00000101|bv5", talk.ask("(get-value (x))"))
    assert talk.ask('(echo "said")') == "said"
    assert talk.ask("(check-sat-assuming ((= x #x06)))") == "unsat"
    assert talk.ask("(pop 1)") == "success"
    assert talk.ask("(pop 1)").startswith("(error")
    assert talk.ask("(push 999999999)").startswith("(error")
    assert talk.ask("(get-info :name)") == '(:name "pickbest")'
    assert talk.ask("(get-info :assertion-stack-levels)") == "(:assertion-stack-levels 0)"
    assert talk.ask("(get-option :print-success)") == "true"
    assert talk.ask("nonsense ").startswith("(error")
    assert talk.ask("(check-sat)") == "sat"
    assert talk.ask("(exit)") == "success"
    assert talk.end() == ("", "", 0)


def test_an_assertion_that_every_solver_refuses_is_an_error_in_its_place(calls: Calls) -> None:
    script = (
        '(set-logic QF_BV)(declare-const x (_ BitVec 8))(echo "1")(assert (= x y))(echo "2")'
        "(push 1)(assert (bvult x))(assert (= x #x01))(check-sat)(pop 1)(check-sat)"
    )
    said = spoken(calls, script)
    assert [each if each[0] != "(" else each[:6] for each in said] == [
        "1", "(error", "2", "(error", "sat", "sat",
    ]  # fmt: skip
    loud = spoken(calls, f"(set-option :print-success true){script}")
    shown = [each if each[0] != "(" else each[:6] for each in loud]
    assert shown == [
        "success", "success", "success", "1", "(error", "2",
        "success", "(error", "success", "sat", "success", "sat",
    ]  # fmt: skip


@needs_z3
def test_what_one_solver_refuses_another_may_take(calls: Calls) -> None:
    """The first cannot go on as long as what it refused is asserted."""
    calls.fake(
        "cvc5",
        "#!/bin/sh\nwhile read line; do echo $line >> lines; case $line in\n"
        "*check-sat*) echo unsat;; *x02*) echo '(error \"no\")';; *) echo success;; esac; done\n",
    )
    script = (
        "(set-logic QF_BV)(declare-const x (_ BitVec 8))(check-sat)"
        "(push 1)(assert (= x #x02))(check-sat)(check-sat)(pop 1)(check-sat)"
    )
    said = spoken(calls, script, "--solver", "cvc5", "--solver", "z3")
    assert said == ["unsat", "sat", "sat", "sat"]  # whoever won last goes on
    # A check is handed on together with what comes before it; that one was refused.
    assert (calls.folder / "lines").read_text().count("check-sat") == 2


@needs_z3
def test_others_join_when_a_check_takes_long(calls: Calls) -> None:
    """The first is stuck; the second answers, and then answers what is asked."""
    stuck = (
        "#!/bin/sh\nwhile read line; do case $line in\n"
        "*check-sat*) sleep 1000;; *) echo success;; esac; done\n"
    )
    calls.fake("cvc5", stuck)
    talk = Talk(calls, "-in", "--solver", "cvc5", "--solver", "z3")
    talk.write("(set-logic QF_BV)(declare-const x (_ BitVec 8))(push 1)(assert (= x #x07))")
    for _ in range(3):
        assert talk.ask("(check-sat)", 20.0) == "sat"
        assert talk.ask("(get-value (x))") == "((x #x07))"
    talk.write("(pop 1)(assert (= x #x09))")
    assert talk.ask("(check-sat)", 20.0) == "sat"
    assert talk.ask("(get-value (x))") == "((x #x09))"
    talk.write("(exit)")
    assert talk.end() == ("", "", 0)
    quoted = Talk(calls, "-i", program=calls.link("cvc5"))
    assert quoted.ask('(echo "a ""b"" ; c")') == '"a ""b"" ; c"'
    (name,) = [each for each in kept(calls.data) if each.startswith("session ")]
    scores = Keep(calls.data).read(name)["scores"]
    assert scores["z3"] > 0.5 > scores["cvc5"]


@needs_z3
def test_a_solver_that_lost_starts_anew(calls: Calls) -> None:
    """z3 gives wrong answers after it was interrupted in a check."""
    calls.fake(
        "cvc5",
        "#!/bin/sh\ntrap 'echo x >> interrupted' INT\necho x >> starts\nwhile read line; do\n"
        "case $line in *check-sat*) sleep 1000;; *) echo success;; esac; done\n",
    )
    talk = Talk(calls, "-in", "--solver", "cvc5", "--solver", "z3")
    talk.write("(set-logic QF_BV)(declare-const x (_ BitVec 8))")
    for number in range(40):
        assert talk.ask(f"(push 1)(assert (= x #x{number:02x}))(check-sat)(pop 1)") == "sat"
        time.sleep(0.02)
    starts = (calls.folder / "starts").read_text().count("x")
    assert 1 < starts < 12  # it was tried again, as a rival, and less and less often
    assert not (calls.folder / "interrupted").exists()
    talk.process.kill()


def test_limits_bound_a_check(calls: Calls) -> None:
    for words, option in ((["-t:300"], ""), (["-T:0.3"], ""), ([], "(set-option :timeout 300)")):
        talk = Talk(calls, "-in", *words)
        talk.write(f"(set-logic QF_BV){option}(push 1){PRIME}")
        started = time.monotonic()
        assert talk.ask("(check-sat)") == "unknown"
        assert 0.25 < time.monotonic() - started < 5.0
        assert talk.ask("(get-info :reason-unknown)") == '(:reason-unknown "timeout")'
        talk.write("(pop 1)(declare-const y (_ BitVec 8))(assert (= y #x01))")
        assert talk.ask("(check-sat)") == "sat"
        talk.write("(exit)")
        assert talk.end()[2] == 0


def test_a_quick_unknown_stays_quick(calls: Calls) -> None:
    says = (
        "#!/bin/sh\nwhile read line; do case $line in\n"
        "*check-sat*) echo unknown;; *exit*) exit;; *) echo success;; esac; done\n"
    )
    for name in ("z3", "cvc5"):
        calls.fake(name, says)
    talk = Talk(calls, "-in", "--solver", "z3", "--solver", "cvc5")
    talk.write("(declare-const a Bool)(assert a)")
    for _ in range(4):
        assert talk.ask("(check-sat)") == "unknown"
    started = time.monotonic()
    for _ in range(50):
        assert talk.ask("(check-sat)") == "unknown"
    assert time.monotonic() - started < 3.0
    talk.process.kill()


@needs_z3
def test_words_of_one_dialect_go_to_it(calls: Calls) -> None:
    talk = Talk(calls, "-in", program=calls.link("z3"))
    assert talk.ask("(get-info :name)") == '(:name "Z3")'
    assert re.match(r'\(:version "[\d.]+"\)', talk.ask("(get-info :version)"))
    talk.write("(set-option :smt.mbqi false)(declare-const x Int)(assert (= x 3))")
    assert talk.ask("(check-sat)") == "sat"
    assert talk.ask("(eval (+ x 1))") == "4"
    assert talk.ask("(simplify (+ 1 2))") == "3"
    talk.write("(minimize x)")
    assert talk.ask("(check-sat)") == "sat"
    assert "x 3" in talk.ask("(get-objectives)")
    talk.process.kill()


def test_reset_and_global_declarations(calls: Calls) -> None:
    script = (
        "(set-option :global-declarations true)(set-logic QF_BV)(push 1)"
        "(declare-const x (_ BitVec 8))(assert (= x #x01))(check-sat)(pop 1)"
        "(assert (= x #x02))(check-sat)(reset-assertions)(assert (= x #x03))(check-sat)(reset)"
        "(set-logic QF_BV)(declare-const x (_ BitVec 4))(assert (= x #x3))(check-sat)"
        "(get-value (x))"
    )
    for pair in itertools.combinations(TALKING, 2):
        said = spoken(calls, script, *(word for name in pair for word in ("--solver", name)))
        assert said[:4] == ["sat"] * 4, (pair, said)
        assert re.fullmatch(r"\(\(x (#x3|#b0011|\(_ bv3 4\))\)\)", said[4])


class Scripts:
    """Random scripts: levels, declarations, names, options, assumptions, models and cores."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.levels: list[list[str]] = [[]]
        self.made = 0
        self.cores = False

    def text(self) -> str:
        rng = self.rng
        # yices takes no assumptions where cores are asked for.
        self.cores = rng.random() < 0.5
        lines = ["(set-option :produce-unsat-cores true)"] * self.cores + ["(set-logic QF_BV)"]
        if rng.random() < 0.3:
            lines.insert(0, "(set-option :print-success true)")
        lines += [self.declared() for _ in range(2)]
        for _ in range(rng.randrange(5, 30)):
            lines.append(rng.choice(self.commands())())
        return rng.choice(["\n", " ", ""]).join(lines)

    def commands(self) -> list[object]:
        usual = [
            self.declared,
            self.asserted,
            self.asserted,
            self.checked,
            self.checked,
            self.pushed,
        ]
        return usual + ([self.popped] * 2 if len(self.levels) > 1 else []) + [self.odd]

    def names(self) -> list[str]:
        return [name for level in self.levels for name in level]

    def declared(self) -> str:
        self.made += 1
        name = self.rng.choice([f"x{self.made}", f"|x {self.made} (|"])
        self.levels[-1].append(name)
        return f"(declare-const {name} (_ BitVec 8))"

    def term(self, depth: int = 2) -> str:
        rng = self.rng
        if depth == 0 or rng.random() < 0.3:
            return rng.choice([*self.names(), f"#x{rng.randrange(256):02x}"])
        operator = rng.choice(["bvadd", "bvand", "bvor", "bvxor", "bvsub"])
        return f"({operator} {self.term(depth - 1)} {self.term(depth - 1)})"

    def atom(self) -> str:
        return f"({self.rng.choice(['=', 'bvult', 'distinct'])} {self.term()} {self.term(1)})"

    def asserted(self) -> str:
        if self.rng.random() < 0.3:
            self.made += 1
            return f"(assert (! {self.atom()} :named n{self.made}))"
        return f"(assert {self.atom()}) ; a comment (\n"

    def checked(self) -> str:
        if self.rng.random() < 0.3 and not self.cores:
            self.made += 1
            assumed = f"(declare-const b{self.made} Bool)(assert (=> b{self.made} {self.atom()}))"
            return f"{assumed}(check-sat-assuming (b{self.made}))"
        return '(check-sat)(echo "checked")'

    def pushed(self) -> str:
        self.levels.append([])
        return "(push 1)"

    def popped(self) -> str:
        self.levels.pop()
        return "(pop 1)"

    def odd(self) -> str:
        return self.rng.choice(
            [
                '(echo "((")', "(get-info :assertion-stack-levels)", "(set-info :source |a (b|)",
                "(assert (= nobody #x00))", "(declare-const bad (_ BitVec))",
            ]
        )  # fmt: skip


def shape(answers: list[str]) -> list[str]:
    """Errors have words of their own."""
    return ["(error" if each.startswith("(error") else each for each in answers]


def alone(script: str) -> list[str]:
    """What z3 says; it numbers no levels, and does not answer to set-info."""
    z3 = located(next(each for each in SOLVERS if each.name == "z3"), places(), session=True)
    assert z3 is not None
    done = subprocess.run(z3.argv, input=script, capture_output=True, text=True, check=False)
    return [each.decode() for each in Splitter().feed(done.stdout.encode() + b"\n")]


def compare(calls: Calls, seeds: range, pairs: list[tuple[str, ...]]) -> None:
    for seed in seeds:
        script = Scripts(seed).text()
        pair = pairs[seed % len(pairs)]
        words = [word for name in pair for word in ("--solver", name)]
        said = spoken(calls, script, *words)
        assert shape(said) == shape(alone(script)), (seed, pair, script)


PAIRS: list[tuple[str, ...]] = [
    *itertools.permutations(TALKING, 2), *((name,) for name in TALKING),
]  # fmt: skip


@needs_z3
def test_random_scripts_are_answered_as_by_one_solver(calls: Calls) -> None:
    compare(calls, range(40), PAIRS)


@needs_z3
@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 3000, 100))
def test_many_random_scripts_are_answered_as_by_one_solver(calls: Calls, start: int) -> None:
    compare(calls, range(start, start + 100), PAIRS)


@contextmanager
def marked_solver(calls: Calls) -> Iterator[str]:
    """A solver that starts something else, which no one may leave behind."""
    seconds = f"{random.randrange(5000, 9000)}.{os.getpid()}"
    calls.fake(
        "cvc5",
        f"#!/bin/sh\nsleep {seconds} &\nwhile read line; do case $line in\n"
        f"*check-sat*) sleep {seconds};; *) echo success;; esac; done\n",
    )
    yield seconds
    assert eventually(lambda: not running(seconds))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, "EOF", "reader"])
def test_however_it_ends_nothing_is_left(calls: Calls, how: object) -> None:
    with marked_solver(calls) as seconds:
        talk = Talk(calls, "-in", "--solver", "cvc5")
        talk.write("(declare-const a Bool)(assert a)(check-sat)")
        assert eventually(lambda: len(running(seconds)) == 2)
        if how == "EOF":
            assert talk.process.stdin is not None
            talk.process.stdin.close()
            time.sleep(0.2)
            assert talk.process.poll() is None  # the question was asked, and waits for its answer
            talk.process.kill()
        elif how == "reader":
            assert talk.process.stdout is not None
            talk.process.stdout.close()
        else:
            talk.process.send_signal(how)  # type: ignore[arg-type]
        talk.process.wait(timeout=20)


@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(n, marks=pytest.mark.slow) for n in range(6, 60))]
)
def test_it_may_end_at_any_moment(calls: Calls, seed: int) -> None:
    """While it starts, reads, races, or ends; with all that is real around it."""
    rng = random.Random(seed)
    talk = Talk(calls, "-in", "-t:500")
    children = f"/proc/{talk.process.pid}/task/{talk.process.pid}/children"
    talk.write(f"(set-logic QF_BV){PRIME}(check-sat)"[: rng.randrange(20, 400)])
    time.sleep(rng.choice([0.0, 0.05, 0.3, 1.0]) * rng.random())
    with open(children) as listing:
        pids = [int(pid) for pid in listing.read().split()]
    how = (signal.SIGKILL, signal.SIGTERM, None)[seed % 3]
    if how is None:
        assert talk.process.stdin is not None
        talk.process.stdin.close()
    else:
        talk.process.send_signal(how)
    talk.process.wait(timeout=20)
    assert eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids), 10.0)


def test_the_callers_limits_hold_for_solvers(calls: Calls) -> None:
    """A daemon's solvers did not have them (D10)."""
    calls.fake("cvc5", "#!/bin/sh\nulimit -v > limit\nwhile read line; do echo success; done\n")
    script = "(declare-const a Bool)(assert a)(exit)"
    calls.run(
        "-c", f"ulimit -v 4000000; {' '.join(PROGRAM)} -in --solver cvc5", program=["bash"],
        stdin=script.encode(),
    )  # fmt: skip
    assert (calls.folder / "limit").read_text() == "4000000\n"


@pytest.mark.skipif("yices" not in TALKING, reason="yices-smt2 is not installed")
def test_a_check_after_one_under_assumptions_is_right(calls: Calls) -> None:
    """yices 2.6.5 alone says sat to the second check of this script, which is unsat."""
    said = spoken(calls, Scripts(2807).text(), "--solver", "yices")
    assert [each for each in said if each in ("sat", "unsat")] == ["sat", "unsat", "unsat", "unsat"]
