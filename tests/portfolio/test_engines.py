"""What every engine must do, locally and on a Ray cluster; arms run for real."""

from __future__ import annotations

import os
import pickle
import shlex
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from pickbest.core import MissingExtraError, PickbestError
from pickbest.portfolio.engine import cluster
from pickbest.portfolio.engine.engines import Engine, make_engine
from pickbest.portfolio.engine.local import LocalEngine
from pickbest.portfolio.processes import started
from pickbest.portfolio.runs import Limits, Run, RunStatus, Task
from tests.portfolio import arms
from tests.portfolio.arms import LONG

# A race that should be over at once may take so long on a busy machine, but no longer.
PATIENCE = 120.0


def test_results(engine: Engine) -> None:
    """Commands and functions answer; runs come in the order of the tasks, each reported once."""
    reported: list[str] = []

    def report(run: Run) -> bool:
        reported.append(run.arm)
        return False

    tasks = [
        shell("later", "sleep 0.3; echo one"),
        called("function", arms.double, 21),
        shell("code", "echo two; echo oops >&2; exit 10"),
        Task("words", PATIENCE, argv=("printf", "%s", "a b"), env=(("X", "1"),)),
    ]
    runs = engine.race(tasks, report, never)
    assert [run.arm for run in runs] == [task.arm for task in tasks]
    assert sorted(reported) == sorted(run.arm for run in runs)
    assert {run.status for run in runs} == {RunStatus.FINISHED}
    later, function, code, words = runs
    assert later.stdout == "one\n"
    assert later.seconds >= 0.3
    assert function.answer == 42
    assert (code.exit_code, code.stderr) == (10, "oops\n")
    assert words.stdout == "a b"
    assert all(run.cost is None for run in runs)


def test_failures(engine: Engine) -> None:
    """Every way to fail is told apart, and the other arms go on."""
    tasks = [
        Task("missing", PATIENCE, argv=("no-such-program-anywhere",)),
        Task("nowhere", PATIENCE, argv=("true",), cwd="/no/such/folder"),
        shell("signal", "kill -SEGV $$"),
        called("raises", arms.fail, "no luck"),
        shell("good", "echo fine"),
    ]
    missing, nowhere, ended, raises, good = engine.race(tasks, no_end, never)
    for run, name in ((missing, "no-such-program-anywhere"), (nowhere, "/no/such/folder")):
        assert run.status is RunStatus.BROKEN
        assert name in run.reason
    assert ended.exit_code == -signal.SIGSEGV
    assert raises.reason == "RuntimeError: no luck"
    assert good.stdout == "fine\n"


def test_deadline(engine: Engine) -> None:
    """An arm is stopped at its deadline, and what it wrote until then is kept."""
    tasks = [
        shell("sleeps", f"echo begun; sleep {LONG}", deadline=0.5),
        called("function", time.sleep, LONG, deadline=0.5),
    ]
    runs = until_begun(engine, tasks)
    assert {run.status for run in runs} == {RunStatus.TIMEOUT}
    assert all(run.seconds >= 0.5 for run in runs)
    assert runs[0].stdout == "begun\n"


def test_stop(engine: Engine) -> None:
    """When a run ends the race, the others are stopped, and are reported as such."""
    tasks = [shell("slow", f"sleep {LONG}"), shell("quick", "echo first")]
    slow, quick = in_time(engine, tasks, lambda run: run.arm == "quick")
    assert quick.status is RunStatus.FINISHED
    assert slow.status is RunStatus.STOPPED


def test_giving_up(engine: Engine) -> None:
    """When the race is given up, every arm is stopped."""
    asked: list[int] = []

    def given_up() -> bool:
        asked.append(1)
        return len(asked) > 2

    tasks = [shell(name, f"sleep {LONG}") for name in ("one", "two")]
    runs = in_time(engine, tasks, given_up=given_up)
    assert {run.status for run in runs} == {RunStatus.STOPPED}


def test_errors_of_the_caller(engine: Engine) -> None:
    """An error of the caller's own reaches the caller, and the engine can race again."""

    def raises(run: Run) -> bool:
        raise KeyError(run.arm)

    tasks = [shell("slow", f"sleep {LONG}"), shell("quick", "true")]
    with pytest.raises(KeyError):
        in_time(engine, tasks, raises)
    (run,) = engine.race([shell("after", "echo on")], no_end, never)
    assert run.stdout == "on\n"


