"""The portfolio's side of its keeper and guards; `keeper` and `guard` are theirs."""

from __future__ import annotations

import contextlib
import os
import selectors
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
from pickbest.portfolio.engine import keeper, limits, wire
from pickbest.portfolio.engine.engines import environment
from pickbest.portfolio.processes import pidfd

# Stands for the program that runs among the modules that a keeper has imported.
PROGRAM = ("", "")
# Seconds that a keeper or a guard without an arm may take to react, and a new keeper to start.
REACT_SECONDS, START_SECONDS = 5.0, 60.0
# Guards that wait for their next arm; more than so many are let go.
MOST_IDLE = 32
_LAUNCH = (
    "import sys; sys.path.insert(0, {home!r}); "
    "from pickbest.portfolio.engine.keeper import main; main({control}, {portfolio})"
)


class Link:
    """The connection to one guard."""

    def __init__(self, connection: socket.socket, pid: int, generation: int) -> None:
        self.socket = connection
        self.pid = pid
        self.generation = generation
        self._pidfd = pidfd(pid)

    def send(self, content: dict[str, Any], payload: bytes = b"") -> bool:
        """Whether the guard took it: it may be gone, or stopped."""
        try:
            self.socket.sendall(wire.packed(content, payload))
        except OSError:
            return False
        return True

    def kill(self, within: float) -> None:
        """Kill the guard, and wait until what is below it has fallen to the keeper."""
        with contextlib.suppress(OSError):
            if self._pidfd is None:
                os.kill(self.pid, signal.SIGKILL)
            else:
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
                _ready(self._pidfd, within)

    def close(self) -> None:
        """Let go of the guard; it ends by itself."""
        self.socket.close()
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None


