"""The fold: everything that a portfolio knows, from the records of its journal and no more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pickbest.core import PickbestError
from pickbest.portfolio.journal.protocol import Entry
from pickbest.portfolio.journal.records import (
    Finished,
    Lost,
    Opened,
    Picked,
    Record,
    Roster,
)
from pickbest.portfolio.runs import RunStatus
from pickbest.portfolio.state.live_learner import LiveLearner


@dataclass
class Tally:
    """What happened to one arm so far."""

    picked: int = 0
    told: int = 0
    won: int = 0
    failed: int = 0
    total_cost: float = 0.0
    known_costs: int = 0
    seconds: float = 0.0


class PortfolioState:
    """State as a fold. Apply the same entries, get the same bits.

    open: the rounds that run. lost: those closed without a result, and why.
    learned: how many rounds taught the learner something. paid: costs of finished rounds, summed.
    """

    def __init__(self) -> None:
        self.position = 0
        self.settings: Opened | None = None
        self.roster: Roster | None = None
        self.next_round = 0
        self.finished = 0
        self.learned = 0
        self.open: dict[int, Picked] = {}
        self.lost: dict[int, str] = {}
        self.tallies: dict[str, Tally] = {}
        self.paid = 0.0
        self._live: LiveLearner | None = None

    def apply(self, entry: Entry) -> None:
        """Fold one entry in; entries come in order, and each once."""
        if entry.position != self.position + 1:
            raise PickbestError(
                f"the journal has a gap: record {entry.position} follows record {self.position}"
            )
        _APPLY[type(entry.record)](self, entry.record)
        self.position = entry.position

    @property
    def live(self) -> LiveLearner:
        """The learner for the arms that are active now."""
        if self._live is None:
            raise PickbestError("the portfolio has no arms yet: open it with some")
        return self._live

    def _opened(self, record: Opened) -> None:
        if self.settings is not None:
            raise PickbestError("the journal is damaged: it is opened twice")
        self.settings = record

    def _changed(self, record: Roster) -> None:
        if self.settings is None:
            raise PickbestError("the journal does not begin with its settings")
        if self._live is None:
            self._live = LiveLearner(self.settings, record)
        else:
            self._live.follow(record)
        self.roster = record
        for arm in record.arms:
            self.tallies.setdefault(arm, Tally())

    def _picked(self, record: Picked) -> None:
        if record.round != self.next_round:
            raise PickbestError(
                f"the journal is damaged: round {record.round} was opened instead of "
                f"{self.next_round}"
            )
        self.next_round += 1
        self.open[record.round] = record
        for arm in record.arms:
            self.tallies.setdefault(arm, Tally()).picked += 1

    def _finished(self, record: Finished) -> None:
        picked = self._closed(record.round)
        self.finished += 1
        if record.cost is not None:
            self.paid += record.cost
        for run in record.runs:
            tally = self.tallies.setdefault(run.arm, Tally())
            tally.told += 1
            tally.won += run.arm == record.winner
            tally.failed += run.status in (RunStatus.CRASHED, RunStatus.BROKEN)
            tally.seconds += run.seconds
            if run.cost is not None:
                tally.total_cost += run.cost
                tally.known_costs += 1
        self.learned += self.live.learn(picked, record)

    def _lost(self, record: Lost) -> None:
        self._closed(record.round)
        self.lost[record.round] = record.reason

    def _closed(self, number: int) -> Picked:
        if number not in self.open:
            raise PickbestError(f"the journal is damaged: round {number} is closed, but not open")
        return self.open.pop(number)


_APPLY: dict[type[Record], Callable[[PortfolioState, Any], None]] = {
    Opened: PortfolioState._opened,
    Roster: PortfolioState._changed,
    Picked: PortfolioState._picked,
    Finished: PortfolioState._finished,
    Lost: PortfolioState._lost,
}