def test_limits(engine: Engine) -> None:
    """Memory and processor time are limited; of long output the end is kept."""
    big, short = 2_000_000_000, 1.0
    tasks = [
        called("hungry", arms.allocate, 2 * big, memory_bytes=big),
        called("busy", arms.spin, 0, cpu_seconds=short),
        shell("loud", "yes | head -c 300000; echo; echo end"),
    ]
    hungry, busy, loud = in_time(engine, tasks)
    assert hungry.reason.startswith("MemoryError")
    assert busy.reason or busy.exit_code == -signal.SIGXCPU
    assert loud.truncated
    assert len(loud.stdout) < 300_000
    assert loud.stdout.endswith("end\n")


def test_answers(engine: Engine) -> None:
    """What a function returns comes back as it was, if it is data and not too long."""
    data = {"model": [1, -2], "key": [None, 0.5, True, {"y": "é"}]}
    tasks = [
        called("data", arms.same, data),
        called("long", arms.text, 20_000_000),
        called("object", arms.not_data, 0),
    ]
    same, long, thing = engine.race(tasks, no_end, never)
    assert same.answer == data
    assert long.answer is None
    assert long.reason.startswith("its answer is larger than")
    assert thing.answer is None
    assert "a function may return" in thing.reason


def test_surroundings(engine: Engine) -> None:
    """An arm has its own folder and variables, and none of this process's secrets."""
    secret = patch.dict(os.environ, {"PICKBEST_TEST_TOKEN": "secret"})
    with tempfile.TemporaryDirectory() as folder, secret:
        own: dict[str, Any] = {"cwd": folder, "env": (("OWN", "1"),)}
        tasks = [
            Task("command", PATIENCE, argv=("sh", "-c", "pwd; env"), **own),
            called("function", arms.surroundings, 0, place=own),
        ]
        runs = engine.race(tasks, no_end, never)
    for run in runs:
        shown = run.stdout or str(run.answer)
        assert folder in shown
        assert "OWN" in shown
        assert "PICKBEST_TEST_TOKEN" not in shown


def test_grace(engine: Engine) -> None:
    """With grace, an arm hears SIGTERM and may still write its answer."""
    script = f"trap 'echo 7; exit 0' TERM; echo begun; sleep {LONG} & wait"
    (run,) = until_begun(engine, [shell("asked", script, deadline=1.0, grace=30.0)])
    assert (run.status, run.stdout) == (RunStatus.TIMEOUT, "begun\n7\n")


def test_races_at_once(engine: Engine) -> None:
    """Races of several threads do not disturb each other."""
    races = 3
    found: dict[int, list[str]] = {}

    def race(number: int) -> None:
        tasks = [shell(str(place), f"echo {number}.{place}") for place in range(2)]
        found[number] = [run.stdout for run in engine.race(tasks, no_end, never)]

    with ThreadPoolExecutor(races) as threads:
        list(threads.map(race, range(races)))
    expected = {number: [f"{number}.0\n", f"{number}.1\n"] for number in range(races)}
    assert found == expected


def test_no_process_left(engine: Engine) -> None:
    """Nothing that an arm started outlives its run: neither children nor daemons."""
    daemon = "import os, sys, time, signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    daemon += "os.fork() and os._exit(0); os.setsid(); "
    daemon += f"open(sys.argv[1], 'a').write(f'{{os.getpid()}}\\n'); time.sleep({LONG})"
    for stays, ending in ((False, RunStatus.FINISHED), (True, RunStatus.TIMEOUT)):
        with tempfile.TemporaryDirectory() as folder:
            pids = Path(folder) / "pids"
            pids.touch()
            start = f"{sys.executable} -c {shlex.quote(daemon)} {pids}"
            script = f"sleep {LONG} & echo $! >> {pids}; {start}; "
            script += f"while [ $(wc -l < {pids}) -lt 2 ]; do sleep 0.02; done; "
            script += f"echo begun; {f'sleep {LONG}' if stays else 'true'}"
            deadline = 5.0 if stays else PATIENCE
            (run,) = until_begun(engine, [shell("parent", script, deadline=deadline)])
            begun = [int(line) for line in pids.read_text().split()]
        assert run.status is ending
        assert len(begun) >= 2
        left = [pid for pid in begun if started(pid)]
        assert not left


