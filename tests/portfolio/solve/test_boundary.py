"""A call answers, whatever is around it, and runs nothing that was not asked for."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import ModuleType

import pytest

from pickbest.portfolio import AskTell
from pickbest.portfolio.solve.calls import kept
from pickbest.portfolio.solve.keep import FILE, Keep
from tests.portfolio.solve.conftest import PROGRAM, SAT_SMT, SLEEPS, Calls

FAKE = "#!/bin/sh\necho sat\n"
MARKED = "import os\nopen(os.environ['MARK'], 'a').write(__name__ + '\\n')\nraise SystemExit(9)\n"


@pytest.fixture
def quick(calls: Calls) -> Calls:
    """One fake solver that answers at once."""
    calls.fake("z3", FAKE)
    return calls


def solved(calls: Calls, *words: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    given = {"cwd": calls.folder, "env": calls.environment, "capture_output": True, **options}
    return subprocess.run([*PROGRAM, *words, "--solver", "z3", "sat.smt2"], check=False, **given)  # type: ignore[call-overload, no-any-return]


def learned(calls: Calls) -> int:
    with AskTell.reopened(calls.data / "solve.db", "smtlib-QF_BV-2") as book:
        return book.status().finished


def test_modules_beside_the_problem_are_not_run(quick: Calls) -> None:
    """`./argparse.py` was, when it was imported (H1); found by tracing, not by a list."""
    script = quick.folder / "installed"
    script.write_text(
        f"#!{sys.executable}\nimport sys\nfrom pickbest.cli.solve import command\ncommand()\n"
    )
    script.chmod(0o755)
    work = quick.folder / "work"
    work.mkdir()
    (work / "sat.smt2").write_text(SAT_SMT)
    traced = subprocess.run(
        [sys.executable, "-v", str(script), "--solver", "z3", "sat.smt2"],
        cwd=work, env=quick.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    names = {
        line.split("'")[1].split(".")[0]
        for line in traced.stderr.splitlines()
        if line.startswith("import '")
    }
    assert {"json", "sqlite3", "pickbest"} <= names
    mark = quick.folder / "mark"
    quick.environment["MARK"] = str(mark)
    for name in names | {"coverage", "cython", "sitecustomize", "usercustomize", "cvc5", "numpy"}:
        (work / f"{name}.py").write_text(MARKED)
    for words in (
        ["sat.smt2"],
        ["--solver", "z3", "sat.smt2"],
        ["--list"],
        ["--stats"],
        ["--learn"],
    ):
        subprocess.run(
            [str(script), *words], cwd=work, env=quick.environment, capture_output=True,
            check=False, timeout=60,
        )  # fmt: skip
    assert not mark.exists(), mark.read_text()


def test_programs_beside_the_problem_are_not_run(quick: Calls) -> None:
    (quick.folder / "cvc4").write_text(f"#!/bin/sh\necho x > {quick.folder}/mark\n")
    (quick.folder / "cvc4").chmod(0o755)
    quick.environment["PATH"] = f".::{quick.environment['PATH']}"
    assert solved(quick).stdout == b"sat\n"
    assert "cvc4" not in quick.run("--json", "sat.smt2").stdout
    assert not (quick.folder / "mark").exists()


@pytest.mark.parametrize("what", ["missing", "a file", "read-only", "not ours", "full"])
def test_without_a_data_folder_it_solves_and_says_so(quick: Calls, what: str) -> None:
    """A traceback instead of an answer (H4, D13)."""
    home = quick.folder / "home"
    if what == "missing":
        home = Path("/proc/nonexistent")
    elif what == "a file":
        home.write_text("")
    elif what == "not ours":
        (home / "pickbest" / "solve").mkdir(parents=True)
        os.chown(home / "pickbest" / "solve", 12345, 12345)
    elif what == "read-only":
        home = Path("/sys/kernel")
    else:
        home = Path("/dev/full")
    quick.environment["XDG_DATA_HOME"] = str(home)
    done = solved(quick)
    assert (done.returncode, done.stdout) == (0, b"sat\n")
    assert done.stderr == b"note: the data folder cannot be used, so nothing is learned\n"


def test_a_full_disk_does_not_cost_the_answer(quick: Calls) -> None:
    """Nothing can be written there: no file may grow."""
    quick.data.mkdir(parents=True)
    done = quick.run(
        "sat.smt2",
        program=["sh", "-c", f'ulimit -f 0; trap "" XFSZ; exec {" ".join(PROGRAM)} "$@"', "sh"],
    )
    assert (done.returncode, done.stdout) == (0, "sat\n"), done.stderr
    assert not done.stderr


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-", ">&-", "<&- >&- 2>&-"])
def test_closed_streams(quick: Calls, closed: str) -> None:
    command = f"{' '.join(PROGRAM)} --solver z3 sat.smt2 {closed}"
    done = subprocess.run(
        command, shell=True, cwd=quick.folder, env=quick.environment, capture_output=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stdout == (b"" if ">&-" in closed.replace("2>&-", "") else b"sat\n")
    assert b"Traceback" not in done.stderr


def test_an_answer_that_cannot_be_written_is_an_error(quick: Calls) -> None:
    with open("/dev/full", "wb") as full:
        done = solved(quick, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr == b"error: the answer could not be written (No space left on device)\n"


@pytest.mark.parametrize("content", [b"", b"nonsense" * 1000, os.urandom(100_000)])
def test_damaged_state_is_set_aside_and_learning_goes_on(quick: Calls, content: bytes) -> None:
    """An empty arms.json stopped all learning without a word (M8)."""
    quick.data.mkdir(parents=True)
    (quick.data / FILE).write_bytes(content)
    done = quick.run("sat.smt2")
    assert (done.returncode, done.stdout) == (0, "sat\n")
    assert ("calls.db was damaged" in done.stderr) is (content != b"")
    assert quick.run("--learn").returncode == 0
    assert quick.run("--stats").stdout.startswith("1 calls, 1 answered")
    assert learned(quick) == 1
    assert quick.run("--frozen", "sat.smt2").stderr == ""


def test_a_damaged_journal_is_learned_anew(quick: Calls) -> None:
    quick.run("sat.smt2")
    quick.run("--learn")
    assert learned(quick) == 1
    (quick.data / "solve.db").write_bytes(b"nonsense" * 1000)
    quick.run(quick.write("other.smt2", SAT_SMT + ";\n"))
    quick.run("--learn")
    assert (quick.data / "solve.db.damaged").exists()
    quick.run("--learn")
    assert learned(quick) == 2


# A process whose only child is the call: what it used is not mixed with other tests' children.
WEIGHED = (
    sys.executable,
    "-c",
    "import resource, subprocess, sys\n"
    "code = subprocess.run(sys.argv[1:]).returncode\n"
    "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
    "print(used.ru_maxrss, used.ru_utime + used.ru_stime, file=sys.stderr)\n"
    "sys.exit(code)",
)


@pytest.mark.parametrize("packed", [gzip, bz2, lzma])
def test_a_bomb_is_refused_at_once(quick: Calls, packed: ModuleType) -> None:
    """400 kB took 56 s and 1.6 GB (M4)."""
    suffix = {gzip: "gz", bz2: "bz2", lzma: "xz"}[packed]
    path = quick.folder / f"bomb.smt2.{suffix}"
    with packed.open(path, "wb") as file:
        for _ in range(400):
            file.write(b"\n" * (1 << 20))
    done = quick.run("--solver", "z3", path.name, program=[*WEIGHED, *PROGRAM])
    assert done.returncode == 2
    assert "unpack it first" in done.stderr
    kilobytes, seconds = map(float, done.stderr.split()[-2:])
    assert seconds < 10.0
    assert kilobytes < 500_000


def test_the_caller_says_how_long_a_problem_may_be(quick: Calls) -> None:
    long = quick.write("long.smt2", ";" * (3 << 20) + "\n(set-logic QF_UF)\n(check-sat)\n")
    for largest, told in (("2", "longer than 2 MB"), ("two", "must be a whole number")):
        quick.environment["PICKBEST_LARGEST"] = largest
        refused = quick.run("--solver", "z3", long)
        assert refused.returncode == 2
        assert told in refused.stderr
    quick.environment["PICKBEST_LARGEST"] = "4"
    assert quick.run("--solver", "z3", long).stdout == "sat\n"


@pytest.mark.parametrize(
    "line", [b"; a comment\n", b"(declare-const x Int)\n", b"((((((\n", b'"', b"|", b"(* x "]
)
def test_reading_is_linear(line: bytes) -> None:
    """6 MB of comments took 692 MB."""
    from pickbest.portfolio.solve.problem import SMTLIB, Problem

    def seconds(count: int) -> float:
        started = time.process_time()
        Problem("a", SMTLIB, line * count)
        return time.process_time() - started

    short = max(seconds(2_000_000 // len(line)), 1e-3)
    assert seconds(16_000_000 // len(line)) < 30.0 * short + 1.0


@pytest.mark.parametrize("stuck", ["reading", "checking", "printing"])
def test_the_deadline_covers_everything(quick: Calls, stuck: str) -> None:
    """--deadline 2 took 20.5 s (M3)."""
    started = time.monotonic()
    if stuck == "reading":
        process = subprocess.Popen(
            [*PROGRAM, "-T:1", "--solver", "z3", "-"], cwd=quick.folder, env=quick.environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"(set-logic QF_BV)\n")
        process.stdin.flush()
        assert process.stdout.read() == b"unknown\n"
        process.wait()
        process.stdin.close()
        process.stdout.close()
    elif stuck == "checking":
        for name in ("cvc5", "cvc4", "bitwuzla"):
            quick.fake(name, SLEEPS)
        model = "sat\\n(\\n(define-fun x () (_ BitVec 8) #x05)\\n)\\n"
        quick.fake("z3", f"#!/bin/sh\nprintf '{model}'\n")
        quick.write("sat.smt2", SAT_SMT + "(get-model)\n")
        done = solved(quick, "-T:1")
        assert done.stdout.startswith(b"sat\n")
    else:
        quick.fake("z3", "#!/bin/sh\necho sat\nyes '(define-fun x () Int 0)' | head -n 100000\n")
        process = quick.start("-T:1", "--solver", "z3", "sat.smt2")
        # 0: on a busy machine, its time may be over before it has something to print.
        assert process.wait(timeout=20) in (0, 1)
        process.communicate()
    assert time.monotonic() - started < 4.0


def test_pipes_are_files(quick: Calls) -> None:
    """FIFOs and <(…) were refused."""
    command = " ".join([*PROGRAM, "--solver", "z3"])
    done = quick.run("-c", f"{command} <(cat sat.smt2)", program=["bash"])
    assert done.stdout == "sat\n", done.stderr
    os.mkfifo(quick.folder / "p.smt2")
    writer = threading.Thread(target=lambda: (quick.folder / "p.smt2").write_text(SAT_SMT))
    writer.start()
    assert quick.run("--solver", "z3", "p.smt2").stdout == "sat\n"
    writer.join()
    assert quick.run("--solver", "z3", "/dev/stdin", stdin=SAT_SMT.encode()).stdout == "sat\n"


def test_state_is_private(quick: Calls) -> None:
    os.umask(0)
    try:
        quick.run("sat.smt2")
    finally:
        os.umask(0o022)
    for path in quick.data.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path
    assert [call.problem for _, call in kept(Keep(quick.data))] == ["sat.smt2"]
