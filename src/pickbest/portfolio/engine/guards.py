"""The portfolio's side of its keeper and guards; `keeper` and `guard` are theirs."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import pickbest
from pickbest.core.errors import PickbestError
from pickbest.portfolio.engine import keeper, messages
from pickbest.portfolio.engine.engines import environment
from pickbest.portfolio.processes import pidfd

# Stands for the program that runs among the modules that a keeper has imported.
PROGRAM = ("", "")
# Seconds that a keeper may take to react, and a new one to start.
REACT_SECONDS, START_SECONDS = 5.0, 60.0
_LAUNCH = (
    "import sys; sys.path.insert(0, {home!r}); "
    "from pickbest.portfolio.engine.keeper import main; main({control}, {portfolio})"
)


class Link:
    """The connection to one guard."""

    def __init__(self, connection: socket.socket, pid: int) -> None:
        self.socket = connection
        self.pid = pid
        self._pidfd = pidfd(pid)

    def ask_to_stop(self) -> None:
        """The end of what is said to a guard means that its arm is to end."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def kill(self, within: float) -> None:
        """Kill the guard, and wait until the keeper has ended what was below it.

        The keeper, too, holds the guard's end of the connection, and closes it then.
        """
        with contextlib.suppress(OSError):
            if self._pidfd is not None:
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            self.socket.settimeout(within)
            while self.socket.recv(1 << 20):
                pass

    def close(self) -> None:
        """Let go of the guard; it ends on its own."""
        self.socket.close()
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None


class Guards:
    """Hands out guards; starts a keeper on first use, and another one if it died.

    imports_program: whether Python arms may be functions of the program that runs (__main__).
    forked: the keeper is a fork of this process, which saves the start of a Python. That is for
        a small program with one thread, which races and is gone; it has no Python arms.
    """

    def __init__(self, imports_program: bool = True, forked: bool = False) -> None:
        self._imports_program = imports_program
        self._forked = forked
        self._lock = threading.Lock()
        self._control: socket.socket | None = None
        self.keeper = 0  # its pid
        self._prepared: set[tuple[str, str]] = set()

    def take(self, modules: Sequence[tuple[str, str]] | None) -> Link:
        """A guard for one run; modules: what its function needs, None for a command."""
        wanted = set() if modules is None else {PROGRAM, *modules}
        with self._lock:
            for last in (False, True):
                try:
                    return self._new(wanted)
                except OSError as error:
                    self._end_keeper(kill=True)
                    if last:
                        what = "the process that starts arms"
                        raise PickbestError(f"{what} cannot be started: {error}") from error
        raise AssertionError("the second try returns or raises")

    def close(self) -> None:
        with self._lock:
            self._end_keeper()

    def _new(self, wanted: set[tuple[str, str]]) -> Link:
        """Let the keeper import what is wanted, and fork a guard."""
        patience = REACT_SECONDS
        if self._control is None:
            self._control, patience = self._launched(), START_SECONDS
        missing = wanted - self._prepared
        ours, theirs = socket.socketpair()
        try:
            # Importing a program may take any time.
            ours.settimeout(None if missing else patience)
            with theirs:
                socket.send_fds(self._control, [keeper.GUARD], [theirs.fileno()])
            messages.send(ours, self._preparation(missing))
            reply = messages.receive(ours)
            ours.settimeout(REACT_SECONDS)
            if reply["error"]:
                raise PickbestError(
                    "Python arms run in another process, which imports this program first "
                    f"(put what it starts under if __name__ == '__main__'), and failed: "
                    f"{reply['error']}"
                )
            self._prepared |= missing
            return Link(ours, int(reply["pid"]))
        except BaseException:
            ours.close()
            raise

    def _preparation(self, missing: set[tuple[str, str]]) -> dict[str, Any]:
        """What multiprocessing would tell a spawned process: paths, and what to import."""
        program = None
        if PROGRAM in missing:
            from multiprocessing import spawn

            program = spawn.get_preparation_data("pickbest arms")
            del program["authkey"]
            if not self._imports_program:
                program.pop("init_main_from_name", None)
                program.pop("init_main_from_path", None)
        return {"modules": sorted(missing - {PROGRAM}), "program": program}

    def _launched(self) -> socket.socket:
        """The connection to a new keeper."""
        ours, theirs = socket.socketpair()
        ours.settimeout(REACT_SECONDS)
        with theirs:
            self.keeper = self._fork(theirs) if self._forked else self._start(theirs)
        return ours

    def _start(self, control: socket.socket) -> int:
        home = str(Path(pickbest.__file__).parents[1])
        code = _LAUNCH.format(home=home, control=control.fileno(), portfolio=os.getpid())
        process = subprocess.Popen(
            # -I: neither the folder in which this runs nor PYTHON* variables bring in modules.
            [sys.executable, "-I", "-c", code],
            pass_fds=[control.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            env=environment(os.environ),
        )
        process.returncode = 0  # `_end_keeper` waits for it
        return process.pid

    def _fork(self, control: socket.socket) -> int:
        portfolio, pid = os.getpid(), os.fork()
        if pid == 0:
            _become_keeper(control.fileno(), portfolio)
        return pid

    def _end_keeper(self, kill: bool = False) -> None:
        if self._control is None:
            return
        self._control.close()
        self._control = None
        self._prepared.clear()
        until = time.monotonic() + (0.0 if kill else REACT_SECONDS)
        with contextlib.suppress(ChildProcessError):  # somebody else has waited for it
            while os.waitpid(self.keeper, os.WNOHANG) == (0, 0):
                if time.monotonic() >= until:
                    os.kill(self.keeper, signal.SIGKILL)
                    os.waitpid(self.keeper, 0)
                    return
                time.sleep(0.001)


def _become_keeper(control: int, portfolio: int) -> NoReturn:
    """In the fork: as one that was just started, with nothing of its parent's but the socket."""
    code = 1
    try:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        kept = os.dup2(control, 3) if control != 3 else control
        os.closerange(4, os.sysconf("SC_OPEN_MAX"))
        keeper.main(kept, portfolio)
        code = 0
    finally:
        os._exit(code)
