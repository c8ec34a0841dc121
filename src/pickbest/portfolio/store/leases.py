"""How long a round may stay open: while the process that asked lives, or its ticket is good.

A process of this machine is looked up. One of another machine renews a lease in the database
now and then; a round is given up when nobody has seen its lease renewed for LEASE_SECONDS, by
the looker's own monotonic clock. The clocks of two machines are never compared.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from pickbest.portfolio.processes import Owner
from pickbest.portfolio.store.records import Picked

if TYPE_CHECKING:
    from pickbest.portfolio.store.journal import Journal

LEASE_SECONDS = 60.0
BEAT_SECONDS = 15.0


def lease_of(owner: Owner) -> str:
    """The name of a process's lease."""
    return f"{owner.place}/{owner.pid}/{owner.started}"


class LeaseWatch:
    """Which leases were not renewed for too long, as far as the watcher itself could see.

    Time counts only while it looks: who was away (or whose database was) begins anew.
    """

    def __init__(self, seconds: float = LEASE_SECONDS) -> None:
        self._seconds = seconds
        self._looked = float("-inf")
        self._changed: dict[str, tuple[int, float]] = {}

    def over(self, leases: Iterable[str], beats: Mapping[str, int], now: float) -> set[str]:
        """Those of the leases that are over. beats: as the database has them now."""
        if now - self._looked > self._seconds / 2.0:
            self._changed.clear()
        self._looked = now
        before, self._changed = self._changed, {}
        for lease in leases:
            count = beats.get(lease, 0)
            seen = before.get(lease)
            self._changed[lease] = seen if seen and seen[0] == count else (count, now)
        return {lease for lease, (_, since) in self._changed.items() if now - since > self._seconds}


class Lifetimes:
    """Which open rounds will never be told."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._watch = LeaseWatch()
        # Until when tickets without an owner are good, by this process's monotonic clock.
        self._good_until: dict[int, float] = {}

    def promise(self, tickets: Iterable[Picked]) -> None:
        """Remember tickets that were made just now."""
        now = time.monotonic()
        self._good_until |= {each.round: now + each.expires - each.at for each in tickets}

    def expired(self, rounds: Iterable[Picked]) -> list[Picked]:
        """The open tickets without an owner that have expired.

        How old a ticket of another process is, the journal's clock says.
        """
        now = time.monotonic()
        tickets = [each for each in rounds if each.owner is None]
        unknown = [each for each in tickets if each.round not in self._good_until]
        ages = self._journal.ages(each.round for each in unknown) if unknown else {}
        for each in unknown:
            # A clock that was set back since then says nothing of how old the ticket is.
            left = each.expires - each.at - max(0.0, ages.get(each.round, 0.0))
            self._good_until[each.round] = now + left
        return [each for each in tickets if self._good_until[each.round] < now]

    def abandoned(self, rounds: Collection[Picked]) -> dict[int, str]:
        """The open rounds that will never be told, and why. rounds: all that are open."""
        reasons = {each.round: "no result came in time" for each in self.expired(rounds)}
        open_rounds = {each.round for each in rounds}
        self._good_until = {n: at for n, at in self._good_until.items() if n in open_rounds}
        far: dict[str, list[int]] = {}
        for each in rounds:
            if each.owner is None:
                continue
            if not each.owner.is_here:
                far.setdefault(lease_of(each.owner), []).append(each.round)
            elif each.owner.has_died:
                reasons[each.round] = f"process {each.owner.pid} died before the result"
        beats = self._journal.beats() if far else {}
        over = self._watch.over(far.keys(), beats, time.monotonic())
        for lease in over:
            reasons |= dict.fromkeys(far[lease], "its process was not heard of for too long")
        if over:
            self._journal.end_leases(over)
        return reasons


def start_heart(beat: Callable[[], None]) -> threading.Event:
    """Call a function every few seconds, in a thread of its own, until the event is set."""
    stopped = threading.Event()

    def run() -> None:
        while not stopped.wait(BEAT_SECONDS):
            beat()

    threading.Thread(target=run, name="pickbest heart", daemon=True).start()
    return stopped
