"""The daemon: the same answers, for one user only, and nothing left behind."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from pickbest.portfolio import AskTell
from pickbest.portfolio.solve import client, learning
from tests.portfolio.helpers import eventually, running
from tests.portfolio.solve.conftest import QUICK, SAT_SMT, Calls

pytestmark = [
    pytest.mark.skipif(not hasattr(socket, "SO_PEERCRED"), reason="needs Linux"),
    pytest.mark.skipif(shutil.which("cadical") is None, reason="cadical is not installed"),
]
Process = subprocess.Popen[bytes]


def path_of(calls: Calls) -> Path:
    return calls.data / "daemon.sock"


def test_calls_are_served_as_without_it(calls: Calls, daemon: Process) -> None:
    for program in (QUICK, None):
        run = (lambda *w, **k: calls.run(*w, program=QUICK, **k)) if program else calls.run
        done = run("--who", "unsat.cnf")
        assert (done.stdout, done.returncode) == ("s UNSATISFIABLE\n", 20)
        assert "UNSAT answered" in done.stderr
        assert run("sat.smt2").stdout == "sat\n"
        assert run("-", stdin=SAT_SMT.encode()).stdout == "sat\n"
        missing = run("none.cnf")
        assert (missing.returncode, missing.stderr) == (
            2,
            "error: none.cnf: there is no such file\n",
        )
        assert run("--nonsense").returncode == 2
    daemon.send_signal(signal.SIGTERM)
    daemon.wait(30)
    assert not path_of(calls).exists()
    with AskTell.reopened(calls.data / learning.JOURNAL, "dimacs-2") as book:
        assert book.status().finished == 2
        assert book.history()[0].problem.endswith("unsat.cnf")
    assert calls.run("unsat.cnf", program=QUICK).returncode == 20  # without it, too


@pytest.mark.parametrize("compiled", [True, False])
def test_the_program_of_one_word(calls: Calls, daemon: Process, compiled: bool) -> None:
    """`pickbest-solve`, as pip installs it: beside a Python, started by a shell."""
    folder = calls.folder / "venv" / "bin"
    folder.mkdir(parents=True)
    for name in ("pyvenv.cfg", "lib"):
        (folder.parent / name).symlink_to(Path(sys.prefix) / name)
    (folder / "python").symlink_to(sys.executable)
    program = [shutil.copy(client.__file__, folder / "pickbest-solve")]
    in_c = path_of(calls).with_name("daemon.sock.client")
    if compiled and shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    if compiled:
        # Python is not even started.
        (folder / "python").unlink()
        (folder / "python").symlink_to("/bin/false")
        assert in_c.exists()
    else:
        in_c.unlink()
    done = calls.run("a b.cnf", program=program)
    assert (done.returncode, done.stderr) == (2, "error: a b.cnf: there is no such file\n")
    assert calls.run("", program=program).returncode == 2
    assert calls.run("unsat.cnf", program=program).stdout == "s UNSATISFIABLE\n"
    assert calls.run("-", stdin=SAT_SMT.encode(), program=program).stdout == "sat\n"
    (folder / "python").unlink()
    (folder / "python").symlink_to(sys.executable)
    assert "in place of: z3" in calls.run("--help", program=program).stdout
    long = calls.run("x" * 120_000, *["y" * 120_000] * 9, program=program)
    assert long.returncode == 2, "what is too long for a daemon is for Python to refuse"
    daemon.kill()
    daemon.wait()
    assert calls.run("unsat.cnf", program=program).returncode == 20, "the daemon is gone"
    (calls.data / "daemon.sock").unlink()
    in_c.unlink(missing_ok=True)


def test_many_calls_at_a_time(calls: Calls, daemon: Process) -> None:
    codes: list[int] = []
    threads = [
        threading.Thread(
            target=lambda: codes.append(calls.run("unsat.cnf", program=QUICK).returncode)
        )
        for _ in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [20] * 12


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is not installed")
def test_the_kernel_says_who_is_calling(calls: Calls) -> None:
    """Even if somebody opens the door."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        calls.environment["XDG_RUNTIME_DIR"] = folder
        process = calls.start("--daemon")
        assert process.stderr is not None
        assert process.stderr.readline().startswith(b"serving on")
        path = Path(folder, "pickbest-solve.sock")
        path.chmod(0o777)
        ask = (
            "import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
            "print(s.recv(1)[0])"
        )
        command = ["setpriv", "--reuid=65534", "--clear-groups", "/usr/bin/python3", "-c", ask]
        other = calls.run(str(path), program=command)
        process.terminate()
        process.communicate(timeout=30)
    assert (other.stdout.strip(), other.stderr) == (str(client.BUSY), "")


NONSENSE = (
    b"",
    b"\0",
    b"\xff\xff\xff\xff",
    (4).to_bytes(4, "big") + b"abcd",
    b"GET / HTTP/1.0\r\n",
)


def test_only_this_user_is_served_and_nonsense_is_refused(calls: Calls, daemon: Process) -> None:
    mode = path_of(calls).stat().st_mode
    assert stat.S_ISSOCK(mode)
    assert mode & 0o177 == 0
    for message in NONSENSE:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(path_of(calls)))
            connection.sendall(message)
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(1) == bytes([client.BUSY]), message
        assert calls.run("unsat.cnf", program=QUICK).returncode == 20, message
        assert daemon.poll() is None, message


def test_a_caller_that_goes_away_ends_its_solvers(calls: Calls, daemon: Process) -> None:
    # The daemon looks for solvers where it was started: it is told of these by their folder.
    seconds = f"3000.{os.getpid()}"
    for name in ("cadical", "kissat"):
        calls.fake(name, f"#!/bin/sh\nsleep {seconds}\n")
    calls.environment["XDG_DATA_HOME"] = str(calls.folder / "second")
    (calls.folder / "second" / "pickbest" / "solve").mkdir(parents=True)
    second = calls.start("--daemon")
    assert second.stderr is not None
    assert second.stderr.readline().startswith(b"serving on")
    call = calls.start("--solver", "cadical", "--solver", "kissat", "unsat.cnf", program=QUICK)
    assert eventually(lambda: len(running(seconds)) == 2)
    call.kill()
    call.communicate()
    assert eventually(lambda: not running(seconds))
    call = calls.start("--solver", "cadical", "unsat.cnf", program=QUICK)
    assert eventually(lambda: len(running(seconds)) == 1)
    second.terminate()
    second.communicate(timeout=30)
    call.communicate(timeout=30)
    assert call.returncode != 20
    assert eventually(lambda: not running(seconds))


def test_there_is_one_daemon(calls: Calls, daemon: Process) -> None:
    done = calls.run("--daemon")
    assert done.returncode == 2
    assert "a daemon serves on" in done.stderr
    daemon.kill()
    daemon.wait()
    assert path_of(calls).exists()  # nobody could remove it
    again = calls.start("--daemon")
    assert again.stderr is not None
    assert again.stderr.readline().startswith(b"serving on")
    again.terminate()
    again.communicate(timeout=30)
    assert again.returncode == 0
