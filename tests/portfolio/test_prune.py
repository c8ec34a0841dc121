"""Pruning: what was learned stays bit for bit, the history of old rounds becomes one summary."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pickbest.core import PickbestError
from pickbest.core.tickets import ClosedRoundError
from pickbest.portfolio import AskTell
from pickbest.portfolio.run.advise import advise
from pickbest.portfolio.store.journal import Journal
from pickbest.portfolio.store.ledger import Ledger
from pickbest.portfolio.store.records import DamagedError, Picked, Summary
from tests.portfolio.test_commands import exit_of, pickbest

ARMS = ["a", "b", "c", "d"]


def opened(store: Path | str) -> AskTell:
    url = store if isinstance(store, str) else f"sqlite:///{store}"
    return AskTell(ARMS, 2, storage=url, learner="thompson", seed=3)


def play(path: Path, rounds: int) -> list[tuple[str, ...]]:
    """Rounds, one of them lost; the arms that were picked."""
    picked = []
    with opened(path) as book:
        for number in range(rounds):
            ticket = book.ask(f"p{number}")
            picked.append(ticket.arms)
            if number == 5:
                book.forget(ticket)
            else:
                book.tell(ticket, [0.1 if arm == "c" else 0.7 for arm in ticket.arms])
    return picked


def test_a_pruned_portfolio_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    whole, pruned = tmp_path / "whole.db", tmp_path / "pruned.db"
    assert play(whole, 30) == play(pruned, 30)
    before = pickbest("status", pruned, "--json")
    assert pickbest("prune", pruned, "--keep", "10") == "removed 41 records\n"
    assert pickbest("prune", pruned, "--keep", "10") == "nothing to prune\n"
    assert pickbest("status", pruned, "--json") == before
    assert "agrees" in pickbest("verify", pruned)
    assert len(pickbest("history", pruned, "--last", "100", "--json").splitlines()) == 10
    assert play(whole, 12) == play(pruned, 12)
    assert pickbest("prune", pruned, "--keep", "1").endswith("records\n")
    assert play(whole, 3) == play(pruned, 3)
    assert "agrees" in pickbest("verify", pruned)


def test_an_export_of_what_is_left_can_be_imported(tmp_path: Path) -> None:
    path, file, copy = tmp_path / "runs.db", tmp_path / "e.jsonl", tmp_path / "copy.db"
    play(path, 20)
    pickbest("prune", path, "--keep", "4")
    pickbest("export", path, "--out", file)
    pickbest("import", file, f"sqlite:///{copy}")
    assert "agrees" in pickbest("verify", copy)
    assert play(path, 6) == play(copy, 6)


def test_open_rounds_are_kept_and_those_beside_them_can_be_told(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    play(path, 8)
    with opened(path) as book, opened(path) as other:
        waiting = book.ask("slow", lifetime=600.0)
        for number in range(6):
            ticket = book.ask(f"q{number}")
            book.tell(ticket, [0.5, 0.5])
        assert other.ledger.prune(1) > 0  # all before the open round
        kept = [e.record for e in book.ledger.journal.entries() if isinstance(e.record, Picked)]
        assert kept[0].round == waiting.round
        book.tell(waiting, [0.2, 0.3])
        with pytest.raises(ClosedRoundError):
            book.tell(2, [0.1, 0.1])
        book.ledger.verify()
        # Who has not looked for a while is told all by the summary.
        assert other.ledger.prune(2) > 0
        assert other.ask("next").arms
    assert "agrees" in pickbest("verify", path)


def test_a_round_that_was_open_where_the_summary_ends_counts(any_database: str) -> None:
    with opened(any_database) as book:
        first = book.ask("first")
        others = [book.ask(f"q{number}") for number in range(6)]
        for ticket in (*others, first):
            book.tell(ticket, [0.5, 0.4])
        assert book.ledger.prune(6) > 0
    with opened(any_database) as book:
        assert book.status().finished == 7
        entries = list(book.ledger.journal.entries())
        assert advise(entries, 2).estimates  # it was picked before all that is left
        assert len(book.history()) == 6
        book.ledger.verify()


def test_a_reader_that_fell_behind_follows(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    play(path, 3)
    with opened(path) as behind:
        play(path, 20)
        pickbest("prune", path, "--keep", "2")
        assert behind.status().finished == 22
        behind.ledger.verify()


def test_a_damaged_summary_is_said_to_be_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "runs.db"
    play(path, 12)
    pickbest("prune", path, "--keep", "3")
    journal = Journal(f"sqlite:///{path}")
    first = next(journal.entries())
    assert isinstance(first.record, Summary)
    body = first.record.body
    for wrong in (replace(first.record, digest="0" * 64), replace(first.record, body=body[:-8])):
        ledger_free = Journal(f"sqlite:///{path}")
        with pytest.raises(PickbestError, match="meanwhile"):
            ledger_free.prune(first.position, wrong)  # one record is no journal to prune
        ledger_free.close()
    with journal._engine.begin() as connection:
        from sqlalchemy import text

        change = "UPDATE pickbest_records SET body = replace(body, 'digest\":\"', 'digest\":\"0')"
        connection.execute(text(change))
    with pytest.raises(DamagedError, match="the summary at record"):
        Ledger(journal)
    journal.close()
    assert exit_of(monkeypatch, "verify", path) == 2


@pytest.mark.parametrize("keep", ["0", "-1"])
def test_at_least_one_round_is_kept(
    tmp_path: Path, keep: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "runs.db"
    play(path, 6)
    assert exit_of(monkeypatch, "prune", path, f"--keep={keep}") == 2
    assert pickbest("prune", path, "--keep", "99") == "nothing to prune\n"