class Guards:
    """Hands out guards; starts a keeper on first use, and another one if it died.

    imports_program: whether Python arms may be functions of the program that runs (__main__).
    """

    def __init__(self, imports_program: bool = True) -> None:
        self._imports_program = imports_program
        self._lock = threading.Lock()
        self._keeper: subprocess.Popen[bytes] | ForkedKeeper | None = None
        self._control: socket.socket | None = None
        self._prepared: set[tuple[str, str]] = set()
        self._generation = 0
        self._idle: list[Link] = []
        self._group: limits.Group | None = None
        self._group_sought = False

    def take(self, modules: Sequence[tuple[str, str]] | None) -> Link:
        """A guard for one run; modules: what its function needs, None for a command."""
        with self._lock:
            for last in (False, True):
                try:
                    if modules is not None:
                        self._prepare(modules)
                    while self._idle:
                        link = self._idle.pop()
                        # One that has something to say has died.
                        if link.generation == self._generation and not _ready(link.socket):
                            return link
                        link.close()
                    return self._new()
                except OSError as error:
                    self._shut_down(kill=True)
                    if last:
                        message = f"the process that starts arms cannot be started: {error}"
                        raise PickbestError(message) from error
        raise AssertionError("the second try returns or raises")

    def give_back(self, link: Link) -> None:
        """A guard whose run is over, with nothing left of it."""
        with self._lock:
            if self._control is not None and len(self._idle) < MOST_IDLE:
                self._idle.append(link)
            else:
                link.close()

    def abandon(self, link: Link, seconds: float) -> None:
        """End a guard that does not answer, and everything below it, in so many seconds.

        What was below it falls to the keeper. Where that was killed, too, nobody knows it.
        """
        until = time.monotonic() + seconds
        link.kill(seconds / 2.0)
        link.close()
        with contextlib.suppress(OSError):
            if self._control is not None:
                _asked(self._control, keeper.SWEEP, max(until - time.monotonic(), 0.01))

    def group(self) -> limits.Group | None:
        """The control group under which races with limits are run; None: they are polled."""
        with self._lock:
            if not self._group_sought:
                limits.remove_abandoned()
                self._group, self._group_sought = limits.make_group(), True
            return self._group

    def close(self) -> None:
        with self._lock:
            self._shut_down()
            if self._group is not None:
                self._group.kill()
                self._group.remove()
            self._group, self._group_sought = None, False

    def _new(self) -> Link:
        """Let the keeper fork a guard; a keeper that is gone or does not react is replaced."""
        ours, theirs = socket.socketpair()
        ours.settimeout(REACT_SECONDS)
        try:
            with theirs:
                socket.send_fds(self._live(), [keeper.GUARD], [theirs.fileno()])
            return Link(ours, int(wire.receive(ours)[0]["pid"]), self._generation)
        except BaseException:
            ours.close()
            raise

    def _prepare(self, modules: Sequence[tuple[str, str]]) -> None:
        """Let the keeper import this program and modules, so that runs need not do it again."""
        control = self._live()
        wanted = {PROGRAM, *modules} - self._prepared
        if not wanted:
            return
        program = _preparation(self._imports_program) if PROGRAM in wanted else None
        request = {"modules": sorted(wanted - {PROGRAM}), "program": program}
        try:
            reply = _asked(control, keeper.PREPARE, None, request)
        except OSError as error:
            self._shut_down(kill=True)
            reply = {"error": f"the process ended ({error})"}
        if reply["error"]:
            raise PickbestError(
                "Python arms run in another process, which imports this program first "
                f"(put what it starts under if __name__ == '__main__'), and failed: "
                f"{reply['error']}"
            )
        self._prepared |= wanted
        # Guards that were forked before do not know these modules.
        self._generation += 1

    def _live(self) -> socket.socket:
        """The connection to a keeper that lives."""
        if self._control is not None and self._keeper is not None and self._keeper.poll() is None:
            return self._control
        self._shut_down()
        return self._launch()

    def _launch(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            self._keeper = self._started_keeper(theirs)
        self._control = ours
        self._generation += 1
        ours.settimeout(START_SECONDS)
        if ours.recv(1) != keeper.READY:
            raise ConnectionError("it ended at once")
        ours.settimeout(REACT_SECONDS)
        return ours

    def _started_keeper(self, control: socket.socket) -> subprocess.Popen[bytes] | ForkedKeeper:
        home = str(Path(pickbest.__file__).parents[1])
        code = _LAUNCH.format(home=home, control=control.fileno(), portfolio=os.getpid())
        return subprocess.Popen(
            # -I: neither the folder in which this runs nor PYTHON* variables bring in modules.
            [sys.executable, "-I", "-c", code],
            pass_fds=[control.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            env=environment(os.environ),
        )

    def _shut_down(self, kill: bool = False) -> None:
        for link in self._idle:
            link.close()
        self._idle.clear()
        self._prepared.clear()
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._keeper is not None:
            if kill:
                self._keeper.kill()
            try:
                self._keeper.wait(timeout=5.0)
            except subprocess.TimeoutExpired:
                self._keeper.kill()
                self._keeper.wait()
            self._keeper = None


def _asked(
    control: socket.socket,
    message: bytes,
    timeout: float | None,
    content: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """What a keeper answers; OSError if it does not."""
    ours, theirs = socket.socketpair()
    with ours:
        ours.settimeout(timeout)
        with theirs:
            socket.send_fds(control, [message], [theirs.fileno()])
        if content is not None:
            ours.sendall(wire.packed(content))
        return wire.receive(ours)[0]


def _ready(source: socket.socket | int, within: float = 0.0) -> bool:
    """Whether there is something to read, in so many seconds."""
    with selectors.DefaultSelector() as selector:
        selector.register(source, selectors.EVENT_READ)
        return bool(selector.select(within))


def _preparation(imports_program: bool) -> dict[str, Any]:
    """What multiprocessing would tell a spawned process: paths, and which program to import."""
    from multiprocessing import spawn

    data = spawn.get_preparation_data("pickbest arms")
    del data["authkey"]
    if not imports_program:
        data.pop("init_main_from_name", None)
        data.pop("init_main_from_path", None)
    return data


class ForkedGuards(Guards):
    """Guards of a keeper that is a fork of this process, for a program that races and is gone.

    Starting a Python process takes longer than many problems. A small program with one thread
    may fork its keeper instead; the promises are the same. Python functions cannot be arms here.
    """

    def _started_keeper(self, control: socket.socket) -> ForkedKeeper:
        portfolio = os.getpid()
        pid = os.fork()
        if pid == 0:
            _become_keeper(control.fileno(), portfolio)
        return ForkedKeeper(pid)


class ForkedKeeper:
    """A keeper that was forked, to be waited for and killed as one that was started."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._ended = False

    def poll(self) -> int | None:
        try:
            self._ended = self._ended or os.waitpid(self.pid, os.WNOHANG) != (0, 0)
        except ChildProcessError:  # somebody else has waited for it
            self._ended = True
        return 0 if self._ended else None

    def kill(self) -> None:
        if not self._ended:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout: float = float("inf")) -> int:
        until = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > until:
                raise subprocess.TimeoutExpired("keeper", timeout)
            time.sleep(0.001)
        return 0


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
