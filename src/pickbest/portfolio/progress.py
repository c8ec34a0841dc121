"""Who wants to see a portfolio at work: the live table, a progress bar, or nobody."""

from __future__ import annotations

from typing import Protocol

from pickbest.core.tickets import Ticket
from pickbest.portfolio.runs import Result, Run


class Progress(Protocol):
    """Is told what happens, from the thread in which it happens."""

    def started(self, ticket: Ticket[str]) -> None: ...

    def ended(self, ticket: Ticket[str], run: Run) -> None: ...

    def finished(self, ticket: Ticket[str], result: Result) -> None: ...

    def lost(self, ticket: Ticket[str]) -> None: ...


class Unseen:
    """Nobody looks."""

    def started(self, ticket: Ticket[str]) -> None:
        pass

    def ended(self, ticket: Ticket[str], run: Run) -> None:
        pass

    def finished(self, ticket: Ticket[str], result: Result) -> None:
        pass

    def lost(self, ticket: Ticket[str]) -> None:
        pass
