"""Races of real processes: costs, stops, limits, and nothing left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pickbest.core import PickbestError
from pickbest.portfolio import GivenUpError, Limits, Portfolio, Quality, Run
from pickbest.portfolio.engine.engines import Engine
from pickbest.portfolio.engine.local import LocalEngine
from pickbest.portfolio.runs import RunStatus, Task
from tests.portfolio import arms as portfolio_arms
from tests.portfolio.helpers import alive, eventually, parent, running

# Arms that must be stopped sleep far longer than a busy machine takes to start Ray's workers.
LONG, PATIENCE = "600", 200.0


class Shared:
    """An engine that outlives the portfolios of a module."""

    def __init__(self, engine: Engine) -> None:
        self.race = engine.race

    def close(self) -> None:
        pass


def run_all(engine: Engine, arms: dict[str, object], problem: object, **options: object):  # type: ignore[no-untyped-def]
    """One round in which every arm runs; the result, its runs by arm, and the portfolio's log."""
    settings = {"deadline": PATIENCE, "stop": "deadline", **options}
    with Portfolio(arms, len(arms), engine=Shared(engine), **settings) as portfolio:  # type: ignore[arg-type]
        result = portfolio.solve(problem)
        portfolio.verify()
        return result, {run.arm: run for run in result.runs}, portfolio.history()[0]


def test_commands_and_functions_answer(engine: Engine) -> None:
    arms = {"echo": ["echo", "<{problem}>"], "quick": portfolio_arms.quick}
    result, runs, view = run_all(engine, arms, "p 1")
    assert runs["echo"].answer == "<p 1>\n"
    assert runs["quick"].answer == 0.25
    assert result.solved
    assert view.winner == result.winner
    assert (view.problem, view.state, view.learned) == ("p 1", "finished", True)
    assert view.answer == result.answer


def test_every_way_to_fail_has_a_reason_and_the_others_go_on(engine: Engine) -> None:
    arms = {
        "fails": portfolio_arms.fails,
        "nothing": portfolio_arms.nothing,
        "missing": ["no-such-solver", "{problem}"],
        "exit": ["sh", "-c", "echo wrong input >&2; exit 3"],
        "killed": ["sh", "-c", "kill -SEGV $$"],
        "good": ["true"],
    }
    result, runs, _ = run_all(engine, arms, "p")
    assert result.winner == "good"
    assert {arm: run.status for arm, run in runs.items()} == {
        "fails": RunStatus.CRASHED,
        "nothing": RunStatus.NO_ANSWER,
        "missing": RunStatus.BROKEN,
        "exit": RunStatus.CRASHED,
        "killed": RunStatus.CRASHED,
        "good": RunStatus.FINISHED,
    }
    assert {arm: run.cost for arm, run in runs.items() if arm != "good"} == dict.fromkeys(
        ("fails", "nothing", "missing", "exit", "killed"), 1.0
    )
    assert runs["fails"].reason == "RuntimeError: no luck today"
    assert runs["missing"].reason == "cannot start: no-such-solver: No such file or directory"
    assert runs["exit"].reason == "exit code 3: wrong input"
    assert runs["killed"].reason == f"ended by signal {int(signal.SIGSEGV)}"


def test_the_first_answer_stops_the_others_and_their_cost_stays_unknown(engine: Engine) -> None:
    arms = {"slow": ["sleep", LONG], "quick": ["true"]}
    started = time.monotonic()
    options = {"stop": "first", "watch": 0.0, "deadline": 400.0, "cost": "runtime"}
    result, runs, _ = run_all(engine, arms, "p", **options)
    assert time.monotonic() - started < PATIENCE
    assert result.winner == "quick"
    assert runs["slow"].status is RunStatus.STOPPED
    assert runs["slow"].cost is None
    assert 0.0 < runs["slow"].low < runs["slow"].high == 1.0
    assert runs["quick"].cost == pytest.approx(runs["quick"].seconds / 400.0)


