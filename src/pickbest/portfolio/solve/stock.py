"""Tickets asked for ahead, and what became of them: small files in the user's data folder.

    portfolios/KEY/arms.json          who may be picked, and how many
    portfolios/KEY/tickets/12.json    round 12 is to be had; whoever moves the file away has it
    portfolios/KEY/latest.json        who was picked last, for when there is no ticket left
    portfolios/KEY/told/12.json       what became of round 12: a record for the journal

A round whose ticket was taken and never told is lost when the ticket expires, as in any journal.
"""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pickbest.core.codec import encode
from pickbest.core.tickets import Ticket
from pickbest.portfolio.store.records import Finished

# No file here is longer, but what came of a round with a long answer.
LONGEST = 1024**2
TICKETS, TOLD = "tickets", "told"


def data_folder() -> Path:
    """Where what was learned is kept: $XDG_DATA_HOME/pickbest/solve, made if it is not there."""
    home = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    folder = Path(home, "pickbest", "solve")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[bool]:
    """Whether no other process is learning in this folder, for as long as this one does."""
    with open(folder / "learning.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True


class Stock:
    """The files of one portfolio; key: a name that is fit for a folder."""

    def __init__(self, folder: Path, key: str) -> None:
        self.folder = folder / "portfolios" / key

    def take(self, arms: Sequence[str], budget: int) -> Ticket[str] | None:
        """A ticket for some of these arms, if there is one; it is nobody else's then."""
        wanted = {"arms": list(arms), "budget": budget}
        if self.read("arms.json") != wanted:
            self.write("arms.json", json.dumps(wanted))
            for name in self.names(TICKETS):  # asked for when there were other arms
                (self.folder / TICKETS / name).unlink(missing_ok=True)
            return None
        for name in self.names(TICKETS):
            mine = self.folder / TICKETS / f".{os.getpid()}-{name}"
            try:
                os.rename(self.folder / TICKETS / name, mine)
            except OSError:  # another call was quicker
                continue
            content = self.read(f"{TICKETS}/{mine.name}")
            mine.unlink()
            with contextlib.suppress(KeyError, TypeError, ValueError):
                ticket = Ticket(
                    int(content["round"]), tuple(content["arms"]), "", content["watched"] is True
                )
                if set(ticket.arms) <= set(arms) and len(ticket.arms) == budget:
                    return ticket
        return None

    def latest(self, arms: Sequence[str], budget: int) -> tuple[str, ...]:
        """Who was picked last, else the first of the arms."""
        latest = self.read("latest.json")
        fits = isinstance(latest, list) and len(latest) == budget and set(latest) <= set(arms)
        return tuple(latest if fits else arms[:budget])

    def tell(self, record: Finished) -> None:
        """Keep what became of a round until it is learned; on disk when this returns."""
        self.write(f"{TOLD}/{record.round}.json", encode(record), durable=True)

    def names(self, kind: str) -> list[str]:
        """The files of a kind, by their rounds."""
        with contextlib.suppress(OSError):
            found = [name for name in os.listdir(self.folder / kind) if name[:1].isdigit()]
            return sorted(found, key=lambda name: (len(name), name))
        return []

    def read(self, name: str) -> Any:
        """What a file holds; None where there is none, or nothing that we wrote."""
        with contextlib.suppress(OSError, ValueError), open(self.folder / name, "rb") as file:
            return json.loads(file.read(LONGEST))
        return None

    def write(self, name: str, text: str, durable: bool = False) -> None:
        """The whole file or nothing of it."""
        path = self.folder / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        with open(draft, "w", encoding="utf-8") as file:
            file.write(text)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(draft, path)
