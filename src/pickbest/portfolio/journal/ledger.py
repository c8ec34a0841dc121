"""A journal and the state folded from it, kept in step: every write goes through here."""

from __future__ import annotations

import copy
import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from pickbest.core import PickbestError
from pickbest.core.tickets import RepeatedTellError, Ticket, not_open
from pickbest.portfolio.journal.leases import abandoned, this_process
from pickbest.portfolio.journal.protocol import Entry, Journal, Turn
from pickbest.portfolio.journal.records import (
    Finished,
    Lost,
    Opened,
    Picked,
    Record,
    Roster,
)
from pickbest.portfolio.state.portfolio_state import PortfolioState
from pickbest.portfolio.state.rosters import (
    changed,
    check_opening,
    check_roster,
    updated,
)

# Added to the deadline before a round of another machine counts as lost: clocks differ.
CLOCK_SLACK = 60.0


class Ledger:
    """One portfolio's memory. Every method may be called from any thread.

    What is returned is on disk. A pick is a function of the records before it, so a replay of
    the journal finds the same picks, whichever process made them.
    """

    def __init__(self, journal: Journal) -> None:
        self.state = PortfolioState()
        self._journal = journal
        self._lock = threading.RLock()
        self._process = os.getpid()
        self.refresh()

    def refresh(self) -> None:
        """Fold in what other processes wrote."""
        with self._lock:
            for entry in self._journal.read_from(self.state.position):
                self.state.apply(entry)

    def open(
        self,
        settings: Opened,
        arms: Sequence[str],
        budget: int,
        paused: Sequence[str] | None = None,
    ) -> None:
        """Create the portfolio, or check that it is the one meant and give it these arms.

        Arms that are not named any more are removed, new ones are added; paused: None leaves
        that as it is.
        """
        roster = check_opening(settings, arms, budget, paused)
        with self._turn() as turn:
            present, before = self.state.settings, self.state.roster
            if present is not None and present != settings:
                raise PickbestError(_other_settings(present, settings))
            if before is None:
                turn.append(settings)
            else:
                roster = check_roster(updated(before, roster, paused is None))
                self._try_out(roster)
            if before != roster:
                turn.append(roster)

    def change(
        self,
        *,
        add: Iterable[str] = (),
        remove: Iterable[str] = (),
        pause: Iterable[str] = (),
        resume: Iterable[str] = (),
    ) -> Roster:
        """Change the arms of a running portfolio; open rounds go on."""
        with self._turn() as turn:
            before = self.state.roster
            if before is None:
                raise PickbestError("the portfolio has no arms yet: open it with some")
            roster = changed(before, add, remove, pause, resume)
            if roster != before:
                self._try_out(roster)
                turn.append(roster)
        return roster

    def ask(
        self,
        problems: Sequence[str],
        *,
        lifetime: float,
        owned: bool = True,
        watch: float = 1.0,
    ) -> list[Ticket[str]]:
        """One round per problem, all in one commit.

        lifetime: seconds after which the round may be closed as lost; with `owned`, it is
            closed as soon as this process is known to be dead, and while it lives it is not.
        watch: probability that a round is watched to the end.
        """
        now = time.time()
        owner = this_process() if owned else None
        with self._turn() as turn:
            live = self.state.live
            tickets = []
            # Rounds of one batch are picked from the same state: none of them is told yet.
            for number, problem in enumerate(problems, self.state.next_round):
                arms, weights = live.pick(number)
                watched = live.watch_draw(number) < watch
                picked = Picked(number, arms, weights, now + lifetime, owner, problem, watched, now)
                turn.append(picked)
                tickets.append(Ticket(number, arms, problem, watched))
        return tickets

    def picked(self, number: int) -> Picked:
        """The open round of that number; says why if there is none."""
        with self._lock:
            if number not in self.state.open:
                self.refresh()
            return self._open_round(number)

    def tell(self, results: Sequence[Finished]) -> None:
        """Close rounds with results, all in one commit, all or none."""
        with self._turn() as turn:
            seen: set[int] = set()
            for result in results:
                picked = self._open_round(result.round)
                if result.round in seen:
                    raise RepeatedTellError(f"round {result.round} is told twice at once")
                seen.add(result.round)
                _check_fits(picked, result)
                turn.append(result)

    def lose(self, numbers: Iterable[int], reason: str) -> None:
        """Close open rounds without results; those that are closed stay as they are."""
        now = time.time()
        with self._turn() as turn:
            for number in numbers:
                if number in self.state.open:
                    turn.append(Lost(number, reason, now))

    def sweep(self) -> list[Lost]:
        """Close every round whose process died or whose time is over."""
        now = time.time()
        losses: list[Lost] = []
        with self._turn() as turn:
            for number, picked in sorted(self.state.open.items()):
                reason = abandoned(picked, now)
                if reason:
                    losses.append(Lost(number, reason, now))
                    turn.append(losses[-1])
        return losses

    def entries(self, after: int = 0) -> list[Entry]:
        """The journal, or what follows a position."""
        with self._lock:
            return self._journal.read_from(after)

    def restore(self, records: Iterable[Record]) -> None:
        """Fill an empty journal."""
        with self._turn() as turn:
            if self.state.position:
                raise PickbestError(
                    f"an import needs an empty portfolio, this one has "
                    f"{self.state.position} records; give another name or storage"
                )
            trial = PortfolioState()
            for record in records:
                trial.apply(turn.append(record))

    def close(self) -> None:
        self._journal.close()

    @contextmanager
    def _turn(self) -> Iterator[Turn]:
        """Write alone, knowing everything; what was appended is folded in after the commit."""
        if os.getpid() != self._process:
            raise PickbestError(
                "a portfolio cannot be used across a fork: open it in the new process"
            )
        with self._lock:
            with self._journal.turn(self.state.position) as turn:
                for entry in turn.news:
                    self.state.apply(entry)
                recorder = _Recorder(turn)
                yield recorder
            for entry in recorder.appended:
                self.state.apply(entry)

    def _try_out(self, roster: Roster) -> None:
        """Raise before anything is written if the learner cannot play with these arms."""
        trial = copy.deepcopy(self.state)
        trial.apply(Entry(trial.position + 1, roster))

    def _open_round(self, number: int) -> Picked:
        if number not in self.state.open:
            raise not_open(number, self.state.next_round, self.state.lost)
        return self.state.open[number]


class _Recorder:
    """A turn that remembers what was appended."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self.appended: list[Entry] = []

    @property
    def news(self) -> Sequence[Entry]:
        return self._turn.news

    def append(self, record: Record) -> Entry:
        entry = self._turn.append(record)
        self.appended.append(entry)
        return entry


def _check_fits(picked: Picked, result: Finished) -> None:
    if tuple(run.arm for run in result.runs) != picked.arms:
        raise PickbestError(
            f"round {picked.round} picked {', '.join(picked.arms)}; told were "
            f"{', '.join(run.arm for run in result.runs)}"
        )


def _other_settings(present: Opened, wanted: Opened) -> str:
    for name in ("seed", "learner", "rounds", "options"):
        was, now = getattr(present, name), getattr(wanted, name)
        if was != now:
            return (
                f"this portfolio was created with {name}={was!r}, got {now!r}; keep it, or give "
                "the new portfolio another name or storage"
            )
    return "this portfolio was created with other settings"
