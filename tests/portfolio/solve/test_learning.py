"""What calls leave in the log, and what becomes of it in the journal."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pickbest.portfolio import AskTell
from pickbest.portfolio.solve import learning, stock as stocks
from pickbest.portfolio.solve.stats import estimates, mean_duration
from pickbest.portfolio.solve.stock import LOG, PICKS, Stock, alone
from tests.portfolio.solve.conftest import Calls

ARMS = ("a", "b", "c")
KEY = "dimacs-2"


def run(arm: str, status: str = "finished", seconds: float = 0.1) -> dict[str, Any]:
    done = status == "finished"
    return {
        "arm": arm, "status": status, "cost": 0.25 if done else None, "seconds": seconds,
        "cpu": seconds, "reason": "", "verdict": "SAT" if done else "", "checked": False,
        "accepted": done,
    }  # fmt: skip


def call(picked: tuple[str, ...], problem: str = "a.cnf", **more: Any) -> dict[str, Any]:
    runs = [run(picked[0]), *(run(arm, "stopped") for arm in picked[1:])]
    return {
        "at": time.time(), "key": KEY, "problem": problem, "content": "00", "place": "00",
        "arms": list(ARMS), "picked": list(picked), "weights": [], "learns": True,
        "seconds": 0.1, "winner": picked[0], "verdict": "SAT", "proved": False, "runs": runs,
        **more,
    }  # fmt: skip


@pytest.fixture
def stock(tmp_path: Path) -> Stock:
    return Stock(tmp_path)


def finished(folder: Path) -> int:
    with AskTell.reopened(folder / learning.JOURNAL, KEY) as book:
        return book.status().finished


def test_every_call_is_learned_whoever_chose_its_arms(stock: Stock, tmp_path: Path) -> None:
    """A burst: far more calls than sets that were offered."""
    for number in range(40):
        arms, weights = stock.picked(KEY, ARMS, 2)
        stock.tell(call(arms, f"{number}.cnf", weights=weights))
    assert learning.learn(tmp_path) == 40
    assert learning.learn(tmp_path) == 0
    with AskTell.reopened(tmp_path / learning.JOURNAL, KEY) as book:
        status = book.status()
        assert (status.finished, status.learned, status.open) == (40, 40, 0)
        assert [view.problem for view in book.history(2)] == ["38.cnf", "39.cnf"]
        book.verify()
    assert len(stock.sets(KEY)) == learning.READY
    arms, weights = stock.picked(KEY, ARMS, 2)
    assert len(weights) == 2
    stock.tell(call(arms, "as offered.cnf", weights=weights))
    assert learning.learn(tmp_path) == 1
    assert finished(tmp_path) == 41


def test_who_answered_in_the_place_of_others_is_learned_of(stock: Stock, tmp_path: Path) -> None:
    runs = [run("a", "no answer"), run("b", "timeout"), run("c")]
    for each in runs[:2]:
        each["cost"] = 1.0
    one = call(("a",), runs=runs[:1] + runs[2:], winner="c")
    assert [[r.arm for r in each.record.runs] for each in learning.lessons(one)] == [["a"], ["c"]]
    both = call(("a", "b"), runs=runs, winner="c")
    assert [[r.arm for r in each.record.runs] for each in learning.lessons(both)] == [["a", "b"]]
    alone_first = call(("a", "b"), runs=[run("a")])
    assert list(learning.lessons(alone_first)) == []


def test_a_call_is_learned_once(stock: Stock, tmp_path: Path) -> None:
    """The process that learns is killed after its commit, before it says how far it came."""
    stock.tell(call(("a", "b")))
    learning.learn(tmp_path)
    stock.mark_learned(0)
    learning.learn(tmp_path)
    assert finished(tmp_path) == 1


@pytest.mark.parametrize(
    "line", ["", "[]", "{}", '{"key": "dimacs-2", "learns": true}', "\0", "[" * 100_000, '{"a": ']
)
def test_a_damaged_line_is_passed_over(stock: Stock, tmp_path: Path, line: str) -> None:
    stock.tell(call(("a", "b")))
    with (tmp_path / LOG).open("a") as file:
        file.write(line)  # without an end: its process was killed
    stock.tell(call(("b", "c")))
    learning.learn_all(tmp_path)
    assert finished(tmp_path) == 2


@pytest.mark.parametrize("content", ["", "[]", '{"sets": 3}', '{"sets": [[1, 2]]}', "\0"])
def test_damaged_picks_count_as_none(stock: Stock, tmp_path: Path, content: str) -> None:
    stock.offer(KEY, [(("b", "c"), None)])
    assert stock.picked(KEY, ARMS, 2) == (("b", "c"), ())
    (tmp_path / PICKS / f"{KEY}.json").write_text(content)
    arms, _ = stock.picked(KEY, ARMS, 2)
    assert arms[0] == "a"
    assert stock.picked(KEY, ARMS, 2, b"frozen") == (("a", "b"), ())


def test_a_long_log_is_put_aside_when_it_is_learned(
    stock: Stock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stocks, "LONGEST_LOG", 1000)
    for number in range(6):
        stock.tell(call(("a", "b"), f"{number}.cnf"))
        learning.learn_all(tmp_path)
    assert stock.size < 2000
    assert finished(tmp_path) == 6


def test_a_solver_that_is_gone_or_new_changes_the_arms(stock: Stock, tmp_path: Path) -> None:
    for arms in (ARMS, ("a", "d")):
        stock.tell(call(arms[:2], arms=list(arms)))
        learning.learn(tmp_path)
    with AskTell.reopened(tmp_path / learning.JOURNAL, KEY) as book:
        shares = {arm.name: arm.share for arm in book.status().arms}
    assert shares == {"a": 1.0, "b": 0.0, "c": 0.0, "d": 1.0}
    assert {arms for arms, _ in stock.sets(KEY)} <= {("a", "d"), ("d", "a")}


def test_only_one_process_learns_at_a_time(tmp_path: Path) -> None:
    with alone(tmp_path) as first, alone(tmp_path) as second:
        assert (first, second) == (True, False)
    with alone(tmp_path) as again:
        assert again


def test_what_a_solver_would_take_alone() -> None:
    """A run that was stopped would have gone on as those did that were not."""
    assert mean_duration([(2.0, False), (2.0, False), (10.0, True)]) == 10.0
    assert mean_duration([(1.0, True)] * 3 + [(2.0, False)]) == pytest.approx(1.25)
    calls = [call(("a", "b"), runs=[run("a", seconds=1.0), run("b", "stopped", 1.0)])] * 9
    calls += [call(("b", "c"), runs=[run("b", seconds=5.0), run("c", "stopped", 5.0)])]
    alone = {each.solver: each for each in estimates(calls)}
    assert alone["a"].seconds == pytest.approx(10.0)
    assert alone["b"].seconds == pytest.approx(50.0)
    assert alone["b"].low <= 50.0 <= alone["b"].high
    assert (alone["b"].won, alone["b"].stopped, alone["b"].calls) == (1, 9, 10)


def test_versions_are_kept_and_listed(calls: Calls) -> None:
    """A new version goes on with the record of the old one; both are shown."""
    calls.data.mkdir(parents=True)
    for version in ("4.8.12", "5.4.0", "5.4.0"):
        calls.fake("z3", f"#!/bin/sh\necho x >> asked\necho Z3 version {version} - 64 bit\n")
        for _ in range(2):
            calls.run(
                str(calls.data),
                program=[sys.executable, "-P", "-m", "pickbest.portfolio.solve.learning"],
            )
    assert re.search(r"smtlib +z3 +4\.8\.12, 5\.4\.0 ", calls.run("--list").stdout)
    assert (calls.folder / "asked").read_text().count("x") == 3  # once for each program


def test_calls_are_learned_from(calls: Calls) -> None:
    """Real calls, with a solver that answers at once and others that never do."""
    calls.fake("z3", "#!/bin/sh\necho unsat\n")
    for name in ("cvc5", "cvc4"):
        calls.fake(name, "#!/bin/sh\necho unknown\n")
    calls.data.mkdir(parents=True)
    with alone(calls.data):  # so that learning is done here, and at once
        for number in range(8):
            text = f"(set-logic UFLIA) ; {number}\n(check-sat)\n"
            name = calls.write(f"{number}.smt2", text)
            assert calls.run("--budget", "1", name).stdout == "unsat\n"
            learning.learn(calls.data)
    with AskTell.reopened(calls.data / learning.JOURNAL, "smtlib-UFLIA-1") as book:
        status = book.status()
        shares = {arm.name: arm.share for arm in status.arms}
        wins = {arm.name: arm.won for arm in status.arms}
        assert {view.problem for view in book.history()} >= {"0.smt2", "7.smt2"}
    assert status.finished >= 8
    assert sum(wins.values()) == wins["z3"] > 0
    assert shares["z3"] > 1.0 / len(shares)


def test_results_are_on_disk_when_a_call_ends(calls: Calls) -> None:
    calls.fake("z3", "#!/bin/sh\necho unsat\n")
    calls.data.mkdir(parents=True)
    with alone(calls.data):
        calls.run("sat.smt2")
    content = json.loads((calls.data / LOG).read_text())
    assert (content["key"], content["problem"]) == ("smtlib-QF_BV-2", "sat.smt2")
