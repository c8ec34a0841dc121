"""What the journal must do on either database, opened several times as processes would."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import pytest
import sqlalchemy as sa

from pickbest.core import PickbestError
from pickbest.portfolio.processes import Owner
from pickbest.portfolio.runs import Run, RunStatus
from pickbest.portfolio.store.databases import as_url
from pickbest.portfolio.store.journal import Journal
from pickbest.portfolio.store.records import Entry, Finished, Lost, Opened, Picked, Record, Roster

Open = Callable[[], Journal]

# One record of every kind, with numbers and texts that a careless format would change.
RECORDS: tuple[Record, ...] = (
    Opened(2**63 + 1, "fpml-partial", None, {"epsilon": 0.1, "arms": [1, 2], "prior": None}),
    Roster(("a", "ä ∅ \n '\"\\", "c"), 2),
    Picked(0, ("a", "c"), (1 / 3, 2e-17), 1e9 / 7, Owner("here", 7, "x"), "p {0}", False, 0.1),
    Picked(1, ("a", "c"), None, 5e-324),
    Finished(
        0,
        (Run("a", RunStatus.STOPPED, None, 0.25), Run("c", RunStatus.CRASHED, 1.0, 3.5, "why")),
        (1 / 3, 1.0),
        (0.5, 1.0),
        (0.25, 1.0),
        None,
        1.0,
        {"x": [1, None, "y"]},
        12.5,
    ),
    Lost(1, "nobody told", 3.0),
)


@contextmanager
def two(opened: Open) -> Iterator[tuple[Journal, Journal]]:
    with closing(opened()) as first, closing(opened()) as second:
        yield first, second


@pytest.fixture
def opened(any_database: str) -> Open:
    return lambda: Journal(any_database)


def test_order(opened: Open) -> None:
    """Positions count from 1 without gaps, and reading goes on after any position."""
    with two(opened) as (first, second):
        assert first.read_from(0) == []
        written: list[Entry] = []
        for number in range(4):
            with (first, second)[number % 2].turn(0) as turn:
                assert list(turn.news) == written
                written += [turn.append(Picked(2 * number + k, ("a",), None, 0.0)) for k in (0, 1)]
        assert [entry.position for entry in written] == list(range(1, 9))
        for journal in (first, second):
            for position in (0, 3, 8):
                read = journal.read_from(position)
                assert read == written[position:]
                read = journal.read_from(position, 2)
                assert read == written[position:][:2]
        with first.turn(7) as turn:
            assert list(turn.news) == written[7:]


def test_records_come_back(opened: Open) -> None:
    """Every kind of record is read back equal, by another opening, to the last bit."""
    with two(opened) as (first, second):
        with first.turn(0) as turn:
            for record in RECORDS:
                turn.append(record)
        for entry, record in zip(second.read_from(0), RECORDS, strict=True):
            assert entry.record == record


def test_all_or_nothing(opened: Open) -> None:
    """What is appended counts when the turn has ended, all of it, or none after an error."""
    with two(opened) as (first, second):
        with first.turn(0) as turn:
            turn.append(RECORDS[0])
            turn.append(RECORDS[1])
            assert second.read_from(0) == []
        assert len(second.read_from(0)) == 2
        with pytest.raises(ZeroDivisionError), first.turn(2) as turn:  # noqa: PT012
            turn.append(RECORDS[2])
            raise ZeroDivisionError
        assert len(second.read_from(0)) == 2
        with second.turn(2) as turn:
            entry = turn.append(RECORDS[2])
        assert entry.position == 3


def test_turns_are_exclusive(opened: Open) -> None:
    """While one has the turn, nobody else can begin one."""
    with two(opened) as (first, second):
        begun, ended = threading.Event(), threading.Event()
        seen: list[bool] = []

        def wait_for_turn() -> None:
            begun.wait(60.0)
            with second.turn(0) as turn:
                seen.append(ended.is_set())
                seen.append(len(turn.news) == 1)

        waiting = threading.Thread(target=wait_for_turn)
        waiting.start()
        with first.turn(0) as turn:
            turn.append(RECORDS[0])
            begun.set()
            waiting.join(0.3)
            ended.set()
        waiting.join(60.0)
        assert seen == [True, True]


def test_two_writers(opened: Open) -> None:
    """Two who write at once lose and double nothing, and each knows all that came before."""
    turns = 25
    with two(opened) as journals:
        problems: list[str] = []

        def write(number: int) -> None:
            last = 0
            for turn_number in range(turns):
                with journals[number].turn(last) as turn:
                    entry = turn.append(Lost(2 * turn_number + number, str(number)))
                    if [each.position for each in turn.news] != [*range(last + 1, entry.position)]:
                        problems.append(f"writer {number} had the news {turn.news} after {last}")
                last = entry.position

        with ThreadPoolExecutor(2) as threads:
            list(threads.map(write, (0, 1)))
        assert not problems
        entries = journals[0].read_from(0)
        assert entries == journals[1].read_from(0)
        assert [e.position for e in entries] == list(range(1, 2 * turns + 1))
        for number in (0, 1):
            lost = [each.record for each in entries if isinstance(each.record, Lost)]
            rounds = [record.round for record in lost if record.reason == str(number)]
            assert rounds == list(range(number, 2 * turns, 2))


def test_rounds_are_closed_once(opened: Open) -> None:
    """A second record that opens or closes a round is refused, whatever a client does."""
    with two(opened) as (first, second):
        with first.turn(0) as turn:
            for record in RECORDS:
                turn.append(record)
        for record in (RECORDS[2], Lost(0, "again"), RECORDS[4], RECORDS[5]):
            with pytest.raises(PickbestError), second.turn(0) as turn:
                turn.append(record)
        assert len(first.read_from(0)) == len(RECORDS)


def test_a_cut_journal_is_noticed(opened: Open) -> None:
    """A writer that has seen more than there is must stop: the journal was replaced."""
    with two(opened) as (journal, _):
        with journal.turn(0) as turn:
            turn.append(RECORDS[0])
        with pytest.raises(PickbestError), journal.turn(5) as turn:
            turn.append(RECORDS[1])


@pytest.mark.parametrize(
    "body", ["", "{", "null", "[]", "{}", '{"round":0}', '{"round":0,"reason":"x","more":1}']
)
def test_a_damaged_row_is_one_sentence(any_database: str, body: str) -> None:
    def opened() -> Journal:
        return Journal(any_database)

    with two(opened) as (journal, _), journal.turn(0) as turn:
        for record in RECORDS:
            turn.append(record)
    engine = sa.create_engine(as_url(any_database))
    with engine.begin() as connection:
        change = "UPDATE pickbest_records SET body = :body WHERE kind = 'lost'"
        connection.execute(sa.text(change), {"body": body})
    engine.dispose()
    with two(opened) as (journal, _), pytest.raises(PickbestError):
        journal.read_from(0)
