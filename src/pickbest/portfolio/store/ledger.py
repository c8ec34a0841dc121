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
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from pickbest.core import PickbestError, check_count
from pickbest.core.features import Feature, Features, encoded, feature_names, kept
from pickbest.core.tickets import ClosedRoundError, RepeatedTellError, Ticket, not_open
from pickbest.portfolio.processes import this_process
from pickbest.portfolio.store.leases import Lifetimes, lease_of
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
)
from pickbest.portfolio.store.snapshots import (
    OtherVersionError,
    digest_of,
    folded,
    replayed,
    restore_snapshot,
    summary_of,
    take_snapshot,
)
from pickbest.portfolio.store.state import (
    Names,
    PortfolioState,
    changed,
    check_opening,
    updated,
)
from pickbest.portfolio.store.views import RoundView, last_rounds

if TYPE_CHECKING:
    from pickbest.portfolio.store.journal import Journal

# A snapshot is kept every so many records: as many are folded, at most, when a journal is opened.
SNAPSHOT_EVERY = 2_000
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
    def turn(self) -> Iterator[Callable[[Record], None]]:
        """What writes a record, alone and knowing everything; it is folded in after the commit."""
        if os.getpid() != self._process:
            raise PickbestError(
                "a portfolio cannot be used across a fork: open it in the new process"
            )
        with self.lock:
            with self.journal.turn(self.state.position) as turn:
                for entry in turn.news:
                    self._fold(entry)
                appended: list[Entry] = []
                yield lambda record: appended.append(turn.append(record))
            for entry in appended:
                self.state = folded(self.state, entry)
            if appended and self.state.position - self._kept >= SNAPSHOT_EVERY:
                # The records are what counts: where it cannot be kept now, the next one will be.
                self._kept = self.state.position
                with suppress(StorageError):
                    self.journal.keep(take_snapshot(self.state, appended[-1].record))

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
        if snapshot is not None and snapshot.position <= position:
            known.insert(0, (snapshot.position, snapshot.digest, "the snapshot"))
            restore_snapshot(snapshot, self._at(snapshot.position), trusted)
        return replayed(self.journal.entries(0, position), known, trusted)

    def prune(self, keep: int) -> int:
        """Fold all but the last rounds into a summary; how many records are gone.

        The rounds that are open, and all after them, are kept as well. Everything is verified
        first. What was learned stays as it is, bit for bit; what goes is the history.
        """
        check_count("keep", keep)
        with self.lock:
            self.verify()
            first = min([self.state.next_round - keep, *self.state.open])
            state, gone = PortfolioState(self.state.trusted), 0
            for entry in self.journal.entries(0, self.state.position):
                if isinstance(entry.record, Picked) and entry.record.round >= first:
                    break
                state, gone = folded(state, entry), gone + 1
            if first <= 0 or gone < 2:
                return 0
            summary = summary_of(state)
            folded(PortfolioState(self.state.trusted), Entry(state.position, summary))
            # A snapshot of records that are gone would be taken for damaged.
            self.journal.forget_snapshot()
            self.journal.prune(state.position, summary)
            return gone - 1

    def restore(self, records: Iterable[Record]) -> None:
        """Fill an empty journal."""
        trial = PortfolioState(self.state.trusted)
        checked = list(records)
        for position, record in enumerate(checked, 1):
            trial = folded(trial, Entry(position, record))
        with self.turn() as write:
            if self.state.position:
                raise PickbestError(
                    f"an import needs an empty portfolio, this one has "
                    f"{self.state.position} records; give another name or storage"
                )
            for record in checked:
                write(record)

    def rounds(self, last: int | None = None, before: int | None = None) -> list[RoundView]:
        """The last rounds, or the last ones before a round, oldest first."""
        return last_rounds(self.journal, last, before)

    def close(self) -> None:
        self.journal.close()

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
        with self.turn() as write:
            before = self.state.roster
            self.check_settings(settings)
            if self.state.settings is None:
                write(settings)
            if before is not None:
                roster = check_roster(updated(before, roster, paused is None))
                self._try_out(roster)
            if before != roster:
                write(roster)

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

    def change(
        self, *, add: Names = (), remove: Names = (), pause: Names = (), resume: Names = ()
    ) -> Roster:
        """Change the arms of a running portfolio; open rounds go on."""
        with self.turn() as write:
            before = self.state.roster
            if before is None:
                raise PickbestError("the portfolio has no arms yet: open it with some")
            roster = changed(before, add, remove, pause, resume)
            if roster != before:
                self._try_out(roster)
                write(roster)
        return roster

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

        def once() -> None:
            if opened:
                self.refresh()
                if all(self.state.open.get(each.round) == each for each in opened):
                    return  # The attempt that seemed to fail had counted.
            opened.clear()
            with self.turn() as write:
                # Rounds of one batch are picked from the same state: none of them is told yet.
                rounds = enumerate(zip(problems, known, strict=True), self.state.next_round)
                for number, (problem, told) in rounds:
                    opened.append(picked(number, problem, told))
                    write(opened[-1])

        with self.lock:
            patiently(once, self.patience)
            if not owned:
                self._lifetimes.promise(opened)
        return [ticket_of(each) for each in opened]

    def more(self, number: int, lifetime: float, owned: bool) -> Ticket[str] | None:
        """Go on with a round that was told, on the same problem; None: no call is worth its price.

        Asked again, it gives the same ticket.
        """
        found: list[Picked] = []

        def once() -> None:
            self.refresh()
            found[:] = [each for each in self.state.open.values() if each.after == number]
            if found:
                return
            if number not in self.state.tail:
                raise self._no_more(number)
            first = _parts(self._records(number)).opened
            with self.turn() as write:
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
                    write(found[-1])

        with self.lock:
            patiently(once, self.patience)
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
            opened, lost, told = _parts(self._records(number) if is_number else [])
            if or_lost and opened is not None and lost is not None and told is None:
                return opened
            why = {} if lost is None or told is not None else {number: lost.reason}
            raise not_open(number, self.state.next_round, why)

    def note(self, results: Sequence[tuple[str, tuple[float, ...], Finished]]) -> None:
        """Rounds that were played elsewhere: (problem, weights, result), all in one commit.

        Somebody else chose the arms, so no pick is verified. weights: of the pick, where the arms
        are those that the learner once picked; empty: the arms count as drawn at random. The
        number of the round in `Finished` is not used.
        """
        with self.lock, self.turn() as write:
            live = self.state.live
            has_weights = live.pick(self.state.next_round)[1] is not None
            for number, (problem, own, result) in enumerate(results, self.state.next_round):
                arms = tuple(run.arm for run in result.runs)
                at, usual = result.at, (len(live.arms) / len(arms),) * len(arms)
                weights = own or usual if has_weights else None
                picked = Picked(number, arms, weights, at, None, problem, True, at, given=True)
                check_picked(picked, live.arms, live.learner.budget, live.fewer)
                check_finished(result, picked)
                write(picked)
                write(replace(result, round=number))

    def tell(self, results: Sequence[Finished]) -> dict[int, str]:
        """Close rounds with results, all in one commit, all or none; which came late, and why.

        A round that had been closed as lost keeps its result, and nothing is learned of it.
        """
        tried = False

        def once() -> dict[int, str] | None:
            nonlocal tried
            self.refresh()
            closed = {
                each.round: _parts(self._records(each.round))
                for each in results
                if each.round not in self.state.open
            }
            late = {number: each.lost.reason for number, each in closed.items() if each.lost}
            told = [closed[each.round].told for each in results if each.round in closed]
            if tried and [each and replace(each, late=False) for each in told] == list(results):
                return late  # The attempt that seemed to fail had counted.
            tried = True
            seen: set[int] = set()
            for result in results:
                parts = closed.get(result.round)
                if parts and (parts.lost is None or parts.told is not None):
                    raise not_open(result.round, self.state.next_round, {})
                if result.round in seen:
                    raise RepeatedTellError(f"round {result.round} is told twice at once")
                seen.add(result.round)
            with self.turn() as write:
                if any(n not in self.state.open and n not in closed for n in seen):
                    return None  # Another process has closed one of them meanwhile.
                for result in results:
                    parts = closed.get(result.round)
                    picked = parts.opened if parts else self.state.open[result.round]
                    if picked is None:
                        raise DamagedError(f"round {result.round} was lost, but never opened")
                    check_finished(result, picked)
                    write(replace(result, late=parts is not None))
            return late

        with self.lock:
            while (late := patiently(once, self.patience)) is None:
                pass
        return late

    def lose(self, numbers: Iterable[int], reason: str) -> None:
        """Close open rounds without results; those that are closed stay as they are."""
        reasons = dict.fromkeys(numbers, reason)
        patiently(lambda: self._close(reasons), self.patience)

    def sweep(self) -> list[Lost]:
        """Close every round whose process died, or whose ticket has expired."""
        with self.lock:
            self.refresh()
            reasons = self._lifetimes.abandoned(self.state.open.values())
            return self._close(reasons) if reasons else []

    def _close(self, reasons: Mapping[int, str]) -> list[Lost]:
        """Close those of the rounds that are open; why each is lost."""
        with self.turn() as write:
            now, left = time.time(), sorted(reasons.keys() & self.state.open.keys())
            losses = [Lost(number, reasons[number], now) for number in left]
            for loss in losses:
                write(loss)
        return losses

    def beat(self) -> None:
        """Renew this process's lease if it has rounds open, and look after those of others.

        Called now and then; what fails now is done the next time.
        """
        with suppress(StorageError):
            owner = this_process()
            with self.lock:
                mine = any(picked.owner == owner for picked in self.state.open.values())
            if mine:
                self.journal.beat(lease_of(owner))
            self.sweep()

    def end_lease(self) -> None:
        """Forget this process's lease."""
        with suppress(PickbestError):
            self.journal.end_leases([lease_of(this_process())])

    def _opened(self, trusted: Opened | None) -> tuple[PortfolioState, int]:
        """(the state of the newest snapshot that can be used, its position)."""
        try:
            if (snapshot := self.journal.snapshot()) is not None:
                last = self._at(snapshot.position)
                return restore_snapshot(snapshot, last, trusted), snapshot.position
        except OtherVersionError:
            pass  # every release has its own
        except DamagedError as error:
            LOG.warning("%s; it is made again from the records", error)
            # Named once: whoever may write takes it away.
            with suppress(PickbestError):
                self.journal.forget_snapshot()
        return PortfolioState(trusted), 0

    def _at(self, position: int) -> Entry | None:
        found = self.journal.read_from(position - 1, 1)
        return found[0] if found and found[0].position == position else None

    def _fold(self, entry: Entry) -> None:
        try:
            self.state = folded(self.state, entry)
        except PickbestError as error:
            raise DamagedError(
                f"the journal is damaged: record {entry.position}: {error}"
            ) from error

    def _try_out(self, roster: Roster) -> None:
        """Raise before anything is written if the learner cannot play with these arms."""
        trial = copy.deepcopy(self.state)
        trial.apply(Entry(trial.position + 1, roster))

    def _records(self, number: int) -> list[Record]:
        """All of a round."""
        return [entry.record for entry in self.journal.of_rounds(number, number + 1)]


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


class _Parts(NamedTuple):
    """What a journal holds of one round."""

    opened: Picked | None
    lost: Lost | None
    told: Finished | None


def _parts(records: Sequence[Record]) -> _Parts:
    found = {type(record): record for record in records}
    opened, lost, told = (found.get(kind) for kind in (Picked, Lost, Finished))
    return _Parts(opened, lost, told)  # type: ignore[arg-type]


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