def test_nothing_inherited(engine: Engine) -> None:
    """Arms have standard input, output and error, and no other descriptor."""
    script = f"import os; print({arms.DESCRIPTORS})"
    tasks = [
        Task("command", PATIENCE, argv=(sys.executable, "-c", script)),
        called("function", arms.descriptors_of_a_program, script),
    ]
    command, function = engine.race(tasks, no_end, never)
    assert command.stdout == "[0, 1, 2]\n"
    assert function.answer == "[0, 1, 2]\n"


def test_limits_of_trees(engine: Engine) -> None:
    """Limits hold for all processes of an arm together, and the other arms go on."""
    tasks = [
        called("memory", arms.fork_and_eat, 8, memory_bytes=400_000_000),
        called("time", arms.fork_and_spin, 3, cpu_seconds=2.0),
        called("processes", arms.fork_and_sleep, 20, processes=10),
        shell("good", "sleep 1; echo fine"),
    ]
    *over, good = in_time(engine, tasks)
    for run in over:
        assert run.reason or run.exit_code
    assert good.stdout == "fine\n"


def test_floods(engine: Engine) -> None:
    """Arms that leave children unreaped, or fork without end, are gone in time."""
    unreaped = "import os, time; [os.posix_spawn('/bin/true', ['true'], {}) for _ in range(300)]; "
    unreaped += "print('begun', flush=True); time.sleep(100)"
    chain = "import os, time\nprint('begun', flush=True)\nif os.fork(): time.sleep(100)\n"
    chain += "while True:\n  if os.fork(): os._exit(0)\n  os.setsid()"
    tasks = [
        Task(name, 6.0, argv=(sys.executable, "-S", "-c", text))
        for name, text in (("unreaped", unreaped), ("chain", chain))
    ]
    for run in until_begun(engine, tasks):
        assert (run.status, run.stdout) == (RunStatus.TIMEOUT, "begun\n")


def shell(arm: str, script: str, deadline: float = PATIENCE, **limits: Any) -> Task:
    return Task(arm, deadline, argv=("sh", "-c", script), limits=Limits(**limits))


def called(
    arm: str,
    function: Callable[[Any], Any],
    argument: object,
    deadline: float = PATIENCE,
    place: Mapping[str, Any] | None = None,
    **limits: Any,
) -> Task:
    call = pickle.dumps((function, (argument,)))
    return Task(arm, deadline, call=call, limits=Limits(**limits), **(place or {}))


def never() -> bool:
    return False


def no_end(run: Run) -> bool:
    return False


def in_time(
    engine: Engine,
    tasks: Sequence[Task],
    ends_race: Callable[[Run], bool] = no_end,
    given_up: Callable[[], bool] = never,
) -> list[Run]:
    started = time.monotonic()
    try:
        return engine.race(tasks, ends_race, given_up)
    finally:
        taken = time.monotonic() - started
        assert taken < PATIENCE, f"a race that should have been stopped took {taken:.1f} seconds"


def until_begun(engine: Engine, tasks: Sequence[Task]) -> list[Run]:
    """Race arms to their deadline: a later one where a command had no time to begin.

    On a busy machine a program may take seconds to start; what is checked is how it ends.
    """
    for longer in (1.0, 4.0, 16.0):
        runs = in_time(engine, [replace(task, deadline=longer * task.deadline) for task in tasks])
        if all("begun" in run.stdout for run, task in zip(runs, tasks, strict=True) if task.argv):
            break
    return runs


@pytest.fixture
def no_cluster() -> None:
    ray = pytest.importorskip("ray", reason="Ray is not installed (extra: ray)")
    if ray.is_initialized():
        pytest.skip("this process is connected to a cluster already")


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1"])
@pytest.mark.ray
@pytest.mark.usefixtures("no_cluster")
def test_a_cluster_that_cannot_be_reached_is_an_error_at_once(address: str) -> None:
    started = time.monotonic()
    with pytest.raises(PickbestError, match=f"no Ray cluster can be reached at {address}"):
        make_engine("ray", {"address": address})
    assert time.monotonic() - started < 20.0


def test_ray_is_asked_for_by_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"engine='ray' needs .*pickbest\[ray\]"):
        make_engine("ray", {})


@pytest.mark.ray
def test_a_real_cluster_is_taken_for_one(engine: Engine) -> None:
    if isinstance(engine, LocalEngine):
        pytest.skip("the local engine has no cluster")
    import ray

    cluster.check_reachable(ray.get_runtime_context().gcs_address)
