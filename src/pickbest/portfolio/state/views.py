"""A portfolio as people want to see it: its arms, and its rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pickbest.portfolio.journal.protocol import Entry
from pickbest.portfolio.journal.records import (
    Finished,
    Lost,
    Picked,
)
from pickbest.portfolio.processes.limits import in_force
from pickbest.portfolio.runs import Run
from pickbest.portfolio.state.portfolio_state import PortfolioState, Tally


@dataclass(frozen=True)
class ArmView:
    """One arm so far.

    mean_cost: over the rounds in which its cost is known; None before the first.
    share: how likely it is picked next; 0 for a paused or removed arm.
    """

    name: str
    state: str
    picked: int
    won: int
    failed: int
    mean_cost: float | None
    seconds: float
    share: float


@dataclass(frozen=True)
class Status:
    """A portfolio now. Rounds asked = finished + lost + open.

    limits: how limits of arms are kept to on this machine: "cgroup v2" or "polling".
    """

    learner: str
    seed: int
    budget: int
    asked: int
    finished: int
    lost: int
    open: int
    learned: int
    mean_cost: float | None
    arms: tuple[ArmView, ...]
    limits: str = ""


@dataclass(frozen=True)
class RoundView:
    """One round. state: open, finished or lost; reason: why it was lost."""

    round: int
    problem: str
    arms: tuple[str, ...]
    state: str
    at: float
    winner: str | None = None
    cost: float | None = None
    runs: tuple[Run, ...] = ()
    reason: str = ""
    learned: bool = False
    answer: Any = None


def overview(known: PortfolioState) -> Status:
    """The status from the fold."""
    shares = known.live.shares() if known.roster is not None else {}
    roster, settings = known.roster, known.settings
    return Status(
        learner=settings.learner if settings else "",
        seed=settings.seed if settings else 0,
        budget=roster.budget if roster else 0,
        asked=known.next_round,
        finished=known.finished,
        lost=len(known.lost),
        open=len(known.open),
        learned=known.learned,
        mean_cost=known.paid / known.finished if known.finished else None,
        arms=tuple(
            _arm_view(name, tally, known, shares.get(name, 0.0))
            for name, tally in known.tallies.items()
        ),
        limits=in_force(),
    )


def _arm_view(name: str, tally: Tally, known: PortfolioState, share: float) -> ArmView:
    roster = known.roster
    state = "removed"
    if roster is not None and name in roster.arms:
        state = "paused" if name in roster.paused else "active"
    mean = tally.total_cost / tally.known_costs if tally.known_costs else None
    return ArmView(name, state, tally.picked, tally.won, tally.failed, mean, tally.seconds, share)


class RoundLog:
    """Rounds as views, kept up to date entry by entry."""

    def __init__(self) -> None:
        self.position = 0
        self.views: list[RoundView] = []

    def apply(self, entry: Entry) -> None:
        """Take one more entry in; rounds are numbered from 0 without gaps."""
        record = entry.record
        self.position = entry.position
        if isinstance(record, Picked):
            self.views.append(
                RoundView(record.round, record.problem, record.arms, "open", record.at)
            )
        elif isinstance(record, Finished):
            self.views[record.round] = replace(
                self.views[record.round],
                state="finished",
                winner=record.winner,
                cost=record.cost,
                runs=record.runs,
                learned=record.learned is not None,
                answer=record.answer,
            )
        elif isinstance(record, Lost):
            self.views[record.round] = replace(
                self.views[record.round], state="lost", reason=record.reason
            )


def rounds_of(entries: Sequence[Entry], last: int | None = None) -> list[RoundView]:
    """Every round of a journal, or the last few, oldest first."""
    log = RoundLog()
    for entry in entries:
        log.apply(entry)
    return log.views if last is None else log.views[max(0, len(log.views) - last) :]
