"""The live portfolio: a stream of problems, N solvers, B cores; see docs/portfolio.md."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pickbest.core.tickets import (
        ClosedRoundError,
        RepeatedTellError,
        Ticket,
        UnknownRoundError,
    )
    from pickbest.portfolio.arms import Arm, Command, Function, Limits
    from pickbest.portfolio.ask_tell import AskTell
    from pickbest.portfolio.costs import Cost, Quality, Runtime, Solved, Verdict
    from pickbest.portfolio.journal.protocol import StorageError
    from pickbest.portfolio.portfolio import Portfolio
    from pickbest.portfolio.portfolio_file import PortfolioFile, read_portfolio_file
    from pickbest.portfolio.progress import Progress
    from pickbest.portfolio.race import GivenUpError
    from pickbest.portfolio.runs import Result, Run, RunStatus
    from pickbest.portfolio.settings import RaceSettings, Settings
    from pickbest.portfolio.state.portfolio_state import PortfolioState
    from pickbest.portfolio.state.verify import ReplayError
    from pickbest.portfolio.state.views import ArmView, RoundView, Status

# Loaded on first use: the keeper process and `import pickbest` stay light.
_HOMES = {
    "Arm": "portfolio.arms",
    "ArmView": "portfolio.state.views",
    "AskTell": "portfolio.ask_tell",
    "ClosedRoundError": "core.tickets",
    "Command": "portfolio.arms",
    "Cost": "portfolio.costs",
    "Function": "portfolio.arms",
    "GivenUpError": "portfolio.race",
    "Limits": "portfolio.arms",
    "Portfolio": "portfolio.portfolio",
    "PortfolioFile": "portfolio.portfolio_file",
    "PortfolioState": "portfolio.state.portfolio_state",
    "Progress": "portfolio.progress",
    "Quality": "portfolio.costs",
    "RaceSettings": "portfolio.settings",
    "RepeatedTellError": "core.tickets",
    "ReplayError": "portfolio.state.verify",
    "Result": "portfolio.runs",
    "RoundView": "portfolio.state.views",
    "Run": "portfolio.runs",
    "RunStatus": "portfolio.runs",
    "Runtime": "portfolio.costs",
    "Settings": "portfolio.settings",
    "Solved": "portfolio.costs",
    "Status": "portfolio.state.views",
    "StorageError": "portfolio.journal.protocol",
    "Ticket": "core.tickets",
    "UnknownRoundError": "core.tickets",
    "Verdict": "portfolio.costs",
    "read_portfolio_file": "portfolio.portfolio_file",
}

__all__ = [
    "Arm",
    "ArmView",
    "AskTell",
    "ClosedRoundError",
    "Command",
    "Cost",
    "Function",
    "GivenUpError",
    "Limits",
    "Portfolio",
    "PortfolioFile",
    "PortfolioState",
    "Progress",
    "Quality",
    "RaceSettings",
    "RepeatedTellError",
    "ReplayError",
    "Result",
    "RoundView",
    "Run",
    "RunStatus",
    "Runtime",
    "Settings",
    "Solved",
    "Status",
    "StorageError",
    "Ticket",
    "UnknownRoundError",
    "Verdict",
    "read_portfolio_file",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'pickbest.portfolio' has no attribute {name!r}")
    return getattr(import_module(f"pickbest.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