def test_quality_between_bounds(engine: Engine) -> None:
    arms = {
        "function": portfolio_arms.number,
        "command": ["echo", "log line\n75"],
        "wrong": ["echo", "abc"],
        "empty": ["true"],
        "word": portfolio_arms.word,
        "anytime": ["sh", "-c", "echo 90; echo 60; sleep 600"],
    }
    cost = Quality(best=0.0, worst=100.0)
    result, runs, _ = run_all(engine, arms, "50", cost=cost, deadline=4.0)
    costs = {"function": 0.5, "command": 0.75, "anytime": 0.6}
    assert {arm: runs[arm].cost for arm in costs} == costs
    assert runs["anytime"].status is RunStatus.TIMEOUT
    assert result.winner == "function"
    assert result.cost == 0.5
    for arm in ("wrong", "empty", "word"):
        assert (runs[arm].status, runs[arm].cost) == (RunStatus.BROKEN, 1.0)
        assert "must be a number" in runs[arm].reason


def test_good_enough_quality_ends_a_race(engine: Engine) -> None:
    arms = {"good": ["echo", "10"], "slow": ["sleep", LONG]}
    cost = Quality(best=0.0, worst=100.0, good_enough=20.0)
    options = {"stop": "first", "watch": 0.0, "deadline": 400.0}
    result, runs, _ = run_all(engine, arms, "p", cost=cost, **options)
    assert result.winner == "good"
    assert runs["slow"].status is RunStatus.STOPPED


def own_cost(run: Run) -> float:
    return {"fair": 0.5, "wrong": 1.5}[run.arm]


def test_own_costs_and_costs_outside_the_range(engine: Engine) -> None:
    arms = {"fair": ["true"], "wrong": ["true"], "raises": ["true"]}
    result, runs, _ = run_all(engine, arms, "p", cost=own_cost)
    assert (result.winner, result.cost) == ("fair", 0.5)
    assert runs["wrong"].status is RunStatus.BROKEN
    assert "between 0 and 1, got 1.5" in runs["wrong"].reason
    assert "cost function failed: KeyError('raises')" in runs["raises"].reason


def test_an_arm_whose_worker_dies_is_run_again(engine: Engine, tmp_path: Path) -> None:
    if isinstance(engine, LocalEngine):
        pytest.skip("the local engine has no workers that could die without the portfolio")
    log = tmp_path / "log"
    script = f"echo $$ >> {log}; [ $(wc -l < {log}) = 1 ] && sleep {LONG}; echo again"
    task = Task("retried", 400.0, argv=("sh", "-c", script))

    def kill_worker() -> None:
        assert eventually(lambda: log.exists() and log.read_text().endswith("\n"), PATIENCE)
        keeper = parent(parent(int(log.read_text())))
        os.kill(parent(keeper), signal.SIGKILL)

    killer = threading.Thread(target=kill_worker)
    killer.start()
    (run,) = engine.race([task], lambda run: False, lambda: False)
    killer.join()
    first, _ = map(int, log.read_text().split())
    assert run.stdout == "again\n"
    assert eventually(lambda: not alive(first))


def test_watched_rounds_run_to_the_end() -> None:
    """How many are watched at first, the learner says; all of a round's costs are known then."""
    arms = {"quick": ["true"], "later": ["sleep", "0.2"]}
    for watch, watched in ((1.0, True), (0.0, False)):
        with Portfolio(arms, 2, 20.0, learner="auto", watch=watch) as portfolio:
            result = portfolio.solve("p")
            portfolio.verify()
        assert all(run.cost is not None for run in result.runs) is watched


def test_map_solves_all_problems_at_once_in_parallel() -> None:
    with Portfolio({"sleep": ["sleep", "{problem}"]}, 1, 20.0) as portfolio:
        started = time.monotonic()
        results = list(portfolio.map(["2", "2", "2", "2"], concurrency=4))
        assert time.monotonic() - started < 7.5
        assert [result.winner for result in results] == ["sleep"] * 4
        assert sorted(result.round for result in results) == [0, 1, 2, 3]
        portfolio.verify()


