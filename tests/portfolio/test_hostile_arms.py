"""Arms that attack: forged reports, killed guards, floods of processes, memory, long answers."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from pickbest.portfolio import Command, Limits, Portfolio, Result, Run
from tests.portfolio import hostile
from tests.portfolio.helpers import eventually, running

# What `solve` may take beyond deadline and grace, and what a busy machine may add to a test.
PROMISED, BUSY = 1.0, 1.0
# An arm that would go on for minutes was ended before that, also where a machine is emulated.
LONG_BEFORE = 60.0


def solve(arms: dict[str, object], deadline: float, problem: str = "p", **options: object):  # type: ignore[no-untyped-def]
    """One round in which every arm runs: (the result, its runs by arm, seconds that it took)."""
    settings = {"stop": "deadline", "learner": "thompson", **options}
    with Portfolio(arms, len(arms), deadline, **settings) as portfolio:  # type: ignore[arg-type]
        guards = portfolio._engine.guards  # type: ignore[attr-defined]
        guards.give_back(guards.take(None))  # so that its start is not in what is measured
        started = time.monotonic()
        result: Result = portfolio.solve(problem)
        seconds = time.monotonic() - started
    found: dict[str, Run] = {run.arm: run for run in result.runs}
    return result, found, seconds


def program(text: str, *arguments: object) -> Command:
    return Command((sys.executable, "-S", "-c", text, *map(str, arguments)))


def test_an_arm_inherits_nothing_but_its_standard_streams() -> None:
    listing = f"import os\n{hostile.HELD}\nprint(*held())"
    arms = {"command": program(listing), "function": hostile.open_descriptors}
    with open(os.devnull) as ours:
        os.set_inheritable(ours.fileno(), True)
        _, runs, _ = solve(arms, 30.0)
    assert runs["command"].answer.split() == ["0", "1", "2"]
    # A function has the pipe for its own answer; nothing that it starts has it.
    assert runs["function"].answer == {
        "function": ["0", "1", "2", "3"],
        "program": ["0", "1", "2"],
        "fork": ["0", "1", "2"],
    }


def test_a_forged_report_is_neither_believed_nor_run(tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    _, runs, _ = solve({"forger": program(hostile.FORGER, proof), "true": ["true"]}, 20.0)
    assert runs["forger"].answer == "honest\n"
    assert not proof.exists(), "an arm ran code in the portfolio"


@pytest.mark.parametrize(("number", "nap"), [("KILL", "71.5"), ("STOP", "71.25")])
def test_an_arm_that_kills_or_stops_its_guard(number: str, nap: str) -> None:
    script = f"setsid env -i sleep {nap} & setsid sleep {nap} & "
    script += f"sleep 0.3; kill -{number} $PPID; sleep {nap}"
    arms = {"attacker": ["sh", "-c", script], "good": ["true"]}
    result, runs, seconds = solve(arms, 2.0)
    assert seconds < 2.0 + PROMISED + BUSY
    assert not running(nap)
    assert result.winner == "good"
    assert runs["attacker"].cost == 1.0
    if number == "KILL":
        assert runs["attacker"].reason == "its guard was killed"


def test_an_arm_that_kills_guard_and_keeper(tmp_path: Path) -> None:
    script = "keeper=$(awk '{print $4}' /proc/$PPID/stat); setsid sleep 71.75 & "
    script += "setsid env -i sleep 71.75 & sleep 0.3; kill -KILL $keeper $PPID; sleep 71.75"
    with Portfolio({"attacker": ["sh", "-c", script]}, 1, 2.0, learner="thompson") as portfolio:
        for _ in range(2):
            started = time.monotonic()
            assert portfolio.solve("p").cost == 1.0
            assert time.monotonic() - started < 2.0 + PROMISED + BUSY
            assert not running("71.75")


def test_a_stopped_keeper_is_replaced() -> None:
    script = "kill -STOP $(awk '{print $4}' /proc/$PPID/stat)"
    arms = {"attacker": ["sh", "-c", script], "good": ["true"]}
    with Portfolio(arms, 1, 2.0, learner="thompson") as portfolio:
        assert all(portfolio.solve("p").runs for _ in range(2))
        with Portfolio(arms, 2, 2.0, learner="thompson") as other:
            assert other.solve("p").winner in arms


@pytest.mark.parametrize(("text", "deadline"), [(hostile.UNREAPED, 3.0), (hostile.CHAIN, 2.0)])
def test_floods_of_processes_end_with_the_deadline(
    text: str, deadline: float, tmp_path: Path
) -> None:
    begun = tmp_path / "begun"
    for _ in range(3):
        _, runs, seconds = solve({"flood": program(text, begun)}, deadline)
        if begun.exists():
            break
        deadline *= 5.0  # the machine is too slow for it to begin
    assert begun.exists(), "the flood had not begun yet"
    assert runs["flood"].cost == 1.0
    assert seconds < deadline + PROMISED + BUSY
    assert eventually(lambda: not running(str(begun)), 0.0)


def test_a_forking_memory_hog_is_stopped_while_the_others_finish() -> None:
    arms = {"hog": hostile.forks_and_eats, "good": ["sh", "-c", "sleep 2; echo fine"]}
    result, runs, seconds = solve(arms, 300.0, limits=Limits(memory_bytes=500 * 1024**2))
    assert seconds < LONG_BEFORE
    assert result.winner == "good"
    assert runs["hog"].reason == "it used more than 500 MB of memory"


def test_processor_time_and_processes_are_limited_for_the_whole_arm() -> None:
    limits = Limits(cpu_seconds=2.0, processes=20)
    arms = {"busy": hostile.forks_and_spins, "many": hostile.many_processes}
    _, runs, _ = solve(arms, 30.0, limits=limits)
    assert runs["busy"].reason == "it used more than 2 seconds of processor time"
    assert runs["busy"].seconds < 20.0
    assert runs["many"].cost == 1.0
    assert {run.limits for run in runs.values()} <= {"cgroup v2", "polling"}


def test_the_race_as_a_whole_is_limited() -> None:
    from pickbest.portfolio.engine.limits import Ceiling

    arms = {"hog": hostile.forks_and_eats, "good": ["sh", "-c", "sleep 3; echo fine"]}
    ceiling = Ceiling(memory_bytes=500 * 1024**2)
    result, runs, seconds = solve(arms, 300.0, race_limits=ceiling)
    assert seconds < LONG_BEFORE
    assert result.winner == "good"
    assert "more than 500 MB of memory" in runs["hog"].reason


def test_an_answer_that_is_too_long_is_a_failure() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result, runs, _ = solve({"large": hostile.large, "good": ["true"]}, 60.0)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert result.winner == "good"
    assert runs["large"].reason == "its answer is larger than 16 MB"
    assert grown < 100_000, f"the portfolio took {grown} kB for it"


def test_functions_return_data_and_nothing_else() -> None:
    _, runs, _ = solve({"kinds": hostile.kinds, "object": hostile.not_data}, 30.0)
    answer, expected = runs["kinds"].answer, hostile.kinds("p")
    assert answer.keys() == expected.keys()
    for key, value in expected.items():
        assert type(answer[key]) is type(value)
        np.testing.assert_equal(answer[key], value)
    assert answer["array"].dtype == np.float32
    assert runs["object"].reason.endswith("got tests.portfolio.hostile.Unsendable")


def test_arms_do_not_see_the_secrets_of_the_portfolio(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    secrets = ("PGPASSWORD", "GITHUB_TOKEN", "DATABASE_URL", "SOME_LICENSE", "CUDA_SECRET")
    for name in secrets:
        monkeypatch.setenv(name, "hidden")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    arms = {"command": ["env"], "function": hostile.surroundings}
    _, runs, _ = solve(arms, 20.0)
    listed = runs["command"].answer
    seen = runs["function"].answer
    assert "hidden" not in listed
    assert not set(secrets) & (seen["env"].keys() | set(seen["first"]))
    assert "OMP_NUM_THREADS=3" in listed.split()
    assert {"PATH", "HOME"} <= seen["env"].keys()
    _, runs, _ = solve(arms, 20.0, pass_env=["SOME_*"])
    assert runs["function"].answer["env"]["SOME_LICENSE"] == "hidden"
    assert "PGPASSWORD" not in runs["command"].answer
    _, runs, _ = solve(arms, 20.0, pass_env=["*"])
    assert set(secrets) <= runs["function"].answer["env"].keys()


def test_an_arm_has_its_own_environment_folder_and_cores(tmp_path: Path) -> None:
    from pickbest.portfolio import Function

    own = {"cwd": str(tmp_path), "env": (("SEED", "7"),), "cores": 2}
    arms = {
        "one": Function(hostile.surroundings),
        "two": Function(hostile.surroundings, **own),  # type: ignore[arg-type]
        "command": Command(("sh", "-c", "pwd; echo $SEED"), **own),  # type: ignore[arg-type]
        "nowhere": Function(hostile.surroundings, cwd="/no/such/folder"),
    }
    _, runs, _ = solve(arms, 20.0, limits=Limits(pin=True))
    cores = len(os.sched_getaffinity(0))
    assert len(runs["one"].answer["cores"]) == 1
    assert len(runs["two"].answer["cores"]) == min(2, cores)
    assert (runs["two"].answer["cwd"], runs["two"].answer["env"]["SEED"]) == (str(tmp_path), "7")
    assert runs["command"].answer == f"{tmp_path}\n7\n"
    assert "/no/such/folder: No such file" in runs["nowhere"].reason


def test_what_a_kill_of_everything_leaves_is_ended_at_the_next_start() -> None:
    script = "keeper=$(awk '{print $4}' /proc/$PPID/stat); "
    script += "portfolio=$(awk '{print $4}' /proc/$keeper/stat); "
    script += "setsid sleep 72.25 & setsid env -i sleep 72.25 & sleep 0.3; "
    script += "kill -KILL $portfolio $keeper $PPID; sleep 72.25"
    pid = os.fork()
    if pid == 0:
        try:
            solve({"attacker": ["sh", "-c", script]}, 20.0)
        finally:
            os._exit(0)
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL
    assert running("72.25")
    solve({"good": ["true"]}, 20.0)
    assert not running("72.25")
