"""A journal and its fold in step: what happens to rounds (asked, told, lost, late) and to arms."""

from __future__ import annotations

import copy
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from pickbest.core import PickbestError, unknown_name
from pickbest.core.features import Feature, Features, encoded, feature_names, kept
from pickbest.core.tickets import ClosedRoundError, RepeatedTellError, Ticket, not_open
from pickbest.portfolio.processes import this_process
from pickbest.portfolio.store.lifetimes import Lifetimes
from pickbest.portfolio.store.records import (
    DamagedError,
    Entry,
    Finished,
    Lost,
    Opened,
    Picked,
    Record,
    Roster,
    StorageError,
    check_finished,
    check_picked,
    check_roster,
    parts_of,
)
from pickbest.portfolio.store.snapshots import (
    ReplayError,
    digest_of,
    replayed,
    restore_snapshot,
    take_snapshot,
)
from pickbest.portfolio.store.state import PortfolioState, check_opening, updated
from pickbest.portfolio.store.views import RoundView, last_rounds

if TYPE_CHECKING:
    from pickbest.portfolio.store.journal import Journal, Turn

# A snapshot is kept every so many records: as many are folded, at most, when a journal is opened.
SNAPSHOT_EVERY = 1_000
# Seconds between attempts while the database is away.
PATIENCE: tuple[float, ...] = (0.1, 0.5, 2.0, 5.0)

LOG = logging.getLogger("pickbest.portfolio")

T = TypeVar("T")
Kept = dict[str, Feature] | list[Feature]


