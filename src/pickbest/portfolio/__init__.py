"""The live portfolio: a stream of problems, N solvers, B cores; see docs/portfolio.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pickbest._exports import lazy_exports

if TYPE_CHECKING:
    from pickbest.core.tickets import (
        ClosedRoundError as ClosedRoundError,
        RepeatedTellError as RepeatedTellError,
        Ticket as Ticket,
        UnknownRoundError as UnknownRoundError,
    )
    from pickbest.portfolio.answers.reading import (
        AnswerFormat as AnswerFormat,
        RejectedError as RejectedError,
    )
    from pickbest.portfolio.arms import Arm as Arm, Command as Command, Function as Function
    from pickbest.portfolio.ask_tell import AskTell as AskTell
    from pickbest.portfolio.costs import (
        Cost as Cost,
        Quality as Quality,
        Runtime as Runtime,
        Solved as Solved,
        Verdict as Verdict,
    )
    from pickbest.portfolio.journal.folded import ReplayError as ReplayError
    from pickbest.portfolio.journal.protocol import StorageError as StorageError
    from pickbest.portfolio.portfolio import Portfolio as Portfolio
    from pickbest.portfolio.portfolio_file import (
        PortfolioFile as PortfolioFile,
        read_portfolio_file as read_portfolio_file,
    )
    from pickbest.portfolio.processes.limits import Ceiling as Ceiling
    from pickbest.portfolio.race import GivenUpError as GivenUpError, Progress as Progress
    from pickbest.portfolio.runs import (
        Limits as Limits,
        Result as Result,
        Run as Run,
        RunStatus as RunStatus,
    )
    from pickbest.portfolio.settings import RaceSettings as RaceSettings, Settings as Settings
    from pickbest.portfolio.state.portfolio_state import PortfolioState as PortfolioState
    from pickbest.portfolio.state.verdicts import Contradiction as Contradiction
    from pickbest.portfolio.state.views import (
        ArmView as ArmView,
        RoundView as RoundView,
        Status as Status,
    )

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "core.tickets": "ClosedRoundError RepeatedTellError Ticket UnknownRoundError",
        "portfolio.answers.reading": "AnswerFormat RejectedError",
        "portfolio.arms": "Arm Command Function",
        "portfolio.ask_tell": "AskTell",
        "portfolio.costs": "Cost Quality Runtime Solved Verdict",
        "portfolio.journal.folded": "ReplayError",
        "portfolio.journal.protocol": "StorageError",
        "portfolio.portfolio": "Portfolio",
        "portfolio.portfolio_file": "PortfolioFile read_portfolio_file",
        "portfolio.processes.limits": "Ceiling",
        "portfolio.race": "GivenUpError Progress",
        "portfolio.runs": "Limits Result Run RunStatus",
        "portfolio.settings": "RaceSettings Settings",
        "portfolio.state.portfolio_state": "PortfolioState",
        "portfolio.state.verdicts": "Contradiction",
        "portfolio.state.views": "ArmView RoundView Status",
    },
)
