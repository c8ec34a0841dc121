"""A journal and its fold in step: what happens to rounds (asked, told, lost) and to arms."""

from __future__ import annotations

import copy
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from pickbest.core import PickbestError, unknown_name
from pickbest.core.features import Feature, Features, encoded, feature_names, kept
from pickbest.core.tickets import ClosedRoundError, RepeatedTellError, not_open
from pickbest.portfolio.processes import Owner, this_process
from pickbest.portfolio.store.records import (
    DamagedError,
    Entry,
    Finished,
    Lost,
    Opened,
    Picked,
    Record,
    ReplayError,
    Roster,
    StorageError,
    check_finished,
    check_picked,
    check_roster,
)
from pickbest.portfolio.store.state import Called, PortfolioState, check_opening
from pickbest.portfolio.store.views import RoundView, rounds_of

if TYPE_CHECKING:
    from pickbest.portfolio.store.journal import Journal, Turn

# A snapshot is kept every so many records: as many are folded, at most, when a journal is opened.
SNAPSHOT_EVERY = 1_000
# Seconds between attempts while the database is away.
PATIENCE: tuple[float, ...] = (0.1, 0.5, 2.0, 5.0)
# Why a round was lost whose ticket expired.
EXPIRED = "no result came in time"

LOG = logging.getLogger("pickbest.portfolio")

