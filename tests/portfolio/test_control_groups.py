"""Arms in control groups, for real where this machine has cgroups of version 2 that may be written.

Where these lack the controllers of memory and processes (they may belong to version 1), what
needs none of them is tested: entering, counting processor time, killing, removing.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pickbest.portfolio import processes
from pickbest.portfolio.engine import limits
from pickbest.portfolio.engine.limits import Group
from pickbest.portfolio.engine.local import LocalEngine
from pickbest.portfolio.runs import Limits, Run, RunStatus, Task
from pickbest.testing import arms
from tests.portfolio.helpers import running

V2 = next((p for p in map(Path, ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"))
           if (p / "cgroup.controllers").exists()), None)  # fmt: skip


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalEngine]:
    """An engine whose races run in groups."""
    if limits.make_group() is None:
        if V2 is None:
            pytest.skip("there are no cgroups of version 2")
        monkeypatch.setattr(limits, "CONTROLLERS", ())
        monkeypatch.setenv("PICKBEST_CGROUP", str(V2))
    engine = LocalEngine()
    if engine.group() is None:
        pytest.skip("the cgroups of this machine may not be written")
    engine.guards.take(None).close()  # its start is not to be measured
    left = Path(limits.candidates()[0])
    yield engine
    engine.close()
    assert not list(left.glob(f"{limits.PREFIX}{processes.name_here()}-*")), "a group was left"


def race(engine: LocalEngine, *tasks: Task) -> list[Run]:
    return engine.race(tasks, lambda run: False, lambda: False)


def test_an_arm_runs_in_its_group_and_all_of_it_ends(engine: LocalEngine) -> None:
    script = "cat /proc/self/cgroup; setsid env -i sleep 73.5 & sleep 73.5"
    (run,) = race(
        engine, Task("arm", 1.0, argv=("sh", "-c", script), limits=Limits(cpu_seconds=50.0))
    )
    assert run.status is RunStatus.TIMEOUT
    assert processes.name_here() in run.stdout
    assert run.limits == "cgroup v2"
    assert not running("73.5")


def test_processor_time_of_a_group(engine: LocalEngine) -> None:
    call = pickle.dumps((arms.fork_and_spin, (3,)))
    spins = Task("spins", 20.0, call=call, limits=Limits(cpu_seconds=1.5))
    good = Task("good", 20.0, argv=("sh", "-c", "sleep 1; echo fine"))
    run, fine = race(engine, spins, good)
    assert run.reason == "it used more than 1.5 seconds of processor time"
    assert 1.0 < run.cpu_seconds < 6.0
    assert fine.stdout == "fine\n"


def test_a_killed_guard_and_its_group(engine: LocalEngine) -> None:
    script = "setsid env -i sleep 73.75 & kill -KILL $PPID; sleep 73.75"
    started = time.monotonic()
    (run,) = race(
        engine, Task("arm", 5.0, argv=("sh", "-c", script), limits=Limits(cpu_seconds=50.0))
    )
    assert run.reason == "its guard was killed"
    assert time.monotonic() - started < 4.0
    assert not running("73.75")


def test_memory_and_processes_by_the_kernel(engine: LocalEngine) -> None:
    if not limits.CONTROLLERS:
        pytest.skip("the controllers of memory and processes belong to cgroups of version 1")
    eats = pickle.dumps((arms.fork_and_eat, (10,)))
    many = pickle.dumps((arms.fork_and_sleep, (30,)))
    hog, flood, good = race(
        engine,
        Task("hog", 20.0, call=eats, limits=Limits(500 * 1024**2)),
        Task("many", 20.0, call=many, limits=Limits(processes=20)),
        Task("good", 20.0, argv=("sh", "-c", "sleep 1; echo fine"), limits=Limits(500 * 1024**2)),
    )
    assert hog.reason == "it used more than 500 MB of memory"
    assert flood.reason.startswith("BlockingIOError"), "a fork should have failed"
    assert good.stdout == "fine\n"


def test_what_is_written_to_the_files_of_a_group(tmp_path: Path) -> None:
    """Without a kernel: the folder is an ordinary one."""
    inner = Group(tmp_path).inner("arm", Limits(memory_bytes=100, processes=7))
    written = {file.name: file.read_text() for file in inner.path.iterdir()}
    assert written == {
        "memory.max": "100",
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": "7",
    }
    (inner.path / "memory.events").write_text("low 0\noom 1\noom_kill 2\n")
    (inner.path / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1\n")
    assert inner.ran_out_of_memory
    assert inner.cpu_seconds == 1.5


def test_a_process_that_is_alone_in_its_group_makes_room_in_it() -> None:
    """As in a scope that systemd delegated; the kernel allows no limits beside processes."""
    if limits.make_group() is None:
        pytest.skip("there are no cgroups of version 2 with controllers that may be written")
    code = "import os, sys; open(sys.argv[1] + '/cgroup.procs', 'w').write('0'); "
    code += "os.environ['PICKBEST_CGROUP'] = sys.argv[1]; "
    code += "from pickbest.portfolio.engine import limits; print(limits.in_force())"
    scope = limits.candidates()[-1] / "scope"
    scope.mkdir()
    try:
        command = [sys.executable, "-c", code, str(scope)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert said == "cgroup v2\n"
    finally:
        Group(scope).remove()


def test_making_room_without_a_kernel(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids\n")
    (tmp_path / "cgroup.procs").write_text(f"{os.getpid()}\n1\n")
    limits.move_below(tmp_path)
    assert not (tmp_path / "pickbest-portfolio").exists(), "it was not alone"
    (tmp_path / "cgroup.procs").write_text(f"{os.getpid()}\n")
    limits.move_below(tmp_path)
    assert (tmp_path / "pickbest-portfolio" / "cgroup.procs").read_text() == "0"
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+memory +pids"


def test_groups_of_killed_portfolios_are_removed(
    engine: LocalEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = engine.group()
    assert base is not None
    namespace, _, _ = processes.name_here().split("-")
    left = base.path.parent / f"{limits.PREFIX}{namespace}-999999999-1-abcd"
    left.mkdir()
    limits.remove_abandoned()
    assert not left.exists()
    assert base.path.exists()
