"""The journal: an ordered, append-only list of records that many processes share."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pickbest.core import PickbestError
from pickbest.portfolio.store.records import Record

# Entries that are read at a time, so that memory does not grow with a journal.
CHUNK = 2_000


class StorageError(PickbestError):
    """The database did not do what was asked; whether a commit counted is not known."""


class OutageError(StorageError):
    """The database cannot be reached; it may come back."""


class NoPortfolioError(PickbestError):
    """There is no database, or no portfolio of that name in it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A record at its place. Positions count from 1 without gaps."""

    position: int
    record: Record


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The fold of all records up to a position: see `store.snapshots`."""

    position: int
    digest: str
    body: bytes


class Turn(Protocol):
    """The right to write, which one process has at a time.

    news: every entry after the position that was asked for; nothing can come between them
        and what is appended.
    """

    @property
    def news(self) -> Sequence[Entry]: ...

    def append(self, record: Record) -> Entry:
        """Add a record; it counts once the turn has ended without an error."""
        ...


class Journal(Protocol):
    """Two verbs; all processes see the same records in the same order.

    A round is opened once and closed once: a second such record is refused with a PickbestError,
    whatever a client does. `pickbest.testing.journals` checks all of this.
    """

    def read_from(self, position: int, limit: int | None = None) -> list[Entry]:
        """Entries after `position`, in order; at most `limit` of them."""
        ...

    def turn(self, after: int) -> AbstractContextManager[Turn]:
        """Write alone. What was appended is on disk when the block ends, whole or not at all."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class IndexedJournal(Journal, Protocol):
    """A journal that finds rounds without reading all, and keeps what several processes share."""

    def asked(self) -> int:
        """How many rounds were opened so far."""
        ...

    def of_rounds(self, first: int, end: int) -> list[Entry]:
        """The entries of the rounds from `first` up to, not including, `end`, in order."""
        ...

    def snapshot(self) -> Snapshot | None:
        """The newest snapshot."""
        ...

    def keep(self, snapshot: Snapshot) -> None:
        """Keep a snapshot in place of an older one, whole or not at all."""
        ...

    def ages(self, rounds: Iterable[int]) -> Mapping[int, float]:
        """Seconds since these rounds were opened, by the journal's own clock."""
        ...

    def beat(self, lease: str) -> None:
        """Say that the holder of a lease lives."""
        ...

    def beats(self) -> Mapping[str, int]:
        """How often each lease was renewed so far."""
        ...

    def end_leases(self, leases: Iterable[str]) -> None:
        """Forget leases."""
        ...


def entries_after(journal: Journal, position: int, last: int | None = None) -> Iterator[Entry]:
    """Entries after a position, up to and including `last`, without holding them all."""
    while chunk := journal.read_from(position, CHUNK):
        for entry in chunk:
            if last is not None and entry.position > last:
                return
            yield entry
        position = chunk[-1].position
