"""Processes of this machine: which one is meant, whether it lives, and what others see of it.

Only the standard library is used here: every process of ours loads this.
"""

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

LINUX = sys.platform.startswith("linux")
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
_libc = ctypes.CDLL(None, use_errno=True) if LINUX else None


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
        """Whether it is a process of this machine, since its last start."""
        return self.place == _place()

    @property
    def has_died(self) -> bool:
        """Whether a process of this machine is no more."""
        if self.started:
            return started(self.pid) != self.started
        return not _alive(self.pid)  # no /proc: the pid must do


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


def _alive(pid: int) -> bool:
    try:
        with contextlib.suppress(PermissionError):
            os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    return True


def stat_fields(pid: int | str) -> list[str]:
    """The fields of /proc/PID/stat from the state on."""
    with open(f"/proc/{pid}/stat") as listing:
        return listing.read().rpartition(")")[2].split()


def name_here() -> str:
    """This process in one word, for folders that the next start removes; see `died`.

    The namespace belongs to it because the same number means another process elsewhere.
    """
    return f"{_namespace()}-{os.getpid()}-{started(os.getpid()) or 0}"


def died(name: str) -> bool:
    """Whether the process that had a name of `name_here` is no more; False for other words."""
    with contextlib.suppress(ValueError):
        namespace, pid, start = map(int, name.split("-")[:3])
        return namespace == _namespace() and start > 0 and started(pid) != str(start)
    return False


def _namespace() -> int:
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0


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


def hide(secrets: Iterable[str]) -> None:
    """Overwrite secrets among this process's arguments, which every user can read (Linux).

    Nothing else is touched: the bytes that Linux shows as /proc/PID/cmdline are the process's
    own memory.
    """
    wanted = {form.encode() for secret in secrets for form in (secret, quote(secret, safe=""))}
    with contextlib.suppress(OSError, ValueError, IndexError):
        line = Path("/proc/self/cmdline").read_bytes()
        begin = int(stat_fields("self")[45])  # arg_start, field 48 of proc(5)
        memory = os.open("/proc/self/mem", os.O_RDWR)
        try:
            for secret in filter(None, wanted):
                place = line.find(secret)
                while place >= 0:
                    os.pwrite(memory, b"*" * len(secret), begin + place)
                    place = line.find(secret, place + len(secret))
        finally:
            os.close(memory)
