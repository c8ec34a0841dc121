"""Guards without a keeper, for a program that runs one race and is gone.

A keeper is a Python process that has to start first. A small program with one thread may fork
its guards itself: they end their arms when it ends, however it does.
"""

from __future__ import annotations

import os
import signal
import socket

from pickbest.portfolio.engines.guards import Guards, Link
from pickbest.portfolio.processes import guard, tree, wire


class ForkedGuards(Guards):
    """Guards that are forks of this process; Python functions cannot be arms here."""

    def _new(self) -> Link:
        ours, theirs = socket.socketpair()
        portfolio = tree.pidfd(os.getpid())
        pid = os.fork()
        if pid == 0:
            _become_guard(ours, theirs, portfolio)
        theirs.close()
        if portfolio is not None:
            os.close(portfolio)
        return Link(ours, int(wire.receive(ours)[0]["pid"]), self._generation)


def _become_guard(ours: socket.socket, theirs: socket.socket, portfolio: int | None) -> None:
    code = 1
    try:
        ours.close()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        guard.serve(theirs, portfolio)
        code = 0
    finally:
        os._exit(code)
