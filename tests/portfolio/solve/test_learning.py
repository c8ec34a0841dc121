"""What calls leave in the log, and what becomes of it in the journal."""

from __future__ import annotations

import io
import random
import re
import time
from pathlib import Path
from typing import Any

import pytest

from pickbest.portfolio import AskTell
from pickbest.portfolio.runs import Run, RunStatus
from pickbest.portfolio.solve import keep as keeping, learning
from pickbest.portfolio.solve.call import HEAD_START, TIMES, Caller
from pickbest.portfolio.solve.calls import Call, kept, tell
from pickbest.portfolio.solve.keep import Keep, alone
from pickbest.portfolio.solve.known import DIMACS, INSIDE
from pickbest.portfolio.solve.problem import Problem
from pickbest.portfolio.solve.stats import estimates, mean_duration
from pickbest.portfolio.solve.words import Streams, parse
from tests.portfolio.solve.conftest import Calls

ARMS = ("a", "b", "c")
KEY = "dimacs-2"


def run(arm: str, status: str = "finished", seconds: float = 0.1) -> Run:
    cost = {"finished": 0.25, "stopped": None}.get(status, 1.0)
    return Run(arm, RunStatus(status), cost, seconds, verdict="SAT" if cost == 0.25 else "")


def call(picked: tuple[str, ...], problem: str = "a.cnf", **more: Any) -> Call:
    runs = (run(picked[0]), *(run(arm, "stopped") for arm in picked[1:]))
    known: dict[str, Any] = {
        "id": str(time.time_ns()), "at": time.time(), "key": KEY, "problem": problem,
        "digests": ("00",), "arms": ARMS, "picked": picked, "weights": (), "given": False,
        "seconds": 0.1, "cpu": 0.1, "winner": picked[0], "runs": runs,
    }  # fmt: skip
    return Call(**{**known, **more})


@pytest.fixture
def keep(tmp_path: Path) -> Keep:
    return Keep(tmp_path)


def finished(folder: Path) -> int:
    with AskTell.reopened(folder / learning.JOURNAL, KEY) as book:
        return book.status().finished


def test_every_call_is_learned_whoever_chose_its_arms(keep: Keep, tmp_path: Path) -> None:
    """A burst: far more calls than sets that were offered."""
    for number in range(40):
        arms, weights = keep.picked(KEY, ARMS, 2)
        tell(keep, call(arms, f"{number}.cnf", weights=weights))
    assert learning.learn(keep) == 40
    assert learning.learn(keep) == 0
    with AskTell.reopened(tmp_path / learning.JOURNAL, KEY) as book:
        status = book.status()
        assert (status.finished, status.learned, status.open) == (40, 40, 0)
        assert [view.problem for view in book.history(2)] == ["38.cnf", "39.cnf"]
        book.verify()
    assert len(keep.sets(KEY)) == learning.READY
    arms, weights = keep.picked(KEY, ARMS, 2)
    assert len(weights) == 2
    tell(keep, call(arms, "as offered.cnf", weights=weights))
    assert learning.learn(keep) == 1
    assert finished(tmp_path) == 41


def arms_of(told: Call) -> list[list[str]]:
    return [[run.arm for run in each.record.runs] for each in learning.lessons(told, {})]


def test_who_answered_in_the_place_of_others_is_learned_of() -> None:
    runs = (run("a", "no answer"), run("b", "timeout"), run("c"))
    assert arms_of(call(("a",), runs=(runs[0], runs[2]), winner="c")) == [["a"], ["c"]]
    assert arms_of(call(("a", "b"), runs=runs, winner="c")) == [["a", "b"]]
    assert arms_of(call(("a", "b"), runs=(run("a"),))) == [["a", "b"]]
    # Nobody chose: who solved this before went first.
    assert arms_of(call(("a", "b"), runs=(run("a"),), given=True)) == []