class Ledger:
    """One portfolio's memory, and the only way to write to it. For any thread.

    What is returned is on disk. A pick is a function of the records before it, so a replay of
    the journal finds the same picks, whichever process made them.

    trusted: settings that the caller gave in code; see PortfolioState.
    patience: how long to wait before each further attempt when the database is away.
    """

    def __init__(self, journal: Journal, trusted: Opened | None = None) -> None:
        self.journal = journal
        self.lock = threading.RLock()
        self.patience = PATIENCE
        self._process = os.getpid()
        self._lifetimes = Lifetimes(journal)
        self.state, self._kept = self._opened(trusted)
        self.refresh()

    def refresh(self) -> None:
        """Fold in what other processes wrote."""
        with self.lock:
            for entry in self.journal.entries(self.state.position):
                self._fold(entry)

    def look(self, view: Callable[[PortfolioState], T]) -> T:
        """What a function makes of the newest state, which stands still meanwhile."""
        with self.lock:
            self.refresh()
            return view(self.state)

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """Write alone, knowing everything; what is appended is folded in after the commit."""
        if os.getpid() != self._process:
            raise PickbestError(
                "a portfolio cannot be used across a fork: open it in the new process"
            )
        with self.lock:
            with self.journal.turn(self.state.position) as turn:
                for entry in turn.news:
                    self._fold(entry)
                yield turn
            for entry in turn.appended:
                self.state.apply(entry)
            if turn.appended and self.state.position - self._kept >= SNAPSHOT_EVERY:
                # The records are what counts: where it cannot be kept now, the next one will be.
                self._kept = self.state.position
                with suppress(StorageError):
                    self.journal.keep(take_snapshot(self.state))

    def write(self, made: Callable[[Turn], Sequence[Record]]) -> None:
        """Write what a function makes of the newest state: in one commit, once, and patiently."""
        sent: list[Entry] = []
        counted = False

        def attempt() -> None:
            nonlocal sent, counted
            with self.turn() as turn:
                # An attempt that seemed to fail may have counted.
                counted = counted or any(entry in turn.news for entry in sent[:1])
                if not counted:
                    sent = [turn.append(record) for record in made(turn)]

        with self.lock:
            patiently(attempt, self.patience)

    def verify(self) -> PortfolioState:
        """Replay the journal from its beginning, up to where it stands now.

        Raises ReplayError if any pick, the stored snapshot or the state in memory differs. Right
        while others write: what comes later is not looked at.
        """
        with self.lock:
            self.refresh()
            position, digest = self.state.position, digest_of(self.state)
            trusted = self.state.trusted
            snapshot = self.journal.snapshot()
        known = [(position, digest, "the state in memory")]
        if (
            snapshot is not None
            and snapshot.position <= position
            and restore_snapshot(snapshot, trusted) is not None
        ):
            known.insert(0, (snapshot.position, snapshot.digest, "the snapshot"))
        again = replayed(self.journal.entries(0, position), known, trusted)
        if again.position != position:
            raise ReplayError(
                f"the journal ends at record {again.position}, but record {position} was seen "
                "before: the database was replaced or cut"
            )
        return again

    def rounds(self, last: int | None = None, before: int | None = None) -> list[RoundView]:
        """The last rounds, or the last ones before a round, oldest first."""
        return last_rounds(self.journal, last, before)

    def close(self) -> None:
        self.journal.close()

    def open(self, settings: Opened, arms: Sequence[str], budget: int) -> None:
        """Create the portfolio, or check that it is the one meant and give it these arms.

        Arms that are not named any more are removed, new ones are added.
        """
        roster = check_opening(settings, arms, budget)
        with self.turn() as turn:
            before = self.state.roster
            self.check_settings(settings)
            if self.state.settings is None:
                turn.append(settings)
            if before is not None:
                roster = updated(before, roster)
                self._try_out(roster)
            if before != roster:
                turn.append(roster)

    def check_settings(self, wanted: Opened) -> None:
        """Raise if the portfolio was created with others."""
        present = self.state.settings
        for name in (
            ("seed", "learner", "rounds", "options", "rewards") if present is not None else ()
        ):
            was, now = getattr(present, name), getattr(wanted, name)
            if was != now:
                raise PickbestError(
                    f"this portfolio was created with {name}={was!r}, got {now!r}; keep it, or "
                    "give the new portfolio another name or storage"
                )

    def change(self, add: Sequence[str] = (), remove: Sequence[str] = ()) -> None:
        """Change the arms of a running portfolio; open rounds go on."""
        with self.turn() as turn:
            before = self.state.roster
            if before is None:
                raise PickbestError("the portfolio has no arms yet: open it with some")
            for arm in remove:
                if arm not in before.arms:
                    raise unknown_name("arm", arm, before.arms)
            stay = tuple(arm for arm in before.arms if arm not in remove)
            roster = check_roster(Roster((*stay, *add), before.budget))
            self._try_out(roster)
            turn.append(roster)

    def ask(
        self,
        problems: Sequence[str],
        *,
        lifetime: float,
        owned: bool = True,
        watch: float | None = None,
        features: Sequence[Features | None] | None = None,
    ) -> list[Ticket[str]]:
        """One round per problem, all in one commit.

        lifetime: seconds for which the tickets are good; with `owned`, they are good as long as
            this process lives, whatever the lifetime.
        watch: how likely a round may be watched to its end, as the learner wants; None: every
            round is.
        features: of each problem; None where one, or none of them, has any.
        """
        known = _known_features(problems, features)
        now = time.time()
        owner = this_process() if owned else None
        opened: list[Picked] = []

        def picked(number: int, problem: str, told: Kept | None) -> Picked:
            live = self.state.live
            arms, weights, until, wanted = live.pick(number, told)
            chance = 1.0 if watch is None else min(wanted, watch)
            watched, good = live.watch_draw(number) < chance, now + lifetime
            return Picked(
                number, arms, weights, good, owner, problem, watched, now, chance, until, told
            )

        def made(turn: Turn) -> list[Picked]:
            # Rounds of one batch are picked from the same state: none of them is told yet.
            rounds = enumerate(zip(problems, known, strict=True), self.state.next_round)
            opened[:] = [picked(number, problem, told) for number, (problem, told) in rounds]
            return opened

        self.write(made)
        if not owned:
            self._lifetimes.promise(opened)
        return [ticket_of(each) for each in opened]

    def more(self, number: int, lifetime: float, owned: bool) -> Ticket[str] | None:
        """Go on with a round that was told, on the same problem; None: no call is worth its price.

        Asked again, it gives the same ticket.
        """
        found: list[Picked] = []

        def made(turn: Turn) -> list[Picked]:
            found[:] = [each for each in self.state.open.values() if each.after == number]
            if found:
                return []
            first = parts_of(turn.of_round(number))[number].opened
            if number not in self.state.tail or first is None:
                raise self._no_more(number)
            called, costs = self.state.tail[number]
            new, now = self.state.next_round, time.time()
            arms = self.state.live.pick(new, first.features, called, costs).arms
            if arms:
                owner = this_process() if owned else None
                told = (first.problem, True, now, 1.0, (), first.features)
                picked = Picked(new, arms, None, now + lifetime, owner, *told)
                found.append(replace(picked, after=number, called=called, costs=costs))
            return found

        self.write(made)
        if found and not owned:
            self._lifetimes.promise(found)
        return ticket_of(found[0]) if found else None

    def _no_more(self, number: int) -> PickbestError:
        if not 0 <= number < self.state.next_round:
            return not_open(number, self.state.next_round, {})
        if not self.state.live.goes_on:
            return ClosedRoundError("only a portfolio with `cascade` goes on with a problem")
        if number in self.state.open:
            return ClosedRoundError(f"tell round {number} first, then ask whether to go on")
        return ClosedRoundError(f"round {number} was gone on with already, or long ago")

    def picked(self, number: int, or_lost: bool = False) -> Picked:
        """The open round of that number; says why if there is none, or if it has expired.

        or_lost: also one that was closed as lost, for a result that comes late.
        """
        with self.lock:
            if number not in self.state.open:
                self.refresh()
            if number in self.state.open:
                picked = self.state.open[number]
                if not self._lifetimes.expired([picked]):
                    return picked
                self.lose([number], "no result came in time")
            is_number = isinstance(number, int) and not isinstance(number, bool)
            found = self.journal.of_rounds(number, number + 1) if is_number else []
            parts = parts_of(found)[number]
            untold = parts.lost if parts.told is None else None
            if or_lost and parts.opened is not None and untold is not None:
                return parts.opened
            why = {} if untold is None else {number: untold.reason}
            raise not_open(number, self.state.next_round, why)

    def note(self, results: Sequence[tuple[str, tuple[float, ...], Finished]]) -> None:
        """Rounds that were played elsewhere: (problem, weights, result), all in one commit.

        Somebody else chose the arms, so no pick is verified. weights: of the pick, where the arms
        are those that the learner once picked; empty: the arms count as drawn at random. The
        number of the round in `Finished` is not used.
        """
        with self.lock, self.turn() as turn:
            live = self.state.live
            has_weights = live.pick(self.state.next_round)[1] is not None
            for number, (problem, own, result) in enumerate(results, self.state.next_round):
                arms = tuple(run.arm for run in result.runs)
                at, usual = result.at, (len(live.arms) / len(arms),) * len(arms)
                weights = own or usual if has_weights else None
                picked = Picked(number, arms, weights, at, None, problem, True, at, given=True)
                check_picked(picked, live.arms, live.learner.budget, live.fewer)
                check_finished(result, picked)
                turn.append(picked)
                turn.append(replace(result, round=number))

    def tell(self, results: Sequence[Finished]) -> dict[int, str]:
        """Close rounds with results, all in one commit, all or none; which came late, and why.

        A round that had been closed as lost keeps its result, and nothing is learned of it.
        """
        late: dict[int, str] = {}

        def made(turn: Turn) -> list[Finished]:
            late.clear()
            if len({each.round for each in results}) < len(results):
                raise RepeatedTellError("a round is told twice at once")
            return [closing(turn, each) for each in results]

        def closing(turn: Turn, result: Finished) -> Finished:
            number = result.round
            picked = self.state.open.get(number)
            if picked is None:
                parts = parts_of(turn.of_round(number))[number]
                picked = parts.opened
                if picked is None or parts.lost is None or parts.told is not None:
                    raise not_open(number, self.state.next_round, {})
                late[number] = parts.lost.reason
            check_finished(result, picked)
            return replace(result, late=number in late)

        self.write(made)
        return late

    def lose(self, numbers: Iterable[int], reason: str) -> None:
        """Close open rounds without results; those that are closed stay as they are."""
        self._close(dict.fromkeys(numbers, reason))

    def sweep(self) -> list[Lost]:
        """Close every round whose process died, or whose ticket has expired."""
        with self.lock:
            self.refresh()
            reasons = self._lifetimes.abandoned(self.state.open.values())
            return self._close(reasons) if reasons else []

    def _close(self, reasons: Mapping[int, str]) -> list[Lost]:
        """Close those of the rounds that are open; why each is lost."""
        losses: list[Lost] = []

        def made(turn: Turn) -> list[Lost]:
            now, left = time.time(), sorted(reasons.keys() & self.state.open.keys())
            losses[:] = [Lost(number, reasons[number], now) for number in left]
            return losses

        self.write(made)
        return losses

    def _opened(self, trusted: Opened | None) -> tuple[PortfolioState, int]:
        """(the state of the newest snapshot that can be used, its position)."""
        try:
            snapshot = self.journal.snapshot()
            state = restore_snapshot(snapshot, trusted) if snapshot is not None else None
            if state is not None:
                return state, state.position
        except DamagedError as error:
            LOG.warning("%s; it is made again from the records", error)
        return PortfolioState(trusted), 0

    def _fold(self, entry: Entry) -> None:
        try:
            self.state.apply(entry)
        except PickbestError as error:
            raise DamagedError(
                f"the journal is damaged: record {entry.position}: {error}"
            ) from error

    def _try_out(self, roster: Roster) -> None:
        """Raise before anything is written if the learner cannot play with these arms."""
        trial = copy.deepcopy(self.state)
        trial.apply(Entry(trial.position + 1, roster))


def patiently(
    attempt: Callable[[], T],
    patience: Sequence[float] = PATIENCE,
    away: type[StorageError] = StorageError,
) -> T:
    """Try again while the database is away."""
    for seconds in patience:
        try:
            return attempt()
        except away:
            time.sleep(seconds)
    return attempt()


def _known_features(
    problems: Sequence[str], features: Sequence[Features | None] | None
) -> list[Kept | None]:
    """As the journal keeps them."""
    if features is None:
        return [None] * len(problems)
    if len(features) != len(problems):
        raise PickbestError(
            f"features must be given for each of {len(problems)} problems, got {len(features)}"
        )
    known = [None if each is None else kept(each) for each in features]
    names = next((feature_names(each) for each in known if each is not None), ())
    for each in known:
        if each is not None:
            encoded(each, names)
    return known


def ticket_of(picked: Picked) -> Ticket[str]:
    """What is handed out of a round that was opened."""
    return Ticket(picked.round, picked.arms, picked.problem, picked.watched, picked.until)
