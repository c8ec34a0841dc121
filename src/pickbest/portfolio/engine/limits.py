"""Limits of whole process trees: by cgroups (version 2) where they can be had, else by polling.

A control group counts every process that an arm starts, wherever it moves in the tree. The kernel
itself keeps to the limits of memory (it ends the arm that grew largest) and of the number of
processes (forks fail); processor time is read a few times per second. Without a group, all three
are read a few times per second from /proc, and an arm that is over a limit is ended.

A group can be had where /sys/fs/cgroup is of version 2, offers the controllers of memory and
processes, and may be written: in the group of this process, in the one above it, or in the one
that PICKBEST_CGROUP names. A scope of its own is enough, without being root:
systemd-run --user --scope -p Delegate=yes pickbest run …
"""

from __future__ import annotations

import contextlib
import os
from functools import cache
from pathlib import Path

from pickbest.portfolio import processes
from pickbest.portfolio.engine import tree
from pickbest.portfolio.runs import Limits

CGROUP, POLLING = "cgroup v2", "polling"
# Why the kernel ended an arm that has no limit of its own.
NO_MEMORY_LEFT = "it used the memory that was left"
# How often what is polled is polled.
POLL_SECONDS = 0.05
PREFIX = "pickbest-"
CONTROLLERS = ("memory", "pids")
_MOUNT = Path("/sys/fs/cgroup")


def excess(limits: Limits, used: tree.Usage) -> str:
    """Which limit is exceeded, in words; "" if none is.

    >>> excess(Limits(processes=3), tree.Usage(processes=5))
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
    gone = tree.Usage(cpu_seconds=cpu_seconds)
    over = excess(limits, tree.usage(pids) + gone)
    # Pages that forks share were counted for each of them.
    return excess(limits, tree.usage(pids, exact=True) + gone) if over else ""


class Group:
    """A control group: a folder whose files are the kernel's."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    def inner(self, name: str, limits: Limits) -> Group:
        """A new group below this one; memory that is not there ends all of it at once."""
        made = Group(self.path / name)
        made.path.mkdir()
        try:
            if limits.memory_bytes is not None:
                made._write("memory.max", str(limits.memory_bytes))
                with contextlib.suppress(OSError):  # no such file where the kernel has no swap
                    made._write("memory.swap.max", "0")
            if limits.processes is not None:
                made._write("pids.max", str(limits.processes))
            if "memory" in CONTROLLERS:
                made._write("memory.oom.group", "1")
        except OSError:
            made.remove()
            raise
        return made

    def share_controllers(self) -> None:
        """Let the groups below this one have limits."""
        self._write("cgroup.subtree_control", " ".join(f"+{name}" for name in CONTROLLERS))

    def leaf(self, name: str) -> Group:
        """A new group below this one, without limits."""
        made = Group(self.path / name)
        made.path.mkdir(exist_ok=True)
        return made

    def enter(self) -> None:
        """Move this process here; what it starts from now on starts here."""
        self._write("cgroup.procs", "0")

    def kill(self) -> None:
        """End every process of the group, however it forks."""
        with contextlib.suppress(OSError):
            self._write("cgroup.kill", "1")

    def remove(self) -> None:
        """Remove the group and those below it, which must be empty."""
        with contextlib.suppress(OSError):
            for entry in os.scandir(self.path):
                if entry.is_dir(follow_symlinks=False):
                    Group(entry.path).remove()
            self.path.rmdir()

    @property
    def cpu_seconds(self) -> float:
        """Processor time of all that was ever in the group."""
        return self._numbers("cpu.stat").get("usage_usec", 0) / 1e6

    @property
    def peak_bytes(self) -> int:
        """The most memory that it ever had; 0 where the kernel does not say."""
        with contextlib.suppress(OSError, ValueError):
            return int((self.path / "memory.peak").read_text())
        return 0

    @property
    def ran_out_of_memory(self) -> bool:
        """Whether the kernel ended processes of it because there was no memory left."""
        return self._numbers("memory.events").get("oom_kill", 0) > 0

    def _numbers(self, file: str) -> dict[str, int]:
        with contextlib.suppress(OSError, ValueError):
            lines = (self.path / file).read_text().splitlines()
            return {name: int(value) for name, value in (line.split() for line in lines)}
        return {}

    def _write(self, file: str, text: str) -> None:
        (self.path / file).write_text(text)


def candidates() -> list[Path]:
    """Groups in which ours could be made, best first."""
    if named := os.environ.get("PICKBEST_CGROUP"):
        return [Path(named)]
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/self/cgroup").read_text().splitlines()
        inside = next(line[3:] for line in lines if line.startswith("0::"))
        here = _MOUNT / inside.lstrip("/")
        return [here] if here == _MOUNT else [here, here.parent]
    return []


def make_group() -> Group | None:
    """A group of this process's own in which groups with limits can be made; None: poll."""
    for place in candidates():
        with contextlib.suppress(OSError):
            move_below(place)
        group = Group(place / f"{PREFIX}{processes.name_here()}-{os.urandom(4).hex()}")
        try:
            group.path.mkdir()
        except OSError:
            continue
        with contextlib.suppress(OSError):
            if _offers(group):
                group.share_controllers()
                return group
        group.remove()
    return None


def move_below(place: Path) -> None:
    """Leave a group in which this process is alone for one below it.

    Groups with limits cannot be made where processes are (but at the root): the kernel refuses.
    """
    group = Group(place)
    alone = (place / "cgroup.procs").read_text().split() == [str(os.getpid())]
    if alone and _offers(group):
        group.leaf(f"{PREFIX}portfolio").enter()
        group.share_controllers()


def _offers(group: Group) -> bool:
    """Whether there may be limits in it; OSError where it is no group of the kernel's."""
    return set((group.path / "cgroup.controllers").read_text().split()) >= set(CONTROLLERS)


@cache
def in_force() -> str:
    """How limits would be kept to on this machine, by this user."""
    group = make_group()
    if group is None:
        return POLLING
    group.remove()
    return CGROUP


def remove_abandoned() -> None:
    """End and remove the groups of portfolios that were killed."""
    for left in [each for place in candidates() for each in place.glob(f"{PREFIX}*")]:
        if processes.died(left.name.removeprefix(PREFIX)):
            Group(left).kill()
            Group(left).remove()
