"""What every engine must do, as checks that anyone can run on an engine of their own.

    from pickbest.testing.engines import check_engine
    check_engine(MyEngine())

The arms run for real, on this machine; each check takes seconds at most where nothing is
wrong. Each raises AssertionError with one sentence.
"""

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

from pickbest.portfolio.engine.engines import Engine
from pickbest.portfolio.processes import started
from pickbest.portfolio.runs import Limits, Run, RunStatus, Task
from pickbest.testing import arms, must_raise
from pickbest.testing.arms import LONG

# A race that should be over at once may take so long on a busy machine, but no longer.
PATIENCE = 120.0


def check_engine(engine: Engine) -> None:
    """Run every check."""
    for check in (
        check_results, check_failures, check_deadline, check_stop, check_giving_up,
        check_errors_of_the_caller, check_answers, check_surroundings, check_limits,
        check_grace, check_races_at_once, check_no_process_left, check_nothing_inherited,
        check_limits_of_trees, check_floods,
    ):  # fmt: skip
        check(engine)


def check_results(engine: Engine) -> None:
    """Commands and functions answer; runs come in the order of the tasks, each reported once."""
    reported: list[str] = []

    def report(run: Run) -> bool:
        reported.append(run.arm)
        return False

    tasks = [
        _command("later", "sleep 0.3; echo one"),
        _function("function", arms.double, 21),
        _command("code", "echo two; echo oops >&2; exit 10"),
        Task("words", PATIENCE, argv=("printf", "%s", "a b"), env=(("X", "1"),)),
    ]
    runs = engine.race(tasks, report, _never)
    assert [run.arm for run in runs] == [task.arm for task in tasks], "runs are not in order"
    assert sorted(reported) == sorted(run.arm for run in runs), f"reported were {reported}"
    assert {run.status for run in runs} == {RunStatus.FINISHED}, f"they ended as {runs}"
    later, function, code, words = runs
    assert later.stdout == "one\n", f"a command wrote 'one', got {later.stdout!r}"
    assert later.seconds >= 0.3, f"0.3 seconds of sleep took {later.seconds}"
    assert function.answer == 42, f"a function returned 42, got {function.answer!r}"
    assert (code.exit_code, code.stderr) == (10, "oops\n"), f"got {code}"
    assert words.stdout == "a b", "a word of a command must stay one word"
    assert all(run.cost is None for run in runs), "costs are not for engines to give"


def check_failures(engine: Engine) -> None:
    """Every way to fail is told apart, and the other arms go on."""
    tasks = [
        Task("missing", PATIENCE, argv=("no-such-program-anywhere",)),
        Task("nowhere", PATIENCE, argv=("true",), cwd="/no/such/folder"),
        _command("signal", "kill -SEGV $$"),
        _function("raises", arms.fail, "no luck"),
        _command("good", "echo fine"),
    ]
    missing, nowhere, ended, raises, good = engine.race(tasks, _no_end, _never)
    for run, name in ((missing, "no-such-program-anywhere"), (nowhere, "/no/such/folder")):
        assert run.status is RunStatus.BROKEN, f"{name} does not exist: {run}"
        assert name in run.reason, f"the reason reads {run.reason!r}"
    assert ended.exit_code == -signal.SIGSEGV, f"ended by a signal, got {ended.exit_code}"
    assert raises.reason == "RuntimeError: no luck", f"the reason reads {raises.reason!r}"
    assert good.stdout == "fine\n", "an arm must not suffer from another's failure"


def check_deadline(engine: Engine) -> None:
    """An arm is stopped at its deadline, and what it wrote until then is kept."""
    tasks = [
        _command("sleeps", f"echo begun; sleep {LONG}", deadline=0.5),
        _function("function", time.sleep, LONG, deadline=0.5),
    ]
    runs = _begun(engine, tasks)
    assert {run.status for run in runs} == {RunStatus.TIMEOUT}, f"they ended as {runs}"
    assert all(run.seconds >= 0.5 for run in runs), "an arm was stopped before its deadline"
    assert runs[0].stdout == "begun\n", "output before the deadline must be kept"


def check_stop(engine: Engine) -> None:
    """When a run ends the race, the others are stopped, and are reported as such."""
    tasks = [_command("slow", f"sleep {LONG}"), _command("quick", "echo first")]
    slow, quick = _in_time(engine, tasks, lambda run: run.arm == "quick")
    assert quick.status is RunStatus.FINISHED, f"the winner ended as {quick}"
    assert slow.status is RunStatus.STOPPED, f"the loser ended as {slow}"


