"""Results from the stock to the journal, and new tickets to the stock; run in the background.

python -m pickbest.portfolio.solve.learning FOLDER
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pickbest.core.errors import PickbestError
from pickbest.core.tickets import ClosedRoundError
from pickbest.portfolio.solve.stock import TICKETS, TOLD, Stock, alone
from pickbest.portfolio.store.records import Finished, decode_record

if TYPE_CHECKING:
    from pickbest.portfolio.run.ask_tell import AskTell

# Tickets that are kept ready: as many calls as are made while a background process starts.
READY = 16
# Seconds for which a ticket in the stock is good.
LIFETIME = 30 * 86_400.0
JOURNAL = "solve.db"


def book_for(folder: Path, key: str, arms: list[str], budget: int) -> AskTell:
    """The learner of a key, with these arms."""
    from pickbest.portfolio.run.ask_tell import AskTell  # takes half a second of processor time

    # No round is watched to its end: whoever calls waits for the first answer, not the second.
    return AskTell(arms, budget, folder / JOURNAL, name=key, stop="first", watch=0.0)


def learn(folder: Path) -> int:
    """Take in all results there are and fill the stocks up; how many results there were."""
    known = sorted(path.parent.name for path in folder.glob("portfolios/*/arms.json"))
    return sum(_learn(folder, key) for key in known)


def _learn(folder: Path, key: str) -> int:
    stock = Stock(folder, key)
    roster = stock.read("arms.json")
    told, ready = stock.names(TOLD), stock.names(TICKETS)
    if not told and len(ready) >= READY:
        return 0
    with book_for(folder, key, roster["arms"], roster["budget"]) as book:
        for name in told:
            _take_in(stock, book, name)
        missing = READY - len(ready)
        tickets = book.ask_many([""] * missing, LIFETIME) if missing > 0 else []
    for ticket in tickets:
        content = {name: getattr(ticket, name) for name in ("round", "arms", "watched")}
        stock.write(f"{TICKETS}/{ticket.round}.json", json.dumps(content))
    if tickets:
        stock.write("latest.json", json.dumps(tickets[-1].arms))
    return len(told)


def _take_in(stock: Stock, book: AskTell, name: str) -> None:
    """One result; what the journal refuses is set aside, with the reason, and the rest goes on."""
    path = stock.folder / TOLD / name
    try:
        record = decode_record("finished", path.read_text(encoding="utf-8"))
        if isinstance(record, Finished):
            with contextlib.suppress(ClosedRoundError):  # taken in before, or expired
                book.ledger.finish(record)
        path.unlink()
    except (PickbestError, OSError, ValueError) as error:
        stock.write(f"refused/{name}", json.dumps({"reason": str(error)[:500]}))
        os.replace(path, stock.folder / "refused" / f"{name}.txt")


def main(folder: Path) -> None:
    """Until nothing is left to learn."""
    os.nice(10)
    with alone(folder) as first:
        while first and learn(folder):
            pass


if __name__ == "__main__":
    main(Path(sys.argv[1]))
