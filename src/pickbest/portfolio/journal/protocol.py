"""The journal: an ordered, append-only list of records that many processes share."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from pickbest.core import PickbestError
from pickbest.portfolio.journal.records import Record


class StorageError(PickbestError):
    """The database did not do what was asked; whether a commit counted is not known."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A record at its place. Positions count from 1 without gaps."""

    position: int
    record: Record


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

    def read_from(self, position: int) -> list[Entry]:
        """Entries after `position`, in order."""
        ...

    def turn(self, after: int) -> AbstractContextManager[Turn]:
        """Write alone. What was appended is on disk when the block ends, whole or not at all."""
        ...

    def close(self) -> None: ...
