"""Rounds of other machines, results that come too late, and a database that is away."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from pickbest.core import PickbestError
from pickbest.core.tickets import ClosedRoundError
from pickbest.portfolio import AskTell, Portfolio, StorageError
from pickbest.portfolio.processes import Owner

ARMS = ("a", "b", "c")


def test_a_round_of_another_machine_is_given_up_when_its_ticket_expires(
    any_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No lookup here can find its process."""
    with AskTell(ARMS, 2, any_database, learner="thompson") as book:
        with monkeypatch.context() as there:
            far = Owner("elsewhere/boot/pid", 1, "1")
            there.setattr("pickbest.portfolio.store.ledger.this_process", lambda: far)
            book.ledger.ask(["long", "long"], lifetime=100.0)
            short = book.ledger.ask(["short"], lifetime=0.2)[0].round
        assert book.ledger.sweep() == []
        time.sleep(0.25)
        with AskTell.reopened(any_database) as elsewhere:
            assert [view.state for view in elsewhere.history()] == ["open", "open", "lost"]
            assert elsewhere.history()[short].reason == "no result came in time"
        book.verify()


def test_a_result_that_comes_too_late_does_not_end_the_run(any_database: str) -> None:
    """Group 4: another machine closed the round as lost while it ran."""
    with Portfolio(
        {"true": ["true"], "sleep": ["sleep", "0.3"]},
        2,
        20.0,
        any_database,
        learner="thompson",
        stop="deadline",
    ) as portfolio:
        closer = AskTell.reopened(any_database)

        def close() -> None:
            while not closer.open_tickets:
                time.sleep(0.01)
            closer.ledger.lose([0], "taken for dead")

        thread = threading.Thread(target=close)
        thread.start()
        results = list(portfolio.map(["p", "q"]))
        thread.join()
        closer.close()
        assert [result.winner for result in results] == ["true", "true"]
        first, second = portfolio.history()
        assert (first.state, first.winner) == ("lost", None)
        assert (first.reason, first.learned) == ("taken for dead", False)
        assert second.state == "finished"
        status = portfolio.status()
        assert (status.finished, status.lost, status.learned) == (1, 1, 1)
        portfolio.verify()


def test_a_ticket_is_refused_as_soon_as_it_has_expired(any_database: str) -> None:
    """Group 9: not only at the next sweep."""
    with AskTell(ARMS, 2, any_database, learner="thompson") as book:
        ticket, other = book.ask("p", lifetime=0.2), book.ask("q", lifetime=0.2)
        good = book.ask("good")
        with AskTell.reopened(any_database) as elsewhere:
            time.sleep(0.25)
            for each, told in ((elsewhere, ticket), (book, other)):
                with pytest.raises(PickbestError, match="no result came in time"):
                    each.tell(told, [0.0, 0.0])
        with pytest.raises(ClosedRoundError, match="closed as lost"):  # all or none
            book.tell_many([(good, [0.5, 0.5]), (ticket, [0.5, 0.5])])
        status = book.status()
        assert (status.lost, status.open, status.finished) == (2, 1, 0)
        book.verify()


def test_a_database_that_cannot_be_reached_is_one_sentence() -> None:
    with pytest.raises(StorageError, match="someone") as caught:
        AskTell(ARMS, 2, "postgresql://someone:secret@127.0.0.1:1/nowhere")
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_frozen_client_does_not_stop_the_others(any_database: str) -> None:
    """Group 10: the server ends a session that stands still with the turn in its hands."""
    if any_database.startswith("sqlite"):
        pytest.skip("SQLite has no server that could")
    AskTell(ARMS, 2, any_database, learner="thompson").close()
    code = (
        "import os, signal, sys; from pickbest.portfolio.store import databases; "
        "databases.IDLE_SECONDS = 1; from pickbest.portfolio.store.journal import Journal; "
        "turn = Journal(sys.argv[1]).turn(0); turn.__enter__(); print('frozen', flush=True); "
        "os.kill(os.getpid(), signal.SIGSTOP)"
    )
    frozen = subprocess.Popen(
        [sys.executable, "-c", code, any_database], stdout=subprocess.PIPE, text=True
    )
    try:
        assert frozen.stdout is not None
        assert frozen.stdout.readline() == "frozen\n"
        with AskTell.reopened(any_database) as book:
            begin = time.monotonic()
            book.tell(book.ask(), [0.5, 0.5])
            assert time.monotonic() - begin < 20.0
    finally:
        frozen.kill()
        frozen.wait()
        frozen.stdout.close()
