"""How long a round may stay open: while the process that asked lives, or until it expires."""

from __future__ import annotations

import os
import socket
from functools import lru_cache
from pathlib import Path

from pickbest.portfolio.journal.records import Owner, Picked


def this_process() -> Owner:
    """The owner of rounds that this process opens."""
    return Owner(_place(), os.getpid(), _started(os.getpid()))


def abandoned(picked: Picked, now: float) -> str:
    """Why an open round will never be told, or "" if it still may.

    A process on this machine is looked up; one on another machine counts as dead when the
    round's time is over.
    """
    owner = picked.owner
    if owner is not None and owner.place == _place():
        if _started(owner.pid) == owner.started and owner.started:
            return ""
        if not owner.started and _alive(owner.pid):  # no /proc: the pid must do
            return ""
        return f"process {owner.pid} died before the result"
    if now > picked.expires:
        return "no result came in time"
    return ""


@lru_cache(maxsize=1)
def _place() -> str:
    """Hostname, boot and process namespace: within one place a pid means one process."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        boot = namespace = ""
    return f"{socket.gethostname()}/{boot}/{namespace}"


def _started(pid: int) -> str:
    """When a process started, in ticks since boot; "" if there is none or nobody can tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    # A zombie will tell nothing any more.
    return "" if fields[0] in "ZX" else fields[19]


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
