"""Looking at the processes below one: how many there are, what they use; and ending them all."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable

from pickbest.portfolio.processes import stat_fields
from pickbest.portfolio.runs import Limits

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


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


def excess(limits: Limits, pids: Iterable[int], cpu_seconds: float = 0.0) -> str:
    """Which limit processes exceed together, in words; "" if none is.

    cpu_seconds: what those that are gone have used.
    """
    memory: dict[int, int] = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            fields = stat_fields(pid)
            memory[pid] = int(fields[21]) * _PAGE
            # With that of children they waited for.
            cpu_seconds += sum(map(int, fields[11:15])) / _TICKS
    if limits.processes is not None and len(memory) > limits.processes:
        return f"more than {limits.processes} processes"
    if limits.cpu_seconds is not None and cpu_seconds > limits.cpu_seconds:
        return f"more than {limits.cpu_seconds:g} seconds of processor time"
    most = limits.memory_bytes
    # Pages that forks share were counted for each of them; to count them once takes longer.
    if most is not None and sum(memory.values()) > most < sum(map(_proportional, memory)):
        return f"more than {most / 1024**2:g} MB of memory"
    return ""


def _proportional(pid: int) -> int:
    """The memory of a process, with its share of what it has in common with others."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup") as listing:
        for line in listing:
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


class Reaper:
    """Collects children of this process as they end: how they did, and what they used."""

    def __init__(self) -> None:
        self.statuses: dict[int, int] = {}
        self.cpu_seconds = 0.0

    def reap_all(self) -> bool:
        """Take in what has ended; whether a child is left."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status, used = os.wait4(-1, os.WNOHANG)
                if pid == 0:
                    return True
                self.statuses[pid] = status
                self.cpu_seconds += used.ru_utime + used.ru_stime
        return False

    def end_children(self, spared: Iterable[int] = (), within: float = float("inf")) -> bool:
        """Kill and reap what is below this process but the spared; whether all of it is gone.

        Needs a subreaper: orphans become children, so that no child means no descendant.
        """
        until, me, kept = time.monotonic() + within, os.getpid(), set(spared)
        while self.reap_all():
            tops = [child for child in children(me) if child not in kept]
            if not tops:
                return True
            for top in tops:
                for pid in (top, *descendants(top)):
                    kill(pid)
            if time.monotonic() > until:
                return False
            time.sleep(0.0005)
        return True
