"""Processes of this machine: which one is meant, whether it lives, and what others see of it.

Only the standard library is used here: every process of ours loads this.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import threading
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

PR_SET_PDEATHSIG, PR_GET_DUMPABLE, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 3, 4, 36
TEMPORARY = "pickbest-"
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Owner:
    """A process, well enough described to see later whether it still lives.

    place: machine, boot and process namespace; pid and started identify a process there.
    """

    place: str
    pid: int
    started: str

    @property
    def is_here(self) -> bool:
        """Whether it is a process of this machine, since its last start, that can be looked up."""
        return bool(self.started) and self.place == _place()

    @property
    def has_died(self) -> bool:
        """Whether a process of this machine has ended."""
        return started(self.pid) != self.started


def this_process() -> Owner:
    """The process that asks."""
    return Owner(_place(), os.getpid(), started(os.getpid()))


@lru_cache(maxsize=1)
def _place() -> str:
    """Hostname, boot and process namespace: within one place a pid means one process."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        boot = namespace = ""
    return f"{os.uname().nodename}/{boot}/{namespace}"


def started(pid: int) -> str:
    """When a process started, in ticks since boot; "" if there is none or nobody can tell."""
    with contextlib.suppress(OSError):
        fields = stat_fields(pid)
        # A zombie will tell nothing any more.
        return "" if fields[0] in "ZX" else fields[19]
    return ""


def stat_fields(pid: int | str) -> list[str]:
    """The fields of /proc/PID/stat from the state on."""
    with open(f"/proc/{pid}/stat") as listing:
        return listing.read().rpartition(")")[2].split()


def prctl(option: int, value: int) -> int:
    """Set or ask something about this process."""
    return int(_libc.prctl(option, value, 0, 0, 0))


def pidfd(pid: int) -> int | None:
    """A descriptor that becomes readable when a process ends; None where there is none."""
    with contextlib.suppress(OSError):
        return os.pidfd_open(pid)
    return None


_undumpable = 0
_undumpable_lock = threading.Lock()


@contextlib.contextmanager
def not_dumpable() -> Iterator[None]:
    """While this lasts, no other process of an ordinary user can look into this one.

    It can neither be traced, nor are its environment, memory and descriptors to be had from /proc
    or by pidfd_getfd. It leaves no core file either.
    """
    global _undumpable
    with _undumpable_lock:
        if _undumpable == 0 and prctl(PR_GET_DUMPABLE, 0) != 1:
            # Somebody else has seen to it, for good.
            _undumpable = 1
        _undumpable += 1
        prctl(PR_SET_DUMPABLE, 0)
    try:
        yield
    finally:
        with _undumpable_lock:
            _undumpable -= 1
            if _undumpable == 0:
                prctl(PR_SET_DUMPABLE, 1)


def temporary_prefix() -> str:
    """How the names of this process's temporary files begin: what it is, see `Owner`."""
    me = this_process()
    return f"{TEMPORARY}{zlib.crc32(me.place.encode())}-{me.pid}-{me.started or 0}-"


def temporary_folder() -> TemporaryDirectory[str]:
    """A folder for this process; files and folders that killed processes left are removed."""
    import shutil
    import tempfile

    here = zlib.crc32(_place().encode())
    with contextlib.suppress(OSError, ValueError):
        for left in Path(tempfile.gettempdir()).glob(f"{TEMPORARY}{here}-*"):
            pid, start = left.name.split("-")[2:4]
            ours = left.lstat().st_uid == os.geteuid()
            if ours and start != "0" and started(int(pid)) != start:
                left.unlink() if left.is_file() else shutil.rmtree(left, ignore_errors=True)
    return tempfile.TemporaryDirectory(prefix=temporary_prefix())


def without_passwords(text: str) -> str:
    """A text as it may be printed.

    >>> without_passwords("cannot reach host=x password='a b' at postgresql://me:secret@host/")
    'cannot reach host=x password=*** at postgresql://me:***@host/'
    """
    return _PASSWORD.sub(
        lambda match: match[0].replace(next(filter(None, match.groups())), "***", 1), text
    )


# In a URL between the user and the host; in a query or a connection string after its key.
_PASSWORD = re.compile(
    r"://[^:/@\s]*:([^\s]*)@"
    r"|(?:password|passwd|pwd|secret|token)\s*=\s*('[^']*'|[^&\s]+)",
    re.IGNORECASE,
)
