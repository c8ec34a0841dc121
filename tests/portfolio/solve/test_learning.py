"""What calls leave in the stock, and what becomes of it in the journal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pickbest.portfolio import AskTell
from pickbest.portfolio.runs import Run, RunStatus
from pickbest.portfolio.solve import learning
from pickbest.portfolio.solve.stock import TICKETS, TOLD, Stock
from pickbest.portfolio.store.records import Finished
from tests.portfolio.solve.conftest import Calls

ARMS = ("a", "b", "c")


@pytest.fixture
def stock(tmp_path: Path) -> Stock:
    made = Stock(tmp_path, "dimacs-2")
    assert made.take(ARMS, 2) is None  # now it is known who may be picked
    assert learning.learn(tmp_path) == 0
    return made


def told(number: int, arms: tuple[str, ...]) -> Finished:
    runs = (
        Run(arms[0], RunStatus.FINISHED, 0.25, 0.1, verdict="SAT"),
        Run(arms[1], RunStatus.STOPPED, None, 0.1),
    )
    return Finished(number, runs, (0.25, 1.0), winner=arms[0], cost=0.25)


def test_a_ticket_is_taken_once(stock: Stock) -> None:
    numbers = [ticket.round for ticket in iter(lambda: stock.take(ARMS, 2), None)]
    assert numbers == list(range(learning.READY))
    assert set(stock.latest(ARMS, 2)) < set(ARMS)
    assert stock.names(TICKETS) == []


def test_results_reach_the_journal_once(stock: Stock, tmp_path: Path) -> None:
    tickets = [stock.take(ARMS, 2) for _ in range(3)]
    for ticket in tickets:
        assert ticket is not None
        stock.tell(told(ticket.round, ticket.arms))
    twice = stock.folder / TOLD / "0.json"
    kept = twice.read_text()
    assert learning.learn(tmp_path) == 3
    assert (stock.names(TOLD), len(stock.names(TICKETS))) == ([], learning.READY)
    twice.write_text(kept)
    (stock.folder / TOLD / "1.json").write_text('{"round": 1, "runs": "nonsense"}')
    assert learning.learn(tmp_path) == 2
    refused = json.loads((stock.folder / "refused" / "1.json").read_text())
    assert "damaged" in refused["reason"]
    with AskTell.reopened(tmp_path / learning.JOURNAL, "dimacs-2") as book:
        status = book.status()
        assert (status.finished, status.learned) == (3, 3)
        book.verify()


def test_a_solver_that_is_gone_or_new_changes_the_arms(stock: Stock, tmp_path: Path) -> None:
    fewer = ("a", "b")
    assert stock.take(fewer, 1) is None
    learning.learn(tmp_path)
    ticket = stock.take(fewer, 1)
    assert ticket is not None
    assert set(ticket.arms) <= set(fewer)
    with AskTell.reopened(tmp_path / learning.JOURNAL, "dimacs-2") as book:
        assert {arm.name for arm in book.status().arms if arm.share > 0} == set(fewer)


@pytest.mark.parametrize("content", ["", "[]", '{"round": "x"}', '{"round": 1, "arms": 3}', "\0"])
def test_a_damaged_stock_is_no_error(stock: Stock, content: str) -> None:
    for name in stock.names(TICKETS):
        (stock.folder / TICKETS / name).write_text(content)
    (stock.folder / "latest.json").write_text(content)
    assert stock.take(ARMS, 2) is None
    assert stock.latest(ARMS, 2) == ("a", "b")


def test_only_one_process_learns_at_a_time(tmp_path: Path) -> None:
    with learning.alone(tmp_path) as first, learning.alone(tmp_path) as second:
        assert (first, second) == (True, False)
    with learning.alone(tmp_path) as again:
        assert again


def test_calls_are_learned_from(calls: Calls) -> None:
    """Real calls, with a solver that answers at once and others that never do."""
    calls.write("quantified.smt2", "(set-logic UFLIA)\n(check-sat)\n")
    calls.fake("z3", "#!/bin/sh\necho unsat\n")
    for name in ("cvc5", "cvc4"):
        calls.fake(name, "#!/bin/sh\necho unknown\n")
    calls.data.mkdir(parents=True)
    with learning.alone(calls.data):  # so that learning is done here, and at once
        for _ in range(12):
            assert calls.run("--budget", "1", "quantified.smt2").stdout == "unsat\n"
            learning.learn(calls.data)
    with AskTell.reopened(calls.data / learning.JOURNAL, "smtlib-UFLIA-1") as book:
        status = book.status()
        assert status.finished == 11  # the first call found no ticket
        shares = {arm.name: arm.share for arm in status.arms}
        wins = {arm.name: arm.won for arm in status.arms}
    assert wins["z3"] > 0
    assert sum(wins.values()) == wins["z3"]
    assert shares["z3"] > 1.0 / len(shares)
