"""Arms that attack: forged reports, killed guards, floods of processes, memory, long answers."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pickbest.portfolio import Command, Portfolio, Result, Run
from pickbest.portfolio.engine import tree
from tests.portfolio import hostile
from tests.portfolio.helpers import alive, eventually, running

# What `solve` may take beyond deadline and grace, and what a busy machine may add to a test.
PROMISED, BUSY = 1.0, 1.0
# An arm that would go on for minutes was ended before that, also where a machine is emulated.
LONG_BEFORE = 60.0


def solve(  # type: ignore[no-untyped-def]
    arms: dict[str, object], deadline: float, problem: str = "p", gone: str = "", **options: object
):
    """One round in which every arm runs: (the result, its runs by arm, seconds that it took).

    gone: an argument of processes that must be gone while the portfolio and its keeper live on.
    """
    settings = {"stop": "deadline", "learner": "thompson", **options}
    with Portfolio(arms, len(arms), deadline, **settings) as portfolio:  # type: ignore[arg-type]
        guards = portfolio.race.engine.guards  # type: ignore[attr-defined]
        guards.take(None).close()  # so that its start is not in what is measured
        started = time.monotonic()
        result: Result = portfolio.solve(problem)
        seconds = time.monotonic() - started
        assert not gone or eventually(lambda: not running(gone))
    found: dict[str, Run] = {run.arm: run for run in result.runs}
    return result, found, seconds


def program(text: str, *arguments: object) -> Command:
    return Command((sys.executable, "-S", "-c", text, *map(str, arguments)))


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
    result, runs, seconds = solve(arms, 2.0, gone=nap)
    assert seconds < 2.0 + PROMISED + BUSY
    assert result.winner == "good"
    assert runs["attacker"].cost == 1.0
    if number == "KILL":
        assert runs["attacker"].reason == "its guard was killed"


RACE = """
import sys
from pickbest.portfolio.engine.local import LocalEngine
from pickbest.portfolio.runs import Task
script = "setsid env -i sleep 71.1 & setsid sleep 71.1 & sleep 71.1"
tasks = [Task(name, 60.0, argv=("sh", "-c", script)) for name in "ab"]
LocalEngine(forked=sys.argv[1] == "forked").race(tasks, lambda run: False, lambda: False)
"""


@pytest.mark.parametrize("keeper", ["started", "forked"])
@pytest.mark.parametrize(
    "victims", ["portfolio", "guards", "portfolio guards", "portfolio keeper", "keeper portfolio"]
)
def test_nothing_survives_a_kill(victims: str, keeper: str) -> None:
    """Of a portfolio, or of a call of `solve`, whose keeper is forked; daemons and all."""
    process = subprocess.Popen([sys.executable, "-c", RACE, keeper])
    assert eventually(lambda: len(running("71.1")) == 6, 60.0)
    (kept,) = tree.children(process.pid)
    pids = {"portfolio": [process.pid], "keeper": [kept], "guards": tree.children(kept)}
    assert len(pids["guards"]) == 2
    for role in victims.split():
        for pid in pids[role]:
            tree.kill(pid)  # it may have followed the portfolio already
    process.wait(timeout=20.0)
    assert eventually(lambda: not running("71.1"), 10.0)
    assert eventually(lambda: not any(alive(pid) for each in pids.values() for pid in each))


def test_an_arm_that_kills_guard_and_keeper(tmp_path: Path) -> None:
    """The race ends in time and the next one is run; what the arm started is not known any more."""
    script = "keeper=$(awk '{print $4}' /proc/$PPID/stat); setsid sleep 71.75 & "
    script += "sleep 0.2; kill -KILL $keeper $PPID; sleep 71.75"
    try:
        with Portfolio({"attacker": ["sh", "-c", script]}, 1, 1.0, learner="thompson") as portfolio:
            for _ in range(2):
                started = time.monotonic()
                assert portfolio.solve("p").cost == 1.0
                assert time.monotonic() - started < 1.0 + PROMISED + BUSY
    finally:
        for pid in running("71.75"):
            os.kill(pid, signal.SIGKILL)


def test_a_stopped_keeper_is_replaced() -> None:
    script = "kill -STOP $(awk '{print $4}' /proc/$PPID/stat)"
    arms = {"attacker": ["sh", "-c", script], "good": ["true"]}
    with Portfolio(arms, 1, 2.0, learner="thompson") as portfolio:
        assert all(portfolio.solve("p").runs for _ in range(2))
        with Portfolio(arms, 2, 2.0, learner="thompson") as other:
            assert other.solve("p").winner in arms


def test_an_answer_that_is_too_long_is_a_failure() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result, runs, _ = solve({"large": hostile.large, "good": ["true"]}, 60.0)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert result.winner == "good"
    assert runs["large"].reason == "its answer is larger than 16 MB"
    assert grown < 100_000, f"the portfolio took {grown} kB for it"


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


@pytest.mark.parametrize("keeper", ["started", "forked"])
def test_what_a_kill_of_portfolio_keeper_and_guards_in_one_instant_leaves(
    tmp_path: Path, keeper: str
) -> None:
    """Every arm ends with its guard; of what arms started, only what is silent runs on."""
    noted = tmp_path / "pids"
    code = hostile.RACE.format(noted=str(noted), forked=keeper == "forked")
    portfolio = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[2])
    try:
        count = 3 if keeper == "forked" else 4
        assert eventually(lambda: noted.exists() and len(noted.read_text().split()) == count, 60.0)
        (kept,) = tree.children(portfolio.pid)
        victims = (*tree.children(kept), kept, portfolio.pid)
        for number in (signal.SIGSTOP, signal.SIGKILL):  # none sees another die
            for pid in victims:
                os.kill(pid, number)
        portfolio.wait(timeout=20.0)
        (orphan,) = running("72.25")
        others = {int(pid) for pid in noted.read_text().split()} - {orphan}
        assert eventually(lambda: not any(alive(pid) for pid in others))
        assert alive(orphan)
    finally:
        portfolio.kill()
        portfolio.wait()
        for pid in running("72.25"):
            os.kill(pid, signal.SIGKILL)