T = TypeVar("T")
R = TypeVar("R", bound=Record)
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
        self.state = self._opened(trusted)
        self._kept = self.state.position
        self.refresh()

    def refresh(self) -> None:
        """Fold in what other processes wrote."""
        with self.lock:
            for entry in self.journal.entries(self.state.position):
                _fold(self.state, entry)

    def look(self, view: Callable[[PortfolioState], T]) -> T:
        """What a function makes of the newest state, which stands still meanwhile."""
        with self.lock:
            self.refresh()
            return view(self.state)

    def write(self, made: Callable[[Turn], Sequence[R]]) -> list[R]:
        """Write what a function makes of the newest state: alone, in one commit, once, and
        patiently; then fold it in."""
        if os.getpid() != self._process:
            raise PickbestError(
                "a portfolio cannot be used across a fork: open it in the new process"
            )
        records: list[R] = []
        sent: list[Entry] = []
        counted = False

        def attempt() -> None:
            nonlocal records, sent, counted
            with self.journal.turn(self.state.position) as turn:
                for entry in turn.news:
                    _fold(self.state, entry)
                # An attempt that seemed to fail may have counted.
                counted = counted or any(entry in turn.news for entry in sent[:1])
                if not counted:
                    records = list(made(turn))
                    sent = [turn.append(record) for record in records]
            for entry in turn.appended:
                self.state.apply(entry)

        with self.lock:
            for seconds in (*self.patience, None):
                try:
                    attempt()
                    break
                except StorageError:
                    if seconds is None:
                        raise
                    time.sleep(seconds)
            self._keep_snapshot()
        return records

    def _keep_snapshot(self) -> None:
        if self.state.position - self._kept >= SNAPSHOT_EVERY:
            # The records are what counts: where it cannot be kept now, the next one will be.
            self._kept = self.state.position
            with suppress(StorageError):
                self.journal.keep(self.state.to_bytes())

    def verify(self) -> PortfolioState:
        """Replay the journal from its beginning, up to where it stands now.

        Raises ReplayError if any pick, or the state in memory, differs in any bit. Right while
        others write: what comes later is not looked at.
        """
        with self.lock:
            self.refresh()
            position, known = self.state.position, self.state.to_bytes()
        again = PortfolioState(self.state.trusted)
        for entry in self.journal.entries(0, position):
            if isinstance(entry.record, Picked) and not entry.record.given:
                _check_pick(again, entry.record)
            _fold(again, entry)
        if again.position != position:
            raise ReplayError(
                f"the journal ends at record {again.position}, but record {position} was seen "
                "before: the database was replaced or cut"
            )
        if again.to_bytes() != known:
            raise ReplayError(
                "what is known from the snapshot and the records after it differs from a replay "
                "of the whole journal"
            )
        return again

    def rounds(self, last: int | None = None, before: int | None = None) -> list[RoundView]:
        """The last rounds, or the last ones before a round, oldest first."""
        asked = self.look(lambda state: state.next_round)
        end = asked if before is None else max(0, min(before, asked))
        first = 0 if last is None else max(0, end - last)
        return rounds_of(self.journal.of_rounds(first, end))

    def close(self) -> None:
        self.journal.close()

    def open(self, settings: Opened, arms: Sequence[str], budget: int) -> None:
        """Create the portfolio, or check that it is the one meant and give it these arms.

        Arms that are not named any more are removed, new ones are added.
        """
        roster = check_opening(settings, arms, budget)

        def made(turn: Turn) -> list[Opened | Roster]:
            self.check_settings(settings)
            new = [settings] if self.state.settings is None else []
            return [*new, *self._followed(roster)]

        self.write(made)

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

        def made(turn: Turn) -> list[Roster]:
            before = self.state.live.arms
            for arm in remove:
                if arm not in before:
                    raise unknown_name("arm", arm, before)
            stay = tuple(arm for arm in before if arm not in remove)
            return self._followed(Roster((*stay, *add), self.state.live.budget))

        self.write(made)

    def _followed(self, wanted: Roster) -> list[Roster]:
        """The record of a change to these arms, those that stay first; raises if the learner
        cannot play with them."""
        before = self.state.roster
        if before is not None:
            check_roster(wanted)
            stay = [arm for arm in before.arms if arm in wanted.arms]
            new = [arm for arm in wanted.arms if arm not in stay]
            wanted = Roster((*stay, *new), wanted.budget)
            trial = copy.deepcopy(self.state)
            trial.apply(Entry(trial.position + 1, wanted))
        return [] if wanted == before else [wanted]

    def ask(
        self,
        problems: Sequence[str],
        *,
        lifetime: float,
        owned: bool = True,
        watch: float | None = None,
        features: Sequence[Features | None] | None = None,
    ) -> list[Picked]:
        """One round per problem, all in one commit.

        lifetime: seconds for which the tickets are good; with `owned`, they are good as long as
            this process lives, whatever the lifetime.
        watch: how likely a round may be watched to its end, as the learner wants; None: every
            round is.
        features: of each problem; None where one, or none of them, has any.
        """
        known, owner = _known_features(problems, features), _owner(owned)

        def made(turn: Turn) -> list[Picked]:
            # Rounds of one batch are picked from the same state: none of them is told yet.
            rounds = enumerate(zip(problems, known, strict=True), self.state.next_round)
            return [
                self._pick(number, problem, told, lifetime, owner, watch)
                for number, (problem, told) in rounds
            ]

        return self.write(made)

    def more(self, number: int, lifetime: float, owned: bool) -> Picked | None:
        """Go on with a round that was told, on the same problem; None: no call is worth its price.

        Asked again, it gives the same round.
        """

        def going_on() -> list[Picked]:
            return [each for each in self.state.open.values() if each.after == number]

        def made(turn: Turn) -> list[Picked]:
            if going_on():
                return []
            opened = [entry.record for entry in turn.of_round(number)]
            first = next((each for each in opened if isinstance(each, Picked)), None)
            if number not in self.state.tail or first is None:
                raise self._no_more(number)
            new, told = self.state.next_round, first.features
            picked = self._pick(new, first.problem, told, lifetime, _owner(owned), after=number)
            return [picked] if picked.arms else []

        found = self.write(made) or going_on()
        return found[0] if found else None

    def _pick(
        self,
        number: int,
        problem: str,
        features: Features | None,
        lifetime: float,
        owner: Owner | None,
        watch: float | None = None,
        after: int = -1,
    ) -> Picked:
        """The record that opens a round; after: the round that it goes on with."""
        live, now = self.state.live, time.time()
        before = Called() if after < 0 else self.state.tail[after]
        arms, weights, until, wanted = live.pick(number, features, before.arms, before.costs)
        chance = 1.0 if watch is None else min(wanted, watch)
        return Picked(
            number,
            arms,
            weights,
            expires=now + lifetime,
            owner=owner,
            problem=problem,
            watched=live.watch_draw(number) < chance,
            at=now,
            watch=chance,
            until=until,
            features=features,
            after=after,
            called=before.arms,
            costs=before.costs,
        )

    def _no_more(self, number: int) -> PickbestError:
        if not 0 <= number < self.state.next_round:
            return not_open(number, self.state.next_round, {})
        if not self.state.live.goes_on:
            return ClosedRoundError("only a portfolio with `cascade` goes on with a problem")
        if number in self.state.open:
            return ClosedRoundError(f"tell round {number} first, then ask whether to go on")
        return ClosedRoundError(f"round {number} was gone on with already, or long ago")

    def running(self, numbers: Sequence[int]) -> list[Picked]:
        """The open rounds of these numbers; says why if one is not open, or has expired."""
        with self.lock:
            if not self.state.open.keys() >= set(numbers):
                self.refresh()
            known = [self.state.open[each] for each in numbers if each in self.state.open]
            self._close({each.round: EXPIRED for each in known if _has_expired(each)})
            for number in numbers:
                if number not in self.state.open:
                    is_number = isinstance(number, int) and not isinstance(number, bool)
                    found = self.journal.of_rounds(number, number + 1) if is_number else []
                    raise self._closed(number, found)
            return known

    def _closed(self, number: int, entries: Iterable[Entry]) -> PickbestError:
        """Why a round is not open; entries: what the journal holds of it."""
        records = [entry.record for entry in entries]
        lost = {each.round: each.reason for each in records if isinstance(each, Lost)}
        return not_open(number, self.state.next_round, lost)

    def note(self, results: Sequence[tuple[str, tuple[float, ...], Finished]]) -> None:
        """Rounds that were played elsewhere: (problem, weights, result), all in one commit.

        Somebody else chose the arms, so no pick is verified. weights: of the pick, where the arms
        are those that the learner once picked; empty: the arms count as drawn at random. The
        number of the round in `Finished` is not used.
        """

        def made(turn: Turn) -> list[Picked | Finished]:
            live, records = self.state.live, list[Picked | Finished]()
            has_weights = live.pick(self.state.next_round)[1] is not None
            for number, (problem, own, result) in enumerate(results, self.state.next_round):
                arms = tuple(run.arm for run in result.runs)
                at, usual = result.at, (len(live.arms) / len(arms),) * len(arms)
                weights = own or usual if has_weights else None
                picked = Picked(number, arms, weights, at, None, problem, True, at, given=True)
                check_picked(picked, live.arms, live.learner.budget, live.fewer)
                check_finished(result, picked)
                records += [picked, replace(result, round=number)]
            return records

        self.write(made)

    def tell(self, results: Sequence[Finished]) -> None:
        """Close rounds with results, all in one commit, all or none."""

        def made(turn: Turn) -> Sequence[Finished]:
            if len({each.round for each in results}) < len(results):
                raise RepeatedTellError("a round is told twice at once")
            for each in results:
                if each.round not in self.state.open:
                    raise self._closed(each.round, turn.of_round(each.round))
                check_finished(each, self.state.open[each.round])
            return results

        self.write(made)

    def lose(self, numbers: Iterable[int], reason: str) -> None:
        """Close open rounds without results; those that are closed stay as they are."""
        self._close(dict.fromkeys(numbers, reason))

    def sweep(self) -> list[Lost]:
        """Close every round whose process died, or whose ticket has expired."""
        with self.lock:
            self.refresh()
            rounds = self.state.open.values()
            reasons = {each.round: EXPIRED for each in rounds if _has_expired(each)}
            for each in rounds:
                if each.owner is not None and each.owner.is_here and each.owner.has_died:
                    reasons[each.round] = f"process {each.owner.pid} died before the result"
            return self._close(reasons)

    def _close(self, reasons: Mapping[int, str]) -> list[Lost]:
        """Close those of the rounds that are open; why each is lost."""

        def made(turn: Turn) -> list[Lost]:
            left = sorted(reasons.keys() & self.state.open.keys())
            return [Lost(number, reasons[number], time.time()) for number in left]

        return self.write(made) if reasons else []

    def _opened(self, trusted: Opened | None) -> PortfolioState:
        """The fold as the snapshot has it, or an empty one."""
        try:
            snapshot = self.journal.snapshot()
            if snapshot is not None:
                return PortfolioState.from_bytes(snapshot, trusted)
        except DamagedError as error:
            LOG.warning("%s; all records are folded again", error)
        return PortfolioState(trusted)


