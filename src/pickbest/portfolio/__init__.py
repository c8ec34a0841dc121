"""The live portfolio: a stream of problems, N solvers, B cores; see docs/portfolio.md."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pickbest.portfolio.arms import Command, Function, Limits
    from pickbest.portfolio.ask_tell import AskTell
    from pickbest.portfolio.costs import Quality, Runtime, Solved
    from pickbest.portfolio.journal.ledger import RepeatedTellError, Ticket
    from pickbest.portfolio.portfolio import Portfolio
    from pickbest.portfolio.race import GivenUpError
    from pickbest.portfolio.runs import RawRun, Result, Run

# Loaded on first use: the keeper process and `import pickbest` stay light.
_HOMES = {
    "AskTell": "ask_tell",
    "Command": "arms",
    "Function": "arms",
    "GivenUpError": "race",
    "Limits": "arms",
    "Portfolio": "portfolio",
    "Quality": "costs",
    "RawRun": "runs",
    "RepeatedTellError": "journal.ledger",
    "Result": "runs",
    "Run": "runs",
    "Runtime": "costs",
    "Solved": "costs",
    "Ticket": "journal.ledger",
}

__all__ = [
    "AskTell",
    "Command",
    "Function",
    "GivenUpError",
    "Limits",
    "Portfolio",
    "Quality",
    "RawRun",
    "RepeatedTellError",
    "Result",
    "Run",
    "Runtime",
    "Solved",
    "Ticket",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pickbest.portfolio' has no attribute {name!r}")
    return getattr(import_module(f"pickbest.portfolio.{_HOMES[name]}"), name)
