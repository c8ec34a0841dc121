"""Who wants to see a portfolio at work: the live table, a progress bar, or nobody."""

from __future__ import annotations

from typing import Protocol

from pickbest.portfolio.journal.ledger import Ticket
from pickbest.portfolio.runs import Result, Run


class Watcher(Protocol):
    """Is told what happens, from the thread in which it happens."""

    def started(self, ticket: Ticket) -> None: ...

    def ended(self, ticket: Ticket, run: Run) -> None: ...

    def finished(self, ticket: Ticket, result: Result) -> None: ...

    def lost(self, ticket: Ticket) -> None: ...


class Silent:
    """Looks away."""

    def started(self, ticket: Ticket) -> None:
        pass

    def ended(self, ticket: Ticket, run: Run) -> None:
        pass

    def finished(self, ticket: Ticket, result: Result) -> None:
        pass

    def lost(self, ticket: Ticket) -> None:
        pass
