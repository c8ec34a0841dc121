"""The fold: everything that a portfolio knows, from the records of its journal and no more.

Its size depends on the arms and on the rounds that are open, not on how many rounds there were.
A record that cannot have been written by us is refused before anything of it is taken in.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pickbest.core import PickbestError
from pickbest.core.features import encoded, feature_names
from pickbest.portfolio.runs import RunStatus
from pickbest.portfolio.store.live_learner import LiveLearner
from pickbest.portfolio.store.records import (
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
    check_runs,
)

# Arms by name, and what they cost.
Called = tuple[tuple[str, ...], tuple[float, ...]]
# When a course has so many points, every other one is dropped.
MOST_POINTS = 256


class Point(NamedTuple):
    """Sums up to a moment: problems that were finished by then, their costs, prices of calls."""

    problems: int
    at: float
    paid: float
    spent: float


@dataclass
class Course:
    """What was paid over time, in bounded memory: a point every `step` problems."""

    step: int = 1
    points: list[Point] = field(default_factory=list)

    def note(self, point: Point) -> None:
        """Take in that a round was finished."""
        if point.problems % self.step:
            return
        if self.points and self.points[-1].problems == point.problems:
            self.points.pop()  # Another call on the same problem.
        self.points.append(point)
        if len(self.points) == MOST_POINTS:
            self.step *= 2
            self.points = self.points[1::2]


@dataclass
class Tally:
    """What happened to one arm so far."""

    picked: int = 0
    told: int = 0
    won: int = 0
    failed: int = 0
    wrong: int = 0
    total_cost: float = 0.0
    known_costs: int = 0
    seconds: float = 0.0
    spent: float = 0.0


class PortfolioState:
    """State as a fold. Apply the same entries, get the same bits.

    open: the rounds that run. lost: how many were closed without a result; late: how many of
    these got one afterwards. learned: how many rounds taught the learner something. further: how
    many of those finished went on with an earlier round. paid: costs of finished problems, summed;
    spent: prices of calls. course: the same over time, in the order of finishing. tail: the last
    rounds that another may go on with, and what was called in them.

    trusted: settings that the caller gave in code; where the journal has the same, they may name
        a learner of a module. Nothing that only a journal names is imported.
    """

    def __init__(self, trusted: Opened | None = None) -> None:
        self.trusted = trusted
        self.position = 0
        self.settings: Opened | None = None
        self.roster: Roster | None = None
        self.next_round = 0
        self.finished = 0
        self.learned = 0
        self.lost = 0
        self.late = 0
        self.open: dict[int, Picked] = {}
        self.tallies: dict[str, Tally] = {}
        self.further = 0
        self.paid = 0.0
        self.spent = 0.0
        self.tail: dict[int, Called] = {}
        self.course = Course()
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
        """The learner for the arms that there are now."""
        if self._live is None:
            raise PickbestError("the portfolio has no arms yet: open it with some")
        return self._live

    def begin(self, settings: Opened | None, roster: Roster | None) -> None:
        """Start from settings and arms; what was learned is put into `live` afterwards."""
        if settings is not None:
            check_opened(settings, self.trusted)
            self.settings = settings
            if roster is not None:
                self.roster = check_roster(roster)
                self._live = LiveLearner(settings, roster)

    def _opened(self, record: Opened) -> None:
        if self.settings is not None:
            raise PickbestError("the journal is opened twice")
        self.begin(record, None)

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
        if record.after >= 0 and self.tail.pop(record.after, None) != (record.called, record.costs):
            raise PickbestError(f"round {record.round} cannot go on with round {record.after}")
        if record.features is not None:
            self.live.expect(feature_names(record.features))
            encoded(record.features, self.live.features)
        self.next_round += 1
        self.open[record.round] = record
        for arm in record.arms:
            self.tallies[arm].picked += 1

    def _finished(self, record: Finished) -> None:
        if record.late:
            known = 0 <= record.round < self.next_round and record.round not in self.open
            if not known or self.late == self.lost:
                raise PickbestError(f"round {record.round} has a late result, but was not lost")
            check_runs(record.runs, record.winner, record.cost)
            self.late += 1
            return
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
            tally.told += 1
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
            told = [(run.arm, run.cost) for run in record.runs if run.cost is not None]
            arms, costs = (tuple(each) for each in zip(*told, strict=True)) if told else ((), ())
            self.tail[record.round] = picked.called + arms, picked.costs + costs
            if len(self.tail) > MOST_POINTS:
                del self.tail[next(iter(self.tail))]
        self.course.note(Point(self.finished - self.further, record.at, self.paid, self.spent))

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


def updated(before: Roster, wanted: Roster) -> Roster:
    """The wanted arms in the order that the journal has; new ones come last."""
    stay = [arm for arm in before.arms if arm in wanted.arms]
    return Roster((*stay, *(arm for arm in wanted.arms if arm not in stay)), wanted.budget)
