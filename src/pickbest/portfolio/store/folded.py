"""A journal and its fold in step: opened from a snapshot, followed record by record."""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TypeVar

from pickbest.core import PickbestError
from pickbest.portfolio.store.portfolio_state import PortfolioState
from pickbest.portfolio.store.protocol import (
    Entry,
    IndexedJournal,
    Journal,
    Snapshot,
    StorageError,
    entries_after,
)
from pickbest.portfolio.store.records import DamagedError, Opened, Picked, Record, RoundRecord
from pickbest.portfolio.store.snapshots import digest_of, restore_snapshot, take_snapshot

# A snapshot is kept every so many records: as many are folded, at most, when a journal is opened.
SNAPSHOT_EVERY = 2_000

T = TypeVar("T")


class FoldedJournal:
    """All that a journal says, and the only way to write to it; for any thread.

    trusted: settings that the caller gave in code; see PortfolioState.
    """

    def __init__(self, journal: Journal, trusted: Opened | None = None) -> None:
        self.journal = journal if isinstance(journal, IndexedJournal) else ScannedJournal(journal)
        self.lock = threading.RLock()
        self._process = os.getpid()
        self.state, self._kept = self._opened(trusted)
        self.refresh()

    def refresh(self) -> None:
        """Fold in what other processes wrote."""
        with self.lock:
            for entry in entries_after(self.journal, self.state.position):
                self._fold(entry)

    def look(self, view: Callable[[PortfolioState], T]) -> T:
        """What a function makes of the newest state, which stands still meanwhile."""
        with self.lock:
            self.refresh()
            return view(self.state)

    @contextmanager
    def turn(self) -> Iterator[Callable[[Record], None]]:
        """What writes a record, alone and knowing everything; it is folded in after the commit."""
        if os.getpid() != self._process:
            raise PickbestError(
                "a portfolio cannot be used across a fork: open it in the new process"
            )
        with self.lock:
            with self.journal.turn(self.state.position) as turn:
                for entry in turn.news:
                    self._fold(entry)
                appended: list[Entry] = []
                yield lambda record: appended.append(turn.append(record))
            for entry in appended:
                self.state.apply(entry)
            if appended and self.state.position - self._kept >= SNAPSHOT_EVERY:
                # The records are what counts: where it cannot be kept now, the next one will be.
                self._kept = self.state.position
                with suppress(StorageError):
                    self.journal.keep(take_snapshot(self.state, appended[-1].record))

    def verify(self) -> PortfolioState:
        """Replay the journal from its beginning, up to where it stands now.

        Raises ReplayError if any pick, the stored snapshot or the state in memory differs. Right
        beside writers: what comes later is not looked at.
        """
        with self.lock:
            self.refresh()
            position, digest = self.state.position, digest_of(self.state)
            trusted = self.state.trusted
            snapshot = self.journal.snapshot()
        known = [(position, digest, "the state in memory")]
        if snapshot is not None and snapshot.position <= position:
            known.insert(0, (snapshot.position, snapshot.digest, "the snapshot"))
            restore_snapshot(snapshot, self._at(snapshot.position), trusted)
        return replayed(entries_after(self.journal, 0, position), known, trusted)

    def restore(self, records: Iterable[Record]) -> None:
        """Fill an empty journal."""
        trial = PortfolioState(self.state.trusted)
        checked = list(records)
        for position, record in enumerate(checked, 1):
            trial.apply(Entry(position, record))
        with self.turn() as write:
            if self.state.position:
                raise PickbestError(
                    f"an import needs an empty portfolio, this one has "
                    f"{self.state.position} records; give another name or storage"
                )
            for record in checked:
                write(record)

    def _opened(self, trusted: Opened | None) -> tuple[PortfolioState, int]:
        """(the state of the newest snapshot that can be used, its position)."""
        with suppress(DamagedError):
            if (snapshot := self.journal.snapshot()) is not None:
                last = self._at(snapshot.position)
                return restore_snapshot(snapshot, last, trusted), snapshot.position
        return PortfolioState(trusted), 0

    def _at(self, position: int) -> Entry | None:
        found = self.journal.read_from(position - 1, 1)
        return found[0] if found and found[0].position == position else None

    def _fold(self, entry: Entry) -> None:
        try:
            self.state.apply(entry)
        except PickbestError as error:
            raise DamagedError(
                f"the journal is damaged: record {entry.position}: {error}"
            ) from error


class ReplayError(PickbestError):
    """A replay of the journal does not agree with it."""


def replayed(
    entries: Iterable[Entry],
    known: Sequence[tuple[int, str, str]] = (),
    trusted: Opened | None = None,
) -> PortfolioState:
    """Fold the journal again, picking every round anew from the records before it.

    known: positions, digests of the fold there, and where they come from ("the snapshot").
    Raises ReplayError where a pick, its weights or a digest differs in any bit.
    """
    again = PortfolioState(trusted)
    for entry in entries:
        record = entry.record
        if isinstance(record, Picked) and not record.given:
            picked = again.live.pick(record.round, record.features)
            stored = (record.arms, record.weights, record.until)
            if picked != stored:
                raise ReplayError(
                    f"round {record.round}: the journal says {stored}, a replay picks {picked}"
                )
        again.apply(entry)
        for position, digest, source in known:
            if position == entry.position and digest != digest_of(again):
                raise ReplayError(
                    f"{source} differs from a replay of the journal up to record {position}"
                )
    return again


class ScannedJournal:
    """Looks rounds up by reading everything; for journals of one process."""

    def __init__(self, journal: Journal) -> None:
        self.read_from, self.turn, self.close = journal.read_from, journal.turn, journal.close

    def asked(self) -> int:
        return sum(isinstance(e.record, Picked) for e in entries_after(self, 0))

    def of_rounds(self, first: int, end: int) -> list[Entry]:
        return [
            entry
            for entry in entries_after(self, 0)
            if isinstance(entry.record, RoundRecord) and first <= entry.record.round < end
        ]

    def snapshot(self) -> Snapshot | None:
        return None

    def keep(self, snapshot: Snapshot) -> None:
        pass

    def ages(self, rounds: Iterable[int]) -> Mapping[int, float]:
        wanted, now = set(rounds), time.time()
        return {
            entry.record.round: now - entry.record.at
            for entry in entries_after(self, 0)
            if isinstance(entry.record, Picked) and entry.record.round in wanted
        }

    def beat(self, lease: str) -> None:
        pass

    def beats(self) -> Mapping[str, int]:
        return {}

    def end_leases(self, leases: Iterable[str]) -> None:
        pass
