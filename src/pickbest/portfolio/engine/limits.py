"""Limits of whole process trees, which a guard holds against what its arm uses.

All that an arm has started is looked up in /proc a few times per second. Whoever is over a limit is
ended. What lasts less than POLL_SECONDS may be missed, and so may shared memory that nobody maps.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass

from pickbest.portfolio.processes import stat_fields
from pickbest.portfolio.runs import Limits

# How limits are kept to, as runs and the status say.
POLLING = "polling"
POLL_SECONDS = 0.05
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Usage:
    """What some processes use together; cpu_seconds with that of children they waited for."""

    memory_bytes: int = 0
    cpu_seconds: float = 0.0
    processes: int = 0


def excess(limits: Limits, used: Usage) -> str:
    """Which limit is exceeded, in words; "" if none is.

    >>> excess(Limits(processes=3), Usage(processes=5))
    'more than 3 processes'
    """
    if limits.memory_bytes is not None and used.memory_bytes > limits.memory_bytes:
        return f"more than {limits.memory_bytes / 1024**2:g} MB of memory"
    if limits.cpu_seconds is not None and used.cpu_seconds > limits.cpu_seconds:
        return f"more than {limits.cpu_seconds:g} seconds of processor time"
    if limits.processes is not None and used.processes > limits.processes:
        return f"more than {limits.processes} processes"
    return ""


def polled(limits: Limits, pids: list[int], cpu_seconds: float = 0.0) -> str:
    """Which limit processes exceed; cpu_seconds: what those that are gone have used."""
    over = excess(limits, usage(pids, cpu_seconds))
    # Pages that forks share were counted for each of them.
    return excess(limits, usage(pids, cpu_seconds, exact=True)) if over else ""


def usage(pids: Iterable[int], cpu_seconds: float = 0.0, exact: bool = False) -> Usage:
    """What processes use; exact: pages that several share are counted once, which takes longer."""
    memory = processes = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            fields = stat_fields(pid)
            memory += (_proportional(pid) if exact else None) or int(fields[21]) * _PAGE
            cpu_seconds += sum(map(int, fields[11:15])) / _TICKS
            processes += 1
    return Usage(memory, cpu_seconds, processes)


def _proportional(pid: int) -> int | None:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup") as listing:
        for line in listing:
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return None
