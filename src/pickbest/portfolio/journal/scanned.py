"""Any journal as one that finds rounds: it is read from its beginning where it has no index."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager

from pickbest.portfolio.journal.protocol import (
    Entry,
    IndexedJournal,
    Journal,
    Snapshot,
    Turn,
    entries_after,
)
from pickbest.portfolio.journal.records import Finished, Late, Lost, Picked


class ScannedJournal:
    """Looks rounds up by reading everything; for journals of one process."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def read_from(self, position: int, limit: int | None = None) -> list[Entry]:
        return self._journal.read_from(position, limit)

    def turn(self, after: int) -> AbstractContextManager[Turn]:
        return self._journal.turn(after)

    def close(self) -> None:
        self._journal.close()

    def asked(self) -> int:
        return sum(isinstance(e.record, Picked) for e in entries_after(self._journal, 0))

    def of_rounds(self, first: int, end: int) -> list[Entry]:
        return [
            entry
            for entry in entries_after(self._journal, 0)
            if isinstance(entry.record, Picked | Finished | Lost | Late)
            and first <= entry.record.round < end
        ]

    def snapshot(self) -> Snapshot | None:
        return None

    def keep(self, snapshot: Snapshot) -> None:
        pass

    def ages(self, rounds: Iterable[int]) -> Mapping[int, float]:
        wanted, now = set(rounds), time.time()
        return {
            entry.record.round: now - entry.record.at
            for entry in entries_after(self._journal, 0)
            if isinstance(entry.record, Picked) and entry.record.round in wanted
        }

    def beat(self, lease: str) -> None:
        pass

    def beats(self) -> Mapping[str, int]:
        return {}

    def end_leases(self, leases: Iterable[str]) -> None:
        pass


def indexed(journal: Journal) -> IndexedJournal:
    """The journal itself where it finds rounds, else one that reads it."""
    return journal if isinstance(journal, IndexedJournal) else ScannedJournal(journal)