def check_giving_up(engine: Engine) -> None:
    """When the race is given up, every arm is stopped."""
    asked: list[int] = []

    def given_up() -> bool:
        asked.append(1)
        return len(asked) > 2

    tasks = [_command(name, f"sleep {LONG}") for name in ("one", "two")]
    runs = _in_time(engine, tasks, given_up=given_up)
    assert {run.status for run in runs} == {RunStatus.STOPPED}, f"they ended as {runs}"


def check_errors_of_the_caller(engine: Engine) -> None:
    """An error of the caller's own reaches the caller, and the engine can race again."""

    def raises(run: Run) -> bool:
        raise KeyError(run.arm)

    tasks = [_command("slow", f"sleep {LONG}"), _command("quick", "true")]
    with must_raise(KeyError, "an error of ends_race did not reach the caller"):
        _in_time(engine, tasks, raises)
    (run,) = engine.race([_command("after", "echo on")], _no_end, _never)
    assert run.stdout == "on\n", "the engine could not go on after an error"


def check_limits(engine: Engine) -> None:
    """Memory and processor time are limited; of long output the end is kept."""
    big, short = 2_000_000_000, 1.0
    tasks = [
        _function("hungry", arms.allocate, 2 * big, memory_bytes=big),
        _function("busy", arms.spin, 0, cpu_seconds=short),
        _command("loud", "yes | head -c 300000; echo; echo end"),
    ]
    hungry, busy, loud = _in_time(engine, tasks)
    assert hungry.reason.startswith("MemoryError"), f"the reason reads {hungry.reason!r}"
    assert busy.reason or busy.exit_code == -signal.SIGXCPU, f"a busy arm ended as {busy}"
    assert loud.truncated, "output that was cut must say so"
    assert len(loud.stdout) < 300_000, f"{len(loud.stdout)} bytes of the output were kept"
    assert loud.stdout.endswith("end\n"), "the end of the output must be kept"


def check_answers(engine: Engine) -> None:
    """What a function returns comes back as it was, if it is data and not too long."""
    data = {"model": [1, -2], "key": [None, 0.5, True, {"y": "é"}]}
    tasks = [
        _function("data", arms.same, data),
        _function("long", arms.text, 20_000_000),
        _function("object", arms.not_data, 0),
    ]
    same, long, thing = engine.race(tasks, _no_end, _never)
    assert same.answer == data, f"a function returned {data!r}, got {same.answer!r}"
    assert long.answer is None, "an answer that is too long must not be cut"
    assert long.reason.startswith("its answer is larger than"), f"the reason reads {long.reason!r}"
    assert thing.answer is None, "what is not data must not come back"
    assert "a function may return" in thing.reason, f"the reason reads {thing.reason!r}"


def check_surroundings(engine: Engine) -> None:
    """An arm has its own folder and variables, and none of this process's secrets."""
    secret = patch.dict(os.environ, {"PICKBEST_TEST_TOKEN": "secret"})
    with tempfile.TemporaryDirectory() as folder, secret:
        own: dict[str, Any] = {"cwd": folder, "env": (("OWN", "1"),)}
        tasks = [
            Task("command", PATIENCE, argv=("sh", "-c", "pwd; env"), **own),
            _function("function", arms.surroundings, 0, place=own),
        ]
        runs = engine.race(tasks, _no_end, _never)
    for run in runs:
        shown = run.stdout or str(run.answer)
        assert folder in shown, f"{run.arm} ran elsewhere than in {folder}: {run}"
        assert "OWN" in shown, f"{run.arm} does not have its own variables: {run}"
        assert "PICKBEST_TEST_TOKEN" not in shown, f"{run.arm} saw a secret of this process"


def check_grace(engine: Engine) -> None:
    """With grace, an arm hears SIGTERM and may still write its answer."""
    script = f"trap 'echo 7; exit 0' TERM; echo begun; sleep {LONG} & wait"
    (run,) = _begun(engine, [_command("asked", script, deadline=1.0, grace=30.0)])
    assert (run.status, run.stdout) == (RunStatus.TIMEOUT, "begun\n7\n"), f"got {run}"


def check_races_at_once(engine: Engine, races: int = 3) -> None:
    """Races of several threads do not disturb each other."""
    found: dict[int, list[str]] = {}

    def race(number: int) -> None:
        tasks = [_command(str(place), f"echo {number}.{place}") for place in range(2)]
        found[number] = [run.stdout for run in engine.race(tasks, _no_end, _never)]

    with ThreadPoolExecutor(races) as threads:
        list(threads.map(race, range(races)))
    expected = {number: [f"{number}.0\n", f"{number}.1\n"] for number in range(races)}
    assert found == expected, f"races of {races} threads gave {found}"


