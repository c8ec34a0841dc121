"""The journal passes its conformance suite on either database, and bad journals do not."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import sqlalchemy as sa

from pickbest.core import PickbestError
from pickbest.portfolio.store.databases import as_url
from pickbest.portfolio.store.journal import Journal
from pickbest.portfolio.store.records import Entry, Finished, Lost, Picked, Record
from pickbest.testing.journals import check_damage_is_noticed, check_journal


def test_the_journal_of_either_database(any_database: str) -> None:
    names = itertools.count()

    def fresh() -> Callable[[], Journal]:
        name = f"place {next(names)}"
        return lambda: Journal(any_database, name)

    check_journal(fresh)


@pytest.mark.parametrize(
    "body", ["", "{", "null", "[]", "{}", '{"round":0}', '{"round":0,"reason":"x","more":1}']
)
def test_damaged_rows_of_either_database(any_database: str, body: str) -> None:
    def damage() -> None:
        engine = sa.create_engine(as_url(any_database))
        with engine.begin() as connection:
            change = "UPDATE pickbest_records SET body = :body WHERE kind = 'lost'"
            connection.execute(sa.text(change), {"body": body})
        engine.dispose()

    check_damage_is_noticed(lambda: Journal(any_database), damage)


class ListTurn:
    """See Turn."""

    def __init__(self, entries: list[Entry], after: int) -> None:
        if after > len(entries):
            raise PickbestError("cut")
        self.news = entries[after:]
        self.written = list(entries)

    def append(self, record: Record) -> Entry:
        known = [e.record for e in self.written if _key(e.record) == _key(record)]
        if known and _key(record) is not None:
            raise PickbestError("twice")
        self.written.append(Entry(len(self.written) + 1, record))
        return self.written[-1]


class ListJournal:
    """A journal in memory; its place is a list and a lock."""

    def __init__(self, place: tuple[list[Entry], threading.Lock]) -> None:
        self._entries, self._lock = place

    def read_from(self, position: int, limit: int | None = None) -> list[Entry]:
        return self._entries[position:][:limit]

    @contextmanager
    def turn(self, after: int) -> Iterator[ListTurn]:
        with self._lock:
            turn = ListTurn(self._entries, after)
            yield turn
            self._entries[:] = turn.written

    def close(self) -> None:
        pass


def _key(record: Record) -> tuple[bool, int] | None:
    if isinstance(record, Picked | Finished | Lost):
        return isinstance(record, Picked), record.round
    return None


def test_a_journal_of_ones_own() -> None:
    def fresh() -> Callable[[], Journal]:
        place: tuple[list[Entry], threading.Lock] = ([], threading.Lock())
        return lambda: ListJournal(place)

    check_journal(fresh)


class Forgetful(ListJournal):
    """Loses a record now and then."""

    def read_from(self, position: int, limit: int | None = None) -> list[Entry]:
        return [entry for entry in self._entries[position:] if entry.position != 5]


class Leaky(ListJournal):
    """Writes at once, and so also what an error should have undone."""

    @contextmanager
    def turn(self, after: int) -> Iterator[ListTurn]:
        with self._lock:
            turn = ListTurn(self._entries, after)
            turn.written = self._entries
            yield turn


@pytest.mark.parametrize("kind", [Forgetful, Leaky])
def test_the_suite_notices_bad_journals(kind: type[ListJournal]) -> None:
    def fresh() -> Callable[[], Journal]:
        place: tuple[list[Entry], threading.Lock] = ([], threading.Lock())
        return lambda: kind(place)

    with pytest.raises(AssertionError):
        check_journal(fresh)
