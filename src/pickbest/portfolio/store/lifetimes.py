"""How long a round may stay open: while the process that asked lives, or its ticket is good.

A process of this machine is looked up. A round of another machine, and a ticket without an owner,
is given up when the ticket has expired. How old a ticket of another process is, the journal's clock
says: the clocks of two machines are never compared.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from pickbest.portfolio.store.records import Picked

if TYPE_CHECKING:
    from pickbest.portfolio.store.journal import Journal


class Lifetimes:
    """Which open rounds will never be told."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        # Until when tickets are good, by this process's monotonic clock.
        self._good_until: dict[int, float] = {}

    def promise(self, tickets: Iterable[Picked]) -> None:
        """Remember tickets that were made just now."""
        now = time.monotonic()
        self._good_until |= {each.round: now + each.expires - each.at for each in tickets}

    def expired(self, rounds: Iterable[Picked]) -> list[Picked]:
        """The open tickets that have expired; those of processes of this machine never do."""
        now = time.monotonic()
        tickets = [each for each in rounds if each.owner is None or not each.owner.is_here]
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
        for each in rounds:
            if each.owner is not None and each.owner.is_here and each.owner.has_died:
                reasons[each.round] = f"process {each.owner.pid} died before the result"
        return reasons