def check_no_process_left(engine: Engine) -> None:
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
            (run,) = _begun(engine, [_command("parent", script, deadline=deadline)])
            begun = [int(line) for line in pids.read_text().split()]
        assert run.status is ending, f"it should have {ending}, got {run}"
        assert len(begun) >= 2, f"two processes should have started, got {begun}"
        left = [pid for pid in begun if started(pid)]
        assert not left, f"processes {left} of an arm were left after its race"


def check_nothing_inherited(engine: Engine) -> None:
    """Arms have standard input, output and error, and no other descriptor."""
    script = f"import os; print({arms.DESCRIPTORS})"
    tasks = [
        Task("command", PATIENCE, argv=(sys.executable, "-c", script)),
        _function("function", arms.descriptors_of_a_program, script),
    ]
    command, function = engine.race(tasks, _no_end, _never)
    assert command.stdout == "[0, 1, 2]\n", f"a command holds {command.stdout or command}"
    assert function.answer == "[0, 1, 2]\n", f"a function's program holds {function.answer}"


def check_limits_of_trees(engine: Engine) -> None:
    """Limits hold for all processes of an arm together, and the other arms go on."""
    tasks = [
        _function("memory", arms.fork_and_eat, 8, memory_bytes=400_000_000),
        _function("time", arms.fork_and_spin, 3, cpu_seconds=2.0),
        _function("processes", arms.fork_and_sleep, 20, processes=10),
        _command("good", "sleep 1; echo fine"),
    ]
    *over, good = _in_time(engine, tasks)
    for run in over:
        assert run.reason or run.exit_code, f"a limit of {run.arm} did not hold: {run}"
        assert run.limits, "a run under limits must say how they are kept to"
    assert good.stdout == "fine\n", "an arm must not suffer from another's limits"
    assert good.limits == "", "a run without limits must not claim any"


def check_floods(engine: Engine) -> None:
    """Arms that leave children unreaped, or fork without end, are gone in time."""
    unreaped = "import os, time; [os.posix_spawn('/bin/true', ['true'], {}) for _ in range(300)]; "
    unreaped += "print('begun', flush=True); time.sleep(100)"
    chain = "import os, time\nprint('begun', flush=True)\nif os.fork(): time.sleep(100)\n"
    chain += "while True:\n  if os.fork(): os._exit(0)\n  os.setsid()"
    tasks = [
        Task(name, 6.0, argv=(sys.executable, "-S", "-c", text))
        for name, text in (("unreaped", unreaped), ("chain", chain))
    ]
    for run in _begun(engine, tasks):
        assert (run.status, run.stdout) == (RunStatus.TIMEOUT, "begun\n"), f"got {run}"


# Races ----------------------------------------------------------------------------------------


def _command(arm: str, script: str, deadline: float = PATIENCE, **limits: Any) -> Task:
    return Task(arm, deadline, argv=("sh", "-c", script), limits=Limits(**limits))


def _function(
    arm: str,
    function: Callable[[Any], Any],
    argument: object,
    deadline: float = PATIENCE,
    place: Mapping[str, Any] | None = None,
    **limits: Any,
) -> Task:
    call = pickle.dumps((function, (argument,)))
    return Task(arm, deadline, call=call, limits=Limits(**limits), **(place or {}))


def _never() -> bool:
    return False


def _no_end(run: Run) -> bool:
    return False


def _in_time(
    engine: Engine,
    tasks: Sequence[Task],
    ends_race: Callable[[Run], bool] = _no_end,
    given_up: Callable[[], bool] = _never,
) -> list[Run]:
    started = time.monotonic()
    try:
        return engine.race(tasks, ends_race, given_up)
    finally:
        taken = time.monotonic() - started
        assert taken < PATIENCE, f"a race that should have been stopped took {taken:.1f} seconds"


def _begun(engine: Engine, tasks: Sequence[Task]) -> list[Run]:
    """Race arms to their deadline: a later one where a command had no time to begin.

    On a busy machine a program may take seconds to start; what is checked is how it ends.
    """
    for longer in (1.0, 4.0, 16.0):
        runs = _in_time(engine, [replace(task, deadline=longer * task.deadline) for task in tasks])
        if all("begun" in run.stdout for run, task in zip(runs, tasks, strict=True) if task.argv):
            break
    return runs
