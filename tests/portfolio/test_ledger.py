"""Journal, fold, ask and tell: nothing is lost, nothing is learned twice."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from pickbest.core import PickbestError, replicate_keys, rng_for
from pickbest.core.states import copy_state, same_state
from pickbest.portfolio import AskTell, RepeatedTellError, Run, RunStatus
from pickbest.portfolio.store.journal import Journal
from pickbest.portfolio.store.ledger import Ledger
from pickbest.portfolio.store.records import Finished, Opened, ReplayError
from pickbest.portfolio.store.state import PortfolioState

ARMS = ("a", "b", "c", "d", "e")
COSTS = {"a": 0.1, "b": 0.5, "c": 0.9, "d": 0.7, "e": 0.3}


def play(book: AskTell, rounds: int) -> list[tuple[str, ...]]:
    picks = []
    for _ in range(rounds):
        ticket = book.ask()
        picks.append(ticket.arms)
        book.tell(ticket, {arm: COSTS[arm] for arm in ticket.arms})
    return picks


def test_picks_come_from_the_seed_and_the_round(database: str) -> None:
    book = AskTell(ARMS, 2, database, seed=7)
    ticket = book.ask()
    learner = book.ledger.state.live.learner
    expected = learner.pick(learner.start(1), rng_for(replicate_keys(7, 1), 0))
    assert ticket.arms == tuple(ARMS[arm] for arm in expected.arms[0])
    book.close()


def test_a_split_run_equals_a_whole_run(tmp_path: Path) -> None:
    whole = AskTell(ARMS, 2, tmp_path / "whole.db", seed=5)
    picks = play(whole, 40)
    parts = []
    for _ in range(4):
        book = AskTell(ARMS, 2, tmp_path / "parts.db", seed=5)
        parts += play(book, 10)
        book.close()
    assert parts == picks
    again = AskTell(ARMS, 2, tmp_path / "parts.db", seed=5)
    assert same_state(again.ledger.state.live.state, whole.ledger.state.live.state)
    assert again.ask().arms == whole.ask().arms
    again.close()
    whole.close()


def test_late_and_unordered_results_are_learned_with_the_weights_of_their_pick() -> None:
    book = AskTell(ARMS, 2, seed=1)
    tickets = book.ask_many(["p"] * 6)
    for ticket in reversed(tickets):
        book.tell(ticket, {arm: COSTS[arm] for arm in ticket.arms})
    assert book.status().learned == 6
    book.verify()
    book.close()


def test_telling_twice_changes_nothing(database: str) -> None:
    book = AskTell(ARMS, 2, database)
    ticket = book.ask()
    book.tell(ticket, [0.0, 1.0])
    state = copy_state(book.ledger.state.live.state)
    records = len(list(book.ledger.journal.entries()))
    with pytest.raises(RepeatedTellError, match="told already"):
        book.tell(ticket, [1.0, 0.0])
    again = book.ask()
    with pytest.raises(RepeatedTellError, match="twice at once"):
        book.tell_many([(again, [0, 0]), (again, [0, 0])])
    assert len(list(book.ledger.journal.entries())) == records + 1
    assert same_state(state, book.ledger.state.live.state)
    book.verify()
    book.close()


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([0.5], "has 2 arms, got 1 costs"),
        ([0.5, 1.5], "between 0 and 1, got 1.5"),
        ([0.5, float("nan")], "finite"),
        (["x", 0.5], "must be numbers"),
        ({"zz": 0.1}, "needs the costs of"),
    ],
)
def test_wrong_costs_leave_the_round_open(costs: object, message: str) -> None:
    book = AskTell(ARMS, 2)
    ticket = book.ask()
    with pytest.raises(PickbestError, match=message):
        book.tell(ticket, costs)  # type: ignore[arg-type]
    book.tell(ticket, [0.5, 0.5])
    assert book.status().finished == 1
    book.close()


def test_unknown_and_lost_rounds_are_refused() -> None:
    book = AskTell(ARMS, 2)
    with pytest.raises(PickbestError, match="unknown round 5"):
        book.tell(5, [0, 0])
    ticket = book.ask()
    book.forget(ticket)
    with pytest.raises(PickbestError, match=r"closed as lost \(given up\)"):
        book.tell(ticket, [0, 0])
    assert (book.status().asked, book.status().lost, book.status().open) == (1, 1, 0)
    book.close()


def test_unknown_costs_are_never_invented() -> None:
    book = AskTell(ARMS, 2, learner="thompson")
    ticket = book.ask()
    book.tell(ticket, {ticket.arms[0]: None, ticket.arms[1]: 1.0})
    *_, entry = book.ledger.journal.entries()
    assert isinstance(entry.record, Finished)
    assert (entry.record.low, entry.record.high) == ((0.0, 1.0), (1.0, 1.0))
    assert entry.record.runs[0] == Run(ticket.arms[0], RunStatus.STOPPED)
    book.close()


def test_a_round_of_a_dead_process_is_closed_as_lost_at_the_next_start(database: str) -> None:
    code = (
        "import os, sys; from pickbest.portfolio import AskTell; "
        f"book = AskTell({ARMS!r}, 2, {database!r}); book.ask(); os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    book = AskTell(ARMS, 2, database)
    (view,) = book.history()
    assert view.state == "lost"
    assert "died before the result" in view.reason
    book.verify()
    book.close()


def test_a_living_process_keeps_its_open_rounds(database: str) -> None:
    first = AskTell(ARMS, 2, database)
    ticket = first.ask()
    second = AskTell(ARMS, 2, database)
    assert second.status().open == 1
    second.tell(ticket, [0, 0])
    with pytest.raises(RepeatedTellError):
        first.tell(ticket, [0, 0])
    second.close()
    first.close()


def test_a_ticket_with_a_lifetime_outlives_its_process_and_expires(database: str) -> None:
    first = AskTell(ARMS, 2, database)
    long, short = first.ask("long", lifetime=3600.0), first.ask("short", lifetime=0.01)
    first.close()
    time.sleep(0.05)
    second = AskTell(ARMS, 2, database)
    second.tell(long, [0, 0])
    with pytest.raises(PickbestError, match="no result came in time"):
        second.tell(short, [0, 0])
    second.close()


def test_closing_closes_own_open_rounds(database: str) -> None:
    book = AskTell(ARMS, 2, database)
    book.ask()
    book.close()
    again = AskTell(ARMS, 2, database)
    assert "closed before the result" in again.history()[0].reason
    again.close()


def test_settings_are_fixed_but_budget_and_arms_may_change(database: str) -> None:
    book = AskTell(ARMS, 2, database, seed=3)
    play(book, 5)
    book.close()
    with pytest.raises(PickbestError, match="created with seed=3, got 4"):
        AskTell(ARMS, 2, database, seed=4)
    with pytest.raises(PickbestError, match="created with learner='auto'"):
        AskTell(ARMS, 2, database, seed=3, learner="uniform")
    wider = AskTell((*ARMS[1:], "f"), 3, database, seed=3)
    assert wider.ledger.state.live.arms == ("b", "c", "d", "e", "f")
    assert len(wider.ask().arms) == 3
    wider.verify()
    wider.close()


def test_bad_openings_write_nothing(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    for arms, budget, options, message in (
        (ARMS, 9, {}, "budget must be between 1 and n_arms=5, got 9"),
        (ARMS, 2, {"learner": "fmpl-partial"}, "did you mean 'fpml-partial'"),
        (ARMS, 2, {"learner": "fpml"}, "must see the cost of every arm"),
        (("a", "a"), 1, {}, "different names"),
        ((), 1, {}, "at least one arm"),
        (ARMS, 2, {"seed": -1}, "seed must be"),
    ):
        with pytest.raises(PickbestError, match=message):
            AskTell(arms, budget, path, **options)  # type: ignore[arg-type]
        assert not path.exists()
    book = AskTell(ARMS, 2, path)
    assert len(list(book.ledger.journal.entries())) == 2
    book.close()


@pytest.mark.parametrize("field", ["state", "lost", "open", "tallies", "paid"])
def test_a_state_that_differs_from_the_replay_is_found(database: str, field: str) -> None:
    with AskTell(ARMS, 2, database) as book:
        play(book, 5)
        book.ask("stays open")
        book.verify()
        state = book.ledger.state
        if field == "state":
            state.live.learn(state.open[5], Finished(5, (), (0.5, 0.5), (0.5, 0.5), (1.0, 1.0)))
        elif field == "open":
            state.open[5] = replace(state.open[5], problem="another")
        elif field == "tallies":
            state.tallies["a"].seconds += 1e-9
        else:
            setattr(state, field, getattr(state, field) + 1)
        with pytest.raises(ReplayError, match="differs from a replay"):
            book.verify()
        book.ledger.state = PortfolioState()


def test_an_empty_ledger_says_so(database: str) -> None:
    ledger = Ledger(Journal(database))
    with pytest.raises(PickbestError, match="no arms yet"):
        ledger.ask(["p"], lifetime=1.0)
    ledger.close()


def test_options_survive_the_journal(database: str) -> None:
    for _ in range(2):
        book = AskTell(ARMS, 2, database, learner={"name": "fixed", "arms": (1, 3)})
        assert book.ask().arms == ("b", "d")
        book.close()
    with pytest.raises(PickbestError, match="prior of thompson must be a number"):
        AskTell(ARMS, 2, learner={"name": "thompson", "prior": object()})
    with pytest.raises(PickbestError, match="must be finite numbers"):
        AskTell(ARMS, 2, learner="thompson:prior=inf")


def test_a_learner_with_options_may_be_text_or_a_table(database: str) -> None:
    table = {"name": "thompson", "prior": 2.0}
    for options in ({"learner": table}, {"learner": "thompson:prior=2.0"}):
        with AskTell(ARMS, 2, database, **options) as book:  # type: ignore[arg-type]
            assert book.ledger.state.settings == Opened(0, "thompson", None, {"prior": 2.0})
    with AskTell.reopened(database) as book:
        assert book.status().learner == "thompson"