def test_leaving_map_early_stops_what_runs_and_closes_it_as_lost() -> None:
    with Portfolio({"sleep": ["sleep", "{problem}"]}, 1, 60.0) as portfolio:
        started = time.monotonic()
        for result in portfolio.map(["0.01", "50", "50"], concurrency=3):
            assert result.problem == "0.01"
            break
        assert time.monotonic() - started < 20.0
        status = portfolio.status()
        assert (status.finished, status.lost, status.open) == (1, 2, 0)
        assert portfolio.solve("0.01").solved


def test_kill_closes_running_rounds_as_lost() -> None:
    with Portfolio({"sleep": ["sleep", "60"]}, 1, 60.0) as portfolio:
        threading.Timer(0.3, portfolio.kill).start()
        with pytest.raises(GivenUpError, match="round 0 was stopped"):
            portfolio.solve("p")
        with pytest.raises(GivenUpError, match="no round was opened"):
            portfolio.solve("p")
        assert portfolio.status().lost == 1


def test_a_keyboard_interrupt_closes_the_round(tmp_path: Path) -> None:
    arms = {"sleep": ["sleep", "62.75"]}
    code = (
        "from pickbest.portfolio import Portfolio\n"
        f"Portfolio({arms!r}, 1, 60.0, {str(tmp_path / 'r.db')!r}).solve('p')\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    assert eventually(lambda: bool(running("62.75")), 60.0)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60.0) != 0
    assert not running("62.75")
    with Portfolio(arms, 1, 60.0, tmp_path / "r.db") as portfolio:
        (view,) = portfolio.history()
        assert (view.state, view.reason) == ("lost", "KeyboardInterrupt")


def test_an_arm_that_another_process_added_is_not_blamed(tmp_path: Path) -> None:
    with Portfolio({"a": ["true"], "b": ["true"]}, 2, 20.0, tmp_path / "r.db") as first:
        with Portfolio({"a": ["true"], "b": ["true"]}, 2, 20.0, tmp_path / "r.db") as second:
            second.add_arm("c", ["true"])
            second.remove_arm("a")
            result = first.solve("p")
        (run,) = (run for run in result.runs if run.arm == "c")
        assert (run.status, run.cost) == (RunStatus.STOPPED, None)
        assert "another process added this arm" in run.reason


@pytest.mark.parametrize(
    ("arms", "options", "message"),
    [
        ({}, {}, "arms must be a dictionary"),
        ({"a": "kissat {problem}"}, {}, "must be a list of words, not one string"),
        ({"a": []}, {}, "a command must be a list of words"),
        ({"a": 3}, {}, "must be a function or a list of words"),
        ({"a": lambda problem: 1}, {}, "define functions with def"),
        ({"a": ["true"]}, {"deadline": 0.0}, "deadline must be a number above 0"),
        ({"a": ["true"]}, {"watch": 1.5}, "watch must be between 0 and 1"),
        ({"a": ["true"]}, {"wach": 1.0}, "did you mean 'watch'"),
        ({"a": ["true"]}, {"cost": 3}, "cost must be a name"),
    ],
)
def test_bad_portfolios_are_refused(arms: object, options: dict[str, object], message: str) -> None:
    with pytest.raises(PickbestError, match=message):
        Portfolio(arms, 1, **{"deadline": 1.0, **options})  # type: ignore[arg-type]


def test_bad_costs_and_limits_are_refused() -> None:
    with pytest.raises(PickbestError, match="two different finite numbers"):
        Quality(best=1.0, worst=1.0)
    with pytest.raises(PickbestError, match="memory_bytes must be a number above 0"):
        Limits(memory_bytes=0)
    with pytest.raises(PickbestError, match="grace must be a number of at least 0"):
        Limits(grace=-1.0)
