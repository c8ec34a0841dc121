"""Check a portfolio: the journal, replayed from its beginning, must give what is known of it."""

from collections.abc import Iterable, Sequence

from pickbest.core import PickbestError
from pickbest.portfolio.journal.protocol import Entry
from pickbest.portfolio.journal.records import Opened, Picked
from pickbest.portfolio.state.portfolio_state import PortfolioState
from pickbest.portfolio.state.snapshots import digest_of


class ReplayError(PickbestError):
    """A replay of the journal does not agree with it."""


def replayed(
    entries: Iterable[Entry],
    known: Sequence[tuple[int, str, str]] = (),
    trusted: Opened | None = None,
) -> PortfolioState:
    """Fold the journal again, picking every round anew from the records before it.

    known: positions, digests of the fold there, and where they come from ("the snapshot").
    Raises ReplayError where a pick, its weights or a digest differs in any bit.
    """
    again = PortfolioState(trusted)
    for entry in entries:
        record = entry.record
        if isinstance(record, Picked):
            picked = again.live.pick(record.round, record.features)
            stored = (record.arms, record.weights, record.until)
            if picked != stored:
                raise ReplayError(
                    f"round {record.round}: the journal says {stored}, a replay picks {picked}"
                )
        again.apply(entry)
        for position, digest, source in known:
            if position == entry.position and digest != digest_of(again):
                raise ReplayError(
                    f"{source} differs from a replay of the journal up to record {position}"
                )
    return again
