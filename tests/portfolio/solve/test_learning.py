"""What calls leave in the stock, and what becomes of it in the journal."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from pickbest.portfolio import AskTell
from pickbest.portfolio.runs import Run, RunStatus
from pickbest.portfolio.solve import learning
from pickbest.portfolio.solve.stock import ASIDE, TOLD, Stock, alone
from pickbest.portfolio.store.records import Finished
from tests.portfolio.solve.conftest import Calls

ARMS = ("a", "b", "c")
KEY = "dimacs-2"


def told(*arms: str) -> Finished:
    runs = (
        Run(arms[0], RunStatus.FINISHED, 0.25, 0.1, verdict="SAT"),
        *(Run(arm, RunStatus.STOPPED, None, 0.1) for arm in arms[1:]),
    )
    costs = (0.25, *(1.0 for _ in arms[1:]))
    return Finished(0, runs, costs, costs, costs, winner=arms[0], cost=0.25, at=time.time())


@pytest.fixture
def stock(tmp_path: Path) -> Stock:
    return Stock(tmp_path)


def test_every_round_is_learned_whoever_chose_its_arms(stock: Stock, tmp_path: Path) -> None:
    """A burst: far more calls than sets that were offered."""
    for number in range(40):
        arms, weights = stock.picked(KEY, ARMS, 2)
        stock.tell(KEY, ARMS, f"{number}.cnf", weights, told(*arms))
    assert learning.learn(tmp_path) == 40
    assert stock.waiting() == []
    with AskTell.reopened(tmp_path / learning.JOURNAL, KEY) as book:
        status = book.status()
        assert (status.finished, status.learned, status.open) == (40, 40, 0)
        assert [view.problem for view in book.history(2)] == ["38.cnf", "39.cnf"]
        book.verify()
    assert len(stock.sets(KEY)) == learning.READY
    arms, weights = stock.picked(KEY, ARMS, 2)
    assert len(weights) == 2
    stock.tell(KEY, ARMS, "as offered.cnf", weights, told(*arms))
    assert learning.learn(tmp_path) == 1
    with AskTell.reopened(tmp_path / learning.JOURNAL, KEY) as book:
        assert book.status().learned == 41


def test_a_result_is_learned_once(stock: Stock, tmp_path: Path) -> None:
    """The process that learns is killed after its commit, and before it removes the file."""
    stock.tell(KEY, ARMS, "a.cnf", (), told("a", "b"))
    (name,) = stock.waiting()
    kept = (tmp_path / TOLD / name).read_text()
    learning.learn(tmp_path)
    (tmp_path / TOLD / name).write_text(kept)
    learning.learn(tmp_path)
    with AskTell.reopened(tmp_path / learning.JOURNAL, KEY) as book:
        assert book.status().finished == 1


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"key": "dimacs-2", "finished": 3}', "\0", "[" * 100_000]
)
def test_a_damaged_result_is_set_aside_and_the_others_are_learned(
    stock: Stock, tmp_path: Path, content: str
) -> None:
    stock.tell(KEY, ARMS, "a.cnf", (), told("a", "b"))
    (tmp_path / TOLD / "0-damaged.json").write_text(content)
    learning.learn(tmp_path)
    assert (tmp_path / ASIDE / "0-damaged.json").read_text() == content
    assert (tmp_path / ASIDE / "0-damaged.json.reason").exists()
    with AskTell.reopened(tmp_path / learning.JOURNAL, KEY) as book:
        assert book.status().finished == 1


@pytest.mark.parametrize("content", ["", "[]", '{"sets": 3}', '{"sets": [[1, 2]]}', "\0"])
def test_damaged_picks_count_as_none(stock: Stock, tmp_path: Path, content: str) -> None:
    stock.offer(KEY, [(("b", "c"), None)])
    assert stock.picked(KEY, ARMS, 2) == (("b", "c"), ())
    (tmp_path / "picks" / f"{KEY}.json").write_text(content)
    arms, _ = stock.picked(KEY, ARMS, 2)
    assert arms[0] == "a"
    assert stock.picked(KEY, ARMS, 2, b"frozen") == (("a", "b"), ())


def test_a_solver_that_is_gone_or_new_changes_the_arms(stock: Stock, tmp_path: Path) -> None:
    for arms in (ARMS, ("a", "d")):
        stock.tell(KEY, arms, "a.cnf", (), told(*arms[:2]))
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
    (name,) = Stock(calls.data).waiting()
    content = json.loads((calls.data / TOLD / name).read_text())
    assert (content["key"], content["problem"]) == ("smtlib-QF_BV-2", "sat.smt2")