def test_a_call_is_learned_once(keep: Keep, tmp_path: Path) -> None:
    """The process that learns is killed after its commit, before it says how far it came."""
    tell(keep, call(("a", "b")))
    learning.learn(keep)
    keep.mark_learned(0)
    learning.learn(keep)
    assert finished(tmp_path) == 1


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"key": "dimacs-2"}', "[" * 100_000, '{"a": '])
def test_what_no_call_wrote_is_passed_over(keep: Keep, tmp_path: Path, body: str) -> None:
    tell(keep, call(("a", "b")))
    keep._write([("insert into calls(id, body) values('x', ?)", (body,))])
    keep._write([("insert into kept values(?, ?)", (f"picks {KEY}", body))])
    assert keep.picked(KEY, ARMS, 2, "frozen") == (("a", "b"), ())
    tell(keep, call(("b", "c")))
    learning.learn_all(tmp_path)
    assert finished(tmp_path) == 2
    assert len(keep.sets(KEY)) == learning.READY


def test_only_the_newest_calls_and_problems_are_kept(
    keep: Keep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "MOST_CALLS", 2)
    monkeypatch.setattr(keeping, "MOST_SOLVED", 3)
    for number in range(6):
        tell(keep, call(("a", "b"), f"{number}.cnf", digests=(f"{number}",)))
        learning.learn_all(tmp_path)
    assert [each.problem for _, each in kept(keep)] == ["4.cnf", "5.cnf"]
    known = [number for number in range(6) if keep.solved(f"{number}")]
    assert known == [3, 4, 5]
    assert finished(tmp_path) == 6


def test_a_remembered_solver_that_became_slow_is_noticed(
    keep: Keep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others join after a time that grows slowly; now and then they start together."""
    for solver, seconds, waits in (
        ("a", 1.0, 1.0),
        ("a", 60.0, 1.25),
        ("a", 0.5, 0.5),
        ("b", 9.0, 9.0),
    ):
        tell(keep, call((solver,), digests=("01",), runs=(run(solver, seconds=seconds),)))
        known = keep.solved("01")
        assert known is not None
        assert (known.solver, known.seconds) == (solver, waits)
    monkeypatch.setenv(INSIDE, "")  # which calls set for their solvers
    caller = Caller(parse(["a.cnf"]), Streams(io.BytesIO()), str(tmp_path), time.monotonic())
    problem = Problem("a.cnf", DIMACS, b"p cnf 0 0")
    keep.write({f"solved {problem.digest}": ("b", 9.0)})
    for drawn, joins in ((0.05, 0.0), (0.5, HEAD_START + TIMES * 9.0)):
        monkeypatch.setattr(random, "random", lambda drawn=drawn: drawn)
        start = caller.start(problem, ARMS)
        assert start.picked[0] == "b"
        assert start.after[start.picked[1]] == pytest.approx(joins)
    caller.outputs.close()


def test_a_new_version_starts_with_the_record_of_the_old_one(
    keep: Keep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shares(version: str) -> dict[str, float]:
        monkeypatch.setattr(learning, "noted_versions", lambda keep: {"a": version})
        for number in range(12):
            arms = (("a",), ("b",), ("c",))[number % 3]
            runs = (run(arms[0], "finished" if arms == ("a",) else "timeout"),)
            tell(keep, call(arms, runs=runs, winner="a" if arms == ("a",) else None))
            if version == "2.0":
                break
        learning.learn_all(tmp_path)
        with AskTell.reopened(tmp_path / learning.JOURNAL, KEY) as book:
            return {arm.name: arm.share for arm in book.status().arms}

    assert shares("1.0")["a 1.0"] > 0.5
    after = shares("2.0")
    assert (after["a 1.0"], after["a 2.0"] > 0.5) == (0.0, True)


def test_a_solver_that_is_gone_or_new_changes_the_arms(keep: Keep, tmp_path: Path) -> None:
    for arms in (ARMS, ("a", "d", "e")):
        tell(keep, call(arms[:2], arms=list(arms)))
        learning.learn(keep)
    with AskTell.reopened(tmp_path / learning.JOURNAL, KEY) as book:
        shares = {arm.name: arm.share for arm in book.status().arms}
    assert (shares["b"], shares["c"]) == (0.0, 0.0)
    assert shares["a"] + shares["d"] + shares["e"] == pytest.approx(2.0)
    assert {arm for arms, _ in keep.sets(KEY) for arm in arms} <= {"a", "d", "e"}


def test_only_one_process_learns_at_a_time(tmp_path: Path) -> None:
    with alone(tmp_path) as first, alone(tmp_path) as second:
        assert (first, second) == (True, False)
    with alone(tmp_path) as again:
        assert again


def test_what_a_solver_would_take_alone() -> None:
    """A run that was stopped would have gone on as those did that were not."""
    assert mean_duration([(2.0, False), (2.0, False), (10.0, True)]) == 10.0
    assert mean_duration([(1.0, True)] * 3 + [(2.0, False)]) == pytest.approx(1.25)
    calls = [call(("a", "b"), runs=(run("a", seconds=1.0), run("b", "stopped", 1.0)))] * 9
    calls += [call(("b", "c"), runs=(run("b", seconds=5.0), run("c", "stopped", 5.0)))]
    alone = {each.solver: each for each in estimates(calls)}
    assert alone["a"].seconds == pytest.approx(10.0)
    assert alone["b"].seconds == pytest.approx(50.0)
    assert alone["b"].low <= 50.0 <= alone["b"].high
    assert (alone["b"].won, alone["b"].stopped, alone["b"].calls) == (1, 9, 10)


def test_versions_are_kept_and_listed(calls: Calls) -> None:
    for version in ("4.8.12", "5.4.0", "5.4.0"):
        calls.fake("z3", f"#!/bin/sh\necho Z3 version {version} - 64 bit\n")
        calls.run("sat.smt2")
        calls.run("--learn")
    assert re.search(r"smtlib +z3 +4\.8\.12, 5\.4\.0 ", calls.run("--list").stdout)


def test_calls_are_learned_from(calls: Calls) -> None:
    """A solver answers at once, the others never do; history names the problems (D12)."""
    calls.fake("z3", "#!/bin/sh\necho unsat\n")
    for name in ("cvc5", "cvc4"):
        calls.fake(name, "#!/bin/sh\necho unknown\n")
    calls.data.mkdir(parents=True)
    with alone(calls.data):  # so that learning is done here, and at once
        for number in range(8):
            text = f"(set-logic UFLIA) ; {number}\n(check-sat)\n"
            name = calls.write(f"{number}.smt2", text)
            assert calls.run("--budget", "1", name).stdout == "unsat\n"
            learning.learn(Keep(calls.data))
    with AskTell.reopened(calls.data / learning.JOURNAL, "smtlib-UFLIA-1") as book:
        status = book.status()
        shares = {arm.name.partition(" ")[0]: arm.share for arm in status.arms}
        wins = {arm.name.partition(" ")[0]: arm.won for arm in status.arms}
        assert {view.problem for view in book.history()} >= {"0.smt2", "7.smt2"}
    assert status.finished >= 8
    assert sum(wins.values()) == wins["z3"] > 0
    assert shares["z3"] > 1.0 / len(shares)


@pytest.mark.parametrize("damaged", [5, {"z3": {}}, {"z3": [7]}])
def test_versions_that_are_none_of_ours_do_not_stop_learning(keep: Keep, damaged: Any) -> None:
    keep.write({learning.VERSIONS: damaged})
    known = learning.noted_versions(keep)
    assert all(isinstance(version, str) for version in known.values())
    assert learning.noted_versions(keep) == known
