"""Ask and tell: the ticket that a round is asked with, and what telling it may go wrong with.

One vocabulary for the player and the portfolio: ask() gives a ticket, tell(ticket, costs)
closes it with a result, forget(ticket) without one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pickbest.core.codec import EXCLUDED
from pickbest.core.errors import PickbestError

if TYPE_CHECKING:
    from pickbest.core.arrays import FloatArray

Arm = TypeVar("Arm", bound=Hashable)
Cost = TypeVar("Cost")


@dataclass(frozen=True, slots=True)
class Ticket(Generic[Arm]):
    """A round that was asked for: run these arms on the problem, then tell their costs.

    arms: numbers for a player, names for a portfolio.
    watched: all arms run to their own end or the deadline, whoever answers first.
    until: when each arm is stopped at the latest, as a share of the deadline; arms that are stopped
        later than others start when these are stopped. Empty: all start at once.
    goes_on: what `more` asks.
    """

    round: int
    arms: tuple[Arm, ...]
    problem: str = ""
    watched: bool = True
    until: tuple[float, ...] = ()
    goes_on: Callable[[int], Any] | None = field(
        default=None, repr=False, compare=False, metadata=EXCLUDED
    )

    def more(self) -> Ticket[Arm] | None:
        """Once this ticket is told: a ticket for another call on the same problem, if it is worth
        its price; else None."""
        if self.goes_on is None:
            raise PickbestError("only tickets of an AskTell or a Client can go on")
        ticket: Ticket[Arm] | None = self.goes_on(self.round)
        return ticket


class UnknownRoundError(PickbestError):
    """No such round was asked for."""


class ClosedRoundError(PickbestError):
    """A round is over; nothing was changed."""


class RepeatedTellError(ClosedRoundError):
    """A round was told already; telling it again changed nothing."""


def round_of(ticket: Ticket[Arm] | int) -> int:
    """The round that is meant: tickets and their numbers are taken alike."""
    return ticket.round if isinstance(ticket, Ticket) else ticket


def not_open(number: object, asked: int, lost: Mapping[int, str]) -> PickbestError:
    """The error for a round that cannot be told: why it is not open.

    asked: how many rounds were asked for so far. lost: those closed without a result, and why.
    """
    if isinstance(number, int) and number in lost:
        return ClosedRoundError(
            f"round {number} was closed as lost ({lost[number]}); ask for a new one"
        )
    if isinstance(number, int) and 0 <= number < asked:
        return RepeatedTellError(f"round {number} was told already; nothing was changed")
    return UnknownRoundError(f"unknown round {number!r}: it was never asked for")


def in_order(
    number: int,
    arms: Sequence[Arm],
    costs: Sequence[Cost] | Mapping[Arm, Cost] | FloatArray,
    what: str = "costs",
) -> Sequence[Cost] | FloatArray:
    """The costs of a round in the order of its arms, from a list or from a mapping by arm.

    >>> in_order(0, ("a", "b"), {"b": 0.5, "a": 0.25})
    [0.25, 0.5]
    """
    if not isinstance(costs, list) and isinstance(costs, Mapping):
        if costs.keys() != set(arms):
            raise PickbestError(
                f"round {number} needs the {what} of {', '.join(map(str, arms))}, got those of "
                f"{', '.join(map(str, costs)) or 'no arm'}"
            )
        return [costs[arm] for arm in arms]
    try:
        count = len(costs)
    except TypeError as error:
        raise PickbestError(f"{what} must be a list or a mapping by arm, got {costs!r}") from error
    if count != len(arms):
        raise PickbestError(f"round {number} has {len(arms)} arms, got {count} {what}")
    return costs
