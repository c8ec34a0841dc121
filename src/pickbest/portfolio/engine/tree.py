"""Looking at the processes below one, and ending them all."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    """Send a signal to a process that may be gone, or another user's."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def children(pid: int) -> list[int]:
    """The children of a process, zombies included, as the kernel lists them."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as listing:
                found += map(int, listing.read().split())
    return found


def descendants(pid: int) -> list[int]:
    """All processes below one; a chain of forks may be thousands deep, so this does not recurse."""
    found, ahead = [], children(pid)
    while ahead:
        child = ahead.pop()
        found.append(child)
        ahead += children(child)
    return found


class Reaper:
    """Collects children of this process as they end: how they did, and what they used."""

    def __init__(self) -> None:
        self.statuses: dict[int, int] = {}
        self.cpu_seconds = 0.0
        self.peak_bytes = 0

    def reap(self) -> bool:
        """Take in one that has ended; whether there was one. ChildProcessError: no child left."""
        pid, status, used = os.wait4(-1, os.WNOHANG)
        if pid == 0:
            return False
        self.statuses[pid] = status
        self.cpu_seconds += used.ru_utime + used.ru_stime
        self.peak_bytes = max(self.peak_bytes, used.ru_maxrss * 1024)
        return True

    def reap_all(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while self.reap():
                pass

    def end_children(self, spared: Iterable[int] = (), within: float = float("inf")) -> bool:
        """Kill and reap what is below this process but the spared; whether all of it is gone.

        Needs a subreaper: orphans become children, so that no child means no descendant. All
        that ended is reaped before anything is looked for again.
        """
        until, me, kept = time.monotonic() + within, os.getpid(), set(spared)
        # Thousands of children that ended need no look: without their parent they are ours to reap.
        below: Callable[[int], list[int]] = lambda top: []  # noqa: E731
        while True:
            try:
                while self.reap():
                    pass
                tops = [child for child in children(me) if child not in kept]
                if not tops:
                    return True
                for top in tops:
                    for pid in (top, *below(top)):
                        kill(pid)
                below = descendants
                self._reap_for_a_while()
            except ChildProcessError:
                return True
            if time.monotonic() > until:
                return False

    def _reap_for_a_while(self, longest: float = 0.1, quiet: float = 0.005) -> None:
        """Until nothing has ended for a moment."""
        begin = last = time.monotonic()
        while True:
            now = time.monotonic()
            if self.reap():
                last = now
            elif now - last > quiet:
                return
            else:
                time.sleep(0.0005)
            if now - begin > longest:
                return
