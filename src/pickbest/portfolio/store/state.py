"""The fold: everything that a portfolio knows, from the records of its journal and no more.

Its size depends on the arms and on the rounds that are open, not on how many rounds there were.
A record that cannot have been written by us is refused before anything of it is taken in.

A snapshot is the fold as bytes, so that a long journal is quick to open. The journal is the truth:
a snapshot can be lost, and one of another release is not used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pickbest._version import __version__
from pickbest.core import PickbestError
from pickbest.core.codec import EXCLUDED, decode, encode, plain
from pickbest.core.savefile import from_npz, to_npz
from pickbest.portfolio.runs import RunStatus
from pickbest.portfolio.store.live_learner import LiveLearner
from pickbest.portfolio.store.records import (
    DamagedError,
    Entry,
    Finished,
    Lost,
    Opened,
    Picked,
    Record,
    Roster,
    check_finished,
    check_opened,
    check_picked,
    check_roster,
)

# Sums up to a moment: problems that were finished by then, when, their costs, prices of calls.
Point = tuple[float, ...]
# When a course has so many points, every other one is dropped.
MOST_POINTS = 256


@dataclass
class Course:
    """What was paid over time, in bounded memory: a point every `step` problems."""

    step: int = 1
    points: list[Point] = field(default_factory=list)

    def note(self, point: Point) -> None:
        """Take in that a round was finished."""
        problems = point[0]
        if problems % self.step:
            return
        if self.points and self.points[-1][0] == problems:
            self.points.pop()  # Another call on the same problem.
        self.points.append(point)
        if len(self.points) == MOST_POINTS:
            self.step *= 2
            self.points = self.points[1::2]


@dataclass(frozen=True)
class Called:
    """What was called on a problem, and what it cost."""

    arms: tuple[str, ...] = ()
    costs: tuple[float, ...] = ()


@dataclass
class Tally:
    """What happened to one arm so far."""

    picked: int = 0
    won: int = 0
    failed: int = 0
    wrong: int = 0
    total_cost: float = 0.0
    known_costs: int = 0
    seconds: float = 0.0
    spent: float = 0.0


@dataclass
class PortfolioState:
    """State as a fold. Apply the same entries, get the same bits.

    open: the rounds that run. lost: how many were closed without a result. learned: how many
    rounds taught the learner something. further: how many of those finished went on with an
    earlier round. paid: costs of finished problems, summed; spent: prices of calls. course: the
    same over time, in the order of finishing. tail: the last rounds that another may go on with,
    and what was called in them.

    trusted: settings that the caller gave in code; where the journal has the same, they may name
        a learner of a module. Nothing that only a journal names is imported.
    """

    trusted: Opened | None = field(default=None, metadata=EXCLUDED)
    position: int = 0
    settings: Opened | None = None
    roster: Roster | None = None
    next_round: int = 0
    finished: int = 0
    learned: int = 0
    lost: int = 0
    further: int = 0
    paid: float = 0.0
    spent: float = 0.0
    open: dict[int, Picked] = field(default_factory=dict)
    tallies: dict[str, Tally] = field(default_factory=dict)
    tail: dict[int, Called] = field(default_factory=dict)
    course: Course = field(default_factory=Course)
    _live: LiveLearner | None = field(default=None, metadata=EXCLUDED)

    def to_bytes(self) -> bytes:
        """Everything that the fold knows, as npz (arrays and a JSON header, never pickle).

        Equal folds give equal bytes, so a replay of the journal can be held against it.
        """
        learned, arrays = ({}, {}) if self._live is None else self._live.stored()
        header = {"made_by": __version__, "known": plain(self), "learned": learned}
        return to_npz(header, arrays)

    @staticmethod
    def from_bytes(body: bytes, trusted: Opened | None) -> PortfolioState:
        """The fold that was taken; an empty one where another release has taken it.

        Raises DamagedError where it cannot be used.
        """
        try:
            header, arrays = from_npz(body)
            if header["made_by"] != __version__:
                return PortfolioState(trusted)
            state = decode(PortfolioState, encode(header["known"]))
            state.trusted = trusted
            if state.settings is not None:
                check_opened(state.settings, trusted)
            if state.settings is not None and state.roster is not None:
                state._live = LiveLearner(state.settings, check_roster(state.roster))
                state._live.restore(header["learned"], arrays)
        except (PickbestError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise DamagedError(f"the snapshot cannot be used ({error})") from error
        return state

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
        """The learner for the arms that there are now."""
        if self._live is None:
            raise PickbestError("the portfolio has no arms yet: open it with some")
        return self._live

    def _opened(self, record: Opened) -> None:
        if self.settings is not None:
            raise PickbestError("the journal is opened twice")
        check_opened(record, self.trusted)
        self.settings = record

    def _changed(self, record: Roster) -> None:
        if self.settings is None:
            raise PickbestError("the journal does not begin with its settings")
        check_roster(record)
        if self._live is None:
            self._live = LiveLearner(self.settings, record)
        else:
            self._live.follow(record)
        self.roster = record
        for arm in record.arms:
            self.tallies.setdefault(arm, Tally())

    def _picked(self, record: Picked) -> None:
        if record.round != self.next_round:
            raise PickbestError(f"round {record.round} was opened instead of {self.next_round}")
        check_picked(record, self.live.arms, self.live.learner.budget, self.live.fewer)
        called = Called(record.called, record.costs)
        if record.after >= 0 and self.tail.pop(record.after, None) != called:
            raise PickbestError(f"round {record.round} cannot go on with round {record.after}")
        if record.features is not None:
            self.live.expect(record.features)
        self.next_round += 1
        self.open[record.round] = record
        for arm in record.arms:
            self.tallies[arm].picked += 1

    def _finished(self, record: Finished) -> None:
        picked = self._running(record.round)
        check_finished(record, picked)
        del self.open[record.round]
        self.finished += 1
        # A round that goes on with another replaces its cost, if it is lower.
        self.further += picked.after >= 0
        before = min(picked.costs, default=None)
        if record.cost is not None:
            self.paid += record.cost if before is None else min(record.cost - before, 0.0)
        for run in record.runs:
            tally = self.tallies[run.arm]
            tally.won += run.arm == record.winner
            tally.failed += run.status in (RunStatus.CRASHED, RunStatus.BROKEN)
            tally.wrong += run.status is RunStatus.WRONG
            tally.seconds += run.seconds
            tally.spent += run.price or 0.0
            self.spent += run.price or 0.0
            if run.cost is not None:
                tally.total_cost += run.cost
                tally.known_costs += 1
        self.learned += self.live.learn(picked, record)
        if self.live.goes_on:
            known = [run for run in record.runs if run.cost is not None]
            arms = tuple(run.arm for run in known)
            costs = tuple(run.cost for run in known if run.cost is not None)
            self.tail[record.round] = Called(picked.called + arms, picked.costs + costs)
            if len(self.tail) > MOST_POINTS:
                del self.tail[next(iter(self.tail))]
        problems = self.finished - self.further
        self.course.note((problems, record.at, self.paid, self.spent))

    def _lost(self, record: Lost) -> None:
        self._running(record.round)
        del self.open[record.round]
        self.lost += 1

    def _running(self, number: int) -> Picked:
        if number not in self.open:
            raise PickbestError(f"round {number} is closed, but not open")
        return self.open[number]


_APPLY: dict[type[Record], Callable[[PortfolioState, Any], None]] = {
    Opened: PortfolioState._opened,
    Roster: PortfolioState._changed,
    Picked: PortfolioState._picked,
    Finished: PortfolioState._finished,
    Lost: PortfolioState._lost,
}


def check_opening(settings: Opened, arms: Sequence[str], budget: int) -> Roster:
    """The roster of a portfolio that could be opened so; raises if it could not."""
    roster = check_roster(Roster(tuple(arms), budget))
    trial = PortfolioState(trusted=settings)
    trial.apply(Entry(1, settings))
    trial.apply(Entry(2, roster))
    return roster
