"""Check a portfolio: the journal, replayed from its beginning, must give what is in memory."""

from __future__ import annotations

from collections.abc import Sequence

from pickbest.core import PickbestError
from pickbest.core.states import same_state
from pickbest.portfolio.journal.protocol import Entry
from pickbest.portfolio.journal.records import Picked
from pickbest.portfolio.state.portfolio_state import PortfolioState


class ReplayError(PickbestError):
    """A replay of the journal does not agree with it."""


def replayed(entries: Sequence[Entry], live: PortfolioState | None = None) -> PortfolioState:
    """Fold the journal again, picking every round anew from the records before it.

    Raises ReplayError where a pick, its weights or the final state differ in any bit from the
    journal or from `live`.
    """
    again = PortfolioState()
    for entry in entries:
        record = entry.record
        if isinstance(record, Picked):
            arms, weights = again.live.pick(record.round)
            if (arms, weights) != (record.arms, record.weights):
                raise ReplayError(
                    f"round {record.round}: the journal says {record.arms} {record.weights}, "
                    f"a replay picks {arms} {weights}"
                )
        again.apply(entry)
    if live is not None and not same_fold(again, live):
        raise ReplayError("the state in memory differs from a replay of the journal")
    return again


def same_fold(first: PortfolioState, second: PortfolioState) -> bool:
    """Whether two folds are equal bit for bit."""
    if first.roster is None or second.roster is None:
        return first.position == second.position and first.roster is second.roster
    return (
        first.position == second.position
        and first.next_round == second.next_round
        and first.open == second.open
        and first.lost == second.lost
        and first.tallies == second.tallies
        and same_state(first.live.state, second.live.state)
    )
