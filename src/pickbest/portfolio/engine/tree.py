"""Looking at the processes below one, and ending them all. Without /proc, nothing is found."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

LINUX = sys.platform.startswith("linux")
# Every arm is marked by a limit that whatever it starts inherits, in whatever environment, and that
# Linux has not looked at since 2.4 (getrlimit(2)): the soft one is the run, the hard one the owner.
_LOCKS, _OWNERS = 10, 1 << 62

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
_libc = ctypes.CDLL(None, use_errno=True) if LINUX else None
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def prctl(option: int, value: int) -> None:
    """Set something about this process, where the kernel is Linux."""
    if _libc is not None:
        _libc.prctl(option, value, 0, 0, 0)


def pidfd(pid: int) -> int | None:
    """A descriptor that becomes readable when a process ends; None where there is none."""
    if not LINUX:
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


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
        self.peak_bytes = max(self.peak_bytes, used.ru_maxrss * (1024 if LINUX else 1))
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


@dataclass(frozen=True)
class Usage:
    """What some processes use together; cpu_seconds with that of children they waited for."""

    memory_bytes: int = 0
    cpu_seconds: float = 0.0
    processes: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.memory_bytes + other.memory_bytes,
            self.cpu_seconds + other.cpu_seconds,
            self.processes + other.processes,
        )


def usage(pids: Iterable[int], exact: bool = False) -> Usage:
    """What processes use; exact: pages that several share are counted once, which takes longer."""
    total = Usage()
    for pid in pids:
        with contextlib.suppress(OSError):
            fields = stat_fields(pid)
            resident = (_proportional(pid) if exact else None) or int(fields[21]) * _PAGE
            total += Usage(resident, sum(map(int, fields[11:15])) / _TICKS, 1)
    return total


def stat_fields(pid: int | str) -> list[str]:
    """The fields of /proc/PID/stat from the state on."""
    with open(f"/proc/{pid}/stat") as listing:
        return listing.read().rpartition(")")[2].split()


def _proportional(pid: int) -> int | None:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup") as listing:
        for line in listing:
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return None


def owner(pid: int | str = "self") -> str:
    """A process in one word that no other process on this machine will have.

    The namespace belongs to it because the same number means another process elsewhere.
    """
    try:
        state, *fields = stat_fields(pid)
        number = os.getpid() if pid == "self" else pid
        if state not in "ZX":
            return f"{os.stat('/proc/self/ns/pid').st_ino}-{number}-{fields[18]}"
    except OSError:
        pass
    return f"0-{os.getpid()}-0"


def new_mark() -> str:
    """A word for one run of this process."""
    return f"{owner()}-{int.from_bytes(os.urandom(7))}"


@contextlib.contextmanager
def branded(mark: str) -> Iterator[None]:
    """Let what this process starts meanwhile carry a mark."""
    run, owned = _numbers(mark)
    with contextlib.suppress(OSError, ValueError):  # it may have a lower limit itself
        resource.setrlimit(_LOCKS, (run, owned))
    try:
        yield
    finally:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(_LOCKS, (owned, owned))


def marked(mark: str) -> list[int]:
    """Living processes with a mark."""
    return [pid for pid, *found in _marks() if tuple(found) == _numbers(mark)]


def abandoned() -> list[int]:
    """Arms whose portfolio, keeper and guard were all killed at once."""
    here = _numbers(f"{owner()}-0")[1] >> 38
    found = []
    for pid, run, owned in _marks():
        living = _numbers(f"{owner(owned >> 16 & 0x3FFFFF)}-0")[1]
        if run != owned and owned >> 38 == here and owned != living:
            found.append(pid)
    return found


def _numbers(mark: str) -> tuple[int, int]:
    """The two limits: the run; namespace (24 bits), process (22) and its start (16)."""
    namespace, pid, started, run = map(int, mark.split("-"))
    return run, _OWNERS | namespace % 2**24 << 38 | pid % 2**22 << 16 | started % 2**16


def _marks() -> Iterator[tuple[int, int, int]]:
    """(process, run, owner) of the living that have a mark."""
    for entry in os.listdir("/proc") if LINUX else ():
        # "unlimited", which others have, is no number.
        with contextlib.suppress(OSError, ValueError, StopIteration):
            with open(f"/proc/{int(entry)}/limits") as listing:
                line = next(line for line in listing if line.startswith("Max file locks"))
            run, owned = map(int, line.split()[3:5])
            if owned & _OWNERS and stat_fields(entry)[0] not in "ZX":
                yield int(entry), run, owned
