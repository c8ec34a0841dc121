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
    from pickbest.portfolio.run.answers.reading import RejectedError as RejectedError
    from pickbest.portfolio.run.arms import (
        Command as Command,
        Function as Function,
        sat_solver as sat_solver,
    )
    from pickbest.portfolio.run.ask_tell import AskTell as AskTell
    from pickbest.portfolio.run.costs import (
        Quality as Quality,
        Runtime as Runtime,
        Solved as Solved,
    )
    from pickbest.portfolio.run.portfolio import Portfolio as Portfolio
    from pickbest.portfolio.run.portfolio_file import (
        PortfolioFile as PortfolioFile,
        read_portfolio_file as read_portfolio_file,
    )
    from pickbest.portfolio.run.race import GivenUpError as GivenUpError
    from pickbest.portfolio.run.settings import RaceSettings as RaceSettings, Settings as Settings
    from pickbest.portfolio.runs import (
        Limits as Limits,
        Result as Result,
        Run as Run,
        RunStatus as RunStatus,
    )
    from pickbest.portfolio.store.records import (
        ReplayError as ReplayError,
        StorageError as StorageError,
    )
    from pickbest.portfolio.store.state import PortfolioState as PortfolioState
    from pickbest.portfolio.store.views import (
        ArmView as ArmView,
        RoundView as RoundView,
        Status as Status,
    )

__getattr__, __dir__, __all__ = lazy_exports(__name__)
