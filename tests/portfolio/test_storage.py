"""The database under a journal: how it is set up, refused, and away for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from pickbest.core import PickbestError
from pickbest.portfolio import AskTell, RepeatedTellError
from pickbest.portfolio.store.journal import Journal, Turn
from pickbest.portfolio.store.records import StorageError
from tests.portfolio.test_ledger import ARMS


def test_a_portfolio_does_not_cross_a_fork(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    book = AskTell(ARMS, 2, database)
    monkeypatch.setattr("pickbest.portfolio.store.ledger.os.getpid", lambda: 1)
    with pytest.raises(PickbestError, match="across a fork"):
        book.ask()
    monkeypatch.undo()
    book.close()


def test_sqlite_is_set_up_to_survive_a_power_loss(database: str) -> None:
    journal = Journal(database)
    with journal._engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL
    journal.close()


def test_bad_storage_is_one_sentence(tmp_path: Path) -> None:
    garbage = tmp_path / "garbage.db"
    garbage.write_text("this is not a database, whatever it says" * 50)
    for storage, message in (
        (str(garbage), "file is not a database"),
        (str(tmp_path / "no" / "such.db"), "unable to open"),
        ("mysql://host/db", "must be sqlite:///FILE or postgresql://"),
        ("sqlite//:wrong://", "not a database URL"),
    ):
        with pytest.raises(PickbestError, match=message):
            AskTell(ARMS, 2, storage)
    AskTell(ARMS, 2, tmp_path / "a.db").close()
    with pytest.raises(PickbestError, match="holds no portfolio named 'x' \\(known: default\\)"):
        Journal(str(tmp_path / "a.db"), "x", create=False)


def fail_at_commit(book: AskTell, monkeypatch: pytest.MonkeyPatch, counted: bool) -> None:
    """Two turns end in an error; the second one may have counted all the same."""
    journal, failures = book.ledger.journal, [1, 1]
    turn = journal.turn

    @contextmanager
    def failing(after: int) -> Iterator[Turn]:
        if not failures:
            with turn(after) as taken:
                yield taken
            return
        failures.pop()
        with suppress(ZeroDivisionError), turn(after) as taken:
            yield taken
            if failures or not counted:
                raise ZeroDivisionError  # rolled back
        raise StorageError("the server went away")

    monkeypatch.setattr(journal, "turn", failing)


@pytest.mark.parametrize("counted", [False, True])
def test_asking_and_telling_outlive_a_database_that_fails_for_a_while(
    database: str, monkeypatch: pytest.MonkeyPatch, counted: bool
) -> None:
    """Group 10: also when the commit that seemed to fail had counted."""
    with AskTell(ARMS, 2, database, learner="thompson") as book:
        with monkeypatch.context() as failing:
            fail_at_commit(book, failing, counted)
            tickets = book.ask_many(["p", "q"])
        assert [ticket.round for ticket in tickets] == [0, 1]
        assert book.open_tickets == tuple(tickets)
        with monkeypatch.context() as failing:
            fail_at_commit(book, failing, counted)
            book.tell_many([(ticket, [0.5, 0.5]) for ticket in tickets])
        status = book.status()
        assert (status.asked, status.finished, status.open) == (2, 2, 0)
        with pytest.raises(RepeatedTellError):
            book.tell(tickets[0], [0.1, 0.1])
        book.verify()