def _fold(state: PortfolioState, entry: Entry) -> None:
    try:
        state.apply(entry)
    except PickbestError as error:
        raise DamagedError(f"the journal is damaged: record {entry.position}: {error}") from error


def _check_pick(state: PortfolioState, picked: Picked) -> None:
    """Pick a round anew from the records before it."""
    again = state.live.pick(picked.round, picked.features, picked.called, picked.costs)
    stored = (picked.arms, picked.weights, picked.until)
    if again[:3] != stored:
        raise ReplayError(
            f"round {picked.round}: the journal says {stored}, a replay picks {again}"
        )


def _owner(owned: bool) -> Owner | None:
    return this_process() if owned else None


def _has_expired(picked: Picked) -> bool:
    """Whether a ticket is no longer good; one of a process of this machine is while that lives."""
    mine = picked.owner is not None and picked.owner.is_here
    return not mine and time.time() > picked.expires


def _known_features(
    problems: Sequence[str], features: Sequence[Features | None] | None
) -> list[Kept | None]:
    """As the journal keeps them."""
    given = [None] * len(problems) if features is None else features
    if len(given) != len(problems):
        raise PickbestError(
            f"features must be given for each of {len(problems)} problems, got {len(given)}"
        )
    known = [None if each is None else kept(each) for each in given]
    found = [each for each in known if each is not None]
    for each in found:
        encoded(each, feature_names(found[0]))
    return known
