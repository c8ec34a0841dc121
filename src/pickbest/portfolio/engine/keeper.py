"""The keeper: forks guards, and ends what a guard that was killed leaves behind."""

import contextlib
import gc
import os
import resource
import selectors
import signal
import socket
import time
import traceback
from importlib import import_module
from typing import Any

from pickbest.core.references import import_from
from pickbest.portfolio.engine import guard, tree, wire
from pickbest.portfolio.processes import (
    PR_SET_CHILD_SUBREAPER,
    PR_SET_DUMPABLE,
    pidfd,
    prctl,
)

# What the portfolio may ask of a keeper; a socket comes with each.
GUARD, PREPARE, SWEEP = b"G", b"P", b"S"
# What a keeper says when it may be asked.
READY = b"R"
# Seconds in which orphans should be gone, and in which guards should follow their portfolio.
SWEEP_SECONDS, FAREWELL_SECONDS = 0.3, 1.0


def main(control_fd: int, portfolio_pid: int) -> None:
    """Serve until the portfolio is gone."""
    control = socket.socket(fileno=control_fd)
    control.set_inheritable(False)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    # No arm of the same user may look into this process, or take a descriptor of it.
    prctl(PR_SET_DUMPABLE, 0)
    # Collecting garbage would copy pages that all forks could share.
    gc.disable()
    gc.freeze()
    with contextlib.suppress(OSError):  # the portfolio was killed: `serve` sees it
        control.sendall(READY)
    Keeper(control, pidfd(portfolio_pid)).serve()


class Keeper:
    """Its children are guards, and orphans of guards that were killed."""

    def __init__(self, control: socket.socket, portfolio: int | None) -> None:
        self.control = control
        self.portfolio = portfolio
        self.guards: set[int] = set()
        self.reaper = tree.Reaper()

    def serve(self) -> None:
        woken, wake = socket.socketpair()
        wake.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        selector = selectors.DefaultSelector()
        for source in (self.control, woken, self.portfolio):
            if source is not None:
                selector.register(source, selectors.EVENT_READ)
        while True:
            ready = {key.fd for key, _ in selector.select()}
            if woken.fileno() in ready:
                woken.recv(1 << 16)
                self.sweep()
            if self.portfolio in ready:
                break
            if self.control.fileno() in ready:
                try:
                    message, descriptors, _, _ = socket.recv_fds(self.control, 1, 1)
                except ConnectionError:  # the portfolio was killed, with something unread
                    break
                if not message:
                    break
                os.set_inheritable(descriptors[0], False)
                with socket.socket(fileno=descriptors[0]) as connection:
                    self._answer(message, connection)
        self._farewell()

    def sweep(self) -> None:
        """Reap what has ended, and end what is not a guard."""
        self.reaper.end_children(self.guards, SWEEP_SECONDS)
        self.guards -= self.reaper.statuses.keys()
        self.reaper.statuses.clear()

    def _answer(self, message: bytes, connection: socket.socket) -> None:
        if message == GUARD:
            pid = os.fork()
            if pid == 0:
                self._become_guard(connection)
            self.guards.add(pid)
            return
        answer: dict[str, Any] = {}
        if message == PREPARE:
            answer = prepare(*wire.receive(connection))
        else:
            self.sweep()
        with contextlib.suppress(OSError):  # the portfolio may not have waited
            connection.sendall(wire.packed(answer))

    def _become_guard(self, connection: socket.socket) -> None:
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self.control.close()
            guard.serve(connection, self.portfolio)
            code = 0
        finally:
            os._exit(code)

    def _farewell(self) -> None:
        """The portfolio is gone: every guard ends its arm, and is ended if it does not."""
        until = time.monotonic() + FAREWELL_SECONDS
        while self.guards and time.monotonic() < until:
            self.sweep()
            time.sleep(0.005)
        self.reaper.end_children(within=FAREWELL_SECONDS)


def prepare(request: dict[str, Any], _: bytes) -> dict[str, str]:
    """Import what the functions of Python arms need, once, as multiprocessing would."""
    from multiprocessing import spawn

    try:
        if request["program"] is not None:
            spawn.prepare(request["program"])
        for module, folder in request["modules"]:
            import_from(folder, module) if folder else import_module(module)
        gc.freeze()
    except BaseException:
        return {"error": traceback.format_exc(limit=-1).strip().splitlines()[-1]}
    return {"error": ""}
