"""The fold: everything that a portfolio knows, from the records of its journal and no more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pickbest.catalog import make_learner
from pickbest.core import (
    Choice,
    Feedback,
    FloatArray,
    KeyArray,
    Learner,
    PickbestError,
    State,
    replicate_keys,
    rng_for,
)
from pickbest.portfolio.journal.protocol import Entry
from pickbest.portfolio.journal.records import (
    Finished,
    Lost,
    Opened,
    Picked,
    Record,
    Roster,
)
from pickbest.portfolio.state.carry import Archive, carried, pick_shares

DEFAULT_LEARNER = "auto"
# Beside the streams of learners (1) and environments (2): which rounds are watched.
WATCH_STREAM = 3


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


class Knowledge:
    """State as a fold. Apply the same entries, get the same bits."""

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
        self._learner: Learner | None = None
        self._state: State = {}
        self._archive: Archive = {}
        self._keys: KeyArray = replicate_keys(0, 1)
        self._watch_keys: KeyArray = self._keys

    def apply(self, entry: Entry) -> None:
        """Fold one entry in; entries come in order, and each once."""
        if entry.position != self.position + 1:
            raise PickbestError(
                f"the journal has a gap: record {entry.position} follows record {self.position}"
            )
        _APPLY[type(entry.record)](self, entry.record)
        self.position = entry.position

    @property
    def learner(self) -> Learner:
        """The learner for the arms that are active now."""
        if self._learner is None:
            raise PickbestError("the portfolio has no arms yet: add some first")
        return self._learner

    @property
    def state(self) -> State:
        """The learner's state; not a copy."""
        return self._state

    @property
    def active(self) -> tuple[str, ...]:
        """The arms that may be picked, in the learner's order."""
        return self.roster.active if self.roster else ()

    def pick(self, number: int) -> tuple[tuple[str, ...], tuple[float, ...] | None]:
        """Names and weights of the arms of a round that opens now; changes nothing."""
        choice = self.learner.pick(self._state, rng_for(self._keys, number))
        names = tuple(self.active[arm] for arm in choice.arms[0].tolist())
        weights = None if choice.weights is None else tuple(choice.weights[0].tolist())
        return names, weights

    def watch_draw(self, number: int) -> float:
        """The uniform number of a round that decides whether it is watched to the end."""
        return float(rng_for(self._watch_keys, number).uniforms(1)[0, 0])

    def shares(self) -> dict[str, float]:
        """How likely each arm is picked next."""
        shares: FloatArray = pick_shares(self.learner, self._state)
        return dict(zip(self.active, shares.tolist(), strict=True))

    def make_learner(self, n_arms: int, budget: int) -> Learner:
        """The portfolio's learner for a number of arms, checked to be one that can run live."""
        settings = self.settings
        if settings is None:
            raise PickbestError("the journal does not begin with its settings")
        options: dict[str, Any] = dict(settings.options)
        learner = make_learner(settings.learner, n_arms, budget, settings.rounds, **options)
        if learner.feedback is Feedback.FULL:
            raise PickbestError(
                f"learner {settings.learner!r} must see the cost of every arm, but a portfolio "
                f"sees only those of the arms that it ran; use {DEFAULT_LEARNER!r}"
            )
        return learner

    def _opened(self, record: Opened) -> None:
        if self.settings is not None:
            raise PickbestError("the journal is damaged: it is opened twice")
        self.settings = record
        self._keys = replicate_keys(record.seed, 1)
        self._watch_keys = replicate_keys(record.seed, 1, stream=WATCH_STREAM)

    def _changed(self, record: Roster) -> None:
        budget, arms = record.budget, record.active
        learner = self.make_learner(len(arms), budget)
        before = self.roster
        if before is None:
            self._state = learner.start(1)
        elif before.budget != budget:
            # What was learned of arms is true for any budget, but some states are shaped by it.
            reshaped = self.make_learner(len(before.active), budget).start(1)
            if not _same_shape(self._state, reshaped):
                self._state = reshaped
        if before is not None and before.active != arms:
            self._state = carried(
                lambda n_arms: self.make_learner(n_arms, budget),
                self._state,
                before.active,
                arms,
                self._archive,
            )
        self._learner, self.roster = learner, record
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
            tally.failed += run.status in ("crashed", "broken")
            tally.seconds += run.seconds
            if run.cost is not None:
                tally.total_cost += run.cost
                tally.known_costs += 1
        places = {arm: place for place, arm in enumerate(self.active)}
        if record.learned is None or any(arm not in places for arm in picked.arms):
            return  # An arm left since it was picked: the result stays in the journal only.
        if len(picked.arms) != self.learner.budget:
            return
        arms = np.array([[places[arm] for arm in picked.arms]], np.int64)
        weights = None
        if picked.weights is not None:
            weights = np.array([picked.weights]) * record.scale
        seen = np.array([record.learned])
        self._state = self.learner.learn(self._state, Choice(arms, weights), seen)
        self.learned += 1

    def _lost(self, record: Lost) -> None:
        self._closed(record.round)
        self.lost[record.round] = record.reason

    def _closed(self, number: int) -> Picked:
        if number not in self.open:
            raise PickbestError(f"the journal is damaged: round {number} is closed, but not open")
        return self.open.pop(number)


def _same_shape(first: State, second: State) -> bool:
    return first.keys() == second.keys() and all(
        first[name].shape == second[name].shape for name in first
    )


_APPLY: dict[type[Record], Any] = {
    Opened: Knowledge._opened,
    Roster: Knowledge._changed,
    Picked: Knowledge._picked,
    Finished: Knowledge._finished,
    Lost: Knowledge._lost,
}
