"""What the service shows, kept up to date from the journal without reading it again."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from pickbest.portfolio.ask_tell import AskTell
from pickbest.portfolio.state.views import RoundLog, RoundView


@dataclass(frozen=True)
class Curve:
    """Mean cost up to and including each of some rounds.

    rounds: their numbers. portfolio: what the portfolio paid. arms: each arm's mean over the
    rounds in which its cost was seen; None before the first.
    """

    rounds: list[int] = field(default_factory=list)
    portfolio: list[float | None] = field(default_factory=list)
    arms: dict[str, list[float | None]] = field(default_factory=dict)


class Viewer:
    """Rounds of a portfolio; every method may be called from any thread."""

    def __init__(self, book: AskTell) -> None:
        self._book = book
        self._log = RoundLog()
        self._lock = threading.Lock()

    def rounds(self, last: int, before: int | None = None) -> list[RoundView]:
        """The last rounds, or the last ones before a round; oldest first."""
        views = self._views()
        end = len(views) if before is None else max(0, min(before, len(views)))
        return views[max(0, end - last) : end]

    def curve(self, points: int) -> Curve:
        """Mean costs over time, at about so many rounds."""
        views = [view for view in self._views() if view.state == "finished"]
        step = max(1, -(-len(views) // points))
        curve = Curve(arms={run.arm: [] for view in views for run in view.runs})
        paid: list[float] = []
        sums = {arm: [0.0, 0] for arm in curve.arms}
        for number, view in enumerate(views):
            if view.cost is not None:
                paid.append(view.cost)
            for run in view.runs:
                if run.cost is not None:
                    sums[run.arm][0] += run.cost
                    sums[run.arm][1] += 1
            if (number + 1) % step == 0 or number + 1 == len(views):
                curve.rounds.append(view.round)
                curve.portfolio.append(sum(paid) / len(paid) if paid else None)
                for arm, (total, count) in sums.items():
                    curve.arms[arm].append(total / count if count else None)
        return curve

    def _views(self) -> list[RoundView]:
        with self._lock:
            for entry in self._book.ledger.entries(self._log.position):
                self._log.apply(entry)
            return list(self._log.views)
