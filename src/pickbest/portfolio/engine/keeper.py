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
from pickbest.portfolio.engine import guard, messages, tree
from pickbest.portfolio.processes import PR_SET_CHILD_SUBREAPER, PR_SET_DUMPABLE, pidfd, prctl

# What the portfolio asks of a keeper; a socket comes with it.
GUARD = b"G"
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
    Keeper(control, pidfd(portfolio_pid)).serve()


class Keeper:
    """Its children are guards, and orphans of guards that were killed.

    guards: by pid, each with its end of the connection to the portfolio. The keeper holds it until
    nothing of a guard is left, so that the portfolio can wait for that.
    """

    def __init__(self, control: socket.socket, portfolio: int | None) -> None:
        self.control = control
        self.portfolio = portfolio
        self.guards: dict[int, socket.socket] = {}
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
                with contextlib.suppress(OSError):  # the portfolio may not have waited
                    self._start_guard(socket.socket(fileno=descriptors[0]))
        self._farewell()

    def sweep(self) -> None:
        """Reap what has ended, and end what is not a guard."""
        self.reaper.end_children(self.guards, SWEEP_SECONDS)
        for pid in self.reaper.statuses:
            if pid in self.guards:
                self.guards.pop(pid).close()
        self.reaper.statuses.clear()

    def _start_guard(self, connection: socket.socket) -> None:
        if error := prepare(messages.receive(connection)):
            messages.send(connection, {"error": error})
            return
        pid = os.fork()
        if pid == 0:
            self._become_guard(connection)
        self.guards[pid] = connection

    def _become_guard(self, connection: socket.socket) -> None:
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for other in (self.control, *self.guards.values()):
                other.close()
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


def prepare(wanted: dict[str, Any]) -> str:
    """Import what the functions of Python arms need, once, as multiprocessing would; the error."""
    if not wanted["modules"] and wanted["program"] is None:
        return ""
    from multiprocessing import spawn

    try:
        if wanted["program"] is not None:
            spawn.prepare(wanted["program"])
        for module, folder in wanted["modules"]:
            import_from(folder, module) if folder else import_module(module)
        gc.freeze()
    except BaseException:
        return traceback.format_exc(limit=-1).strip().splitlines()[-1]
    return ""
