"""What a journal holds: six kinds of records, stored as JSON.

The state of a portfolio is a fold over these records in the order of the journal, and of
nothing else: no clock, no configuration, no randomness enters the fold.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pickbest.core import PickbestError
from pickbest.core.codec import SPARSE, decode
from pickbest.portfolio.runs import Run


class DamagedError(PickbestError):
    """What is stored is not what can have been written; nothing of it was learned."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The first record: what is fixed for the life of a portfolio.

    rounds: how many rounds are expected, None when nobody knows.
    options: of the learner, as `make_learner` takes them; `tuning` may be among them.
    """

    seed: int
    learner: str
    rounds: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Roster:
    """Which arms there are from here on, and how many are picked.

    arms: all arms that are not removed, in the order in which the learner counts them.
    paused: those of them that are not picked for now.
    """

    arms: tuple[str, ...]
    budget: int
    paused: tuple[str, ...] = ()

    @property
    def active(self) -> tuple[str, ...]:
        """The arms that may be picked."""
        return tuple(arm for arm in self.arms if arm not in self.paused)


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that asked for a round, well enough described to see whether it lives.

    place: machine, boot and process namespace; pid and started identify a process there.
    """

    place: str
    pid: int
    started: str


@dataclass(frozen=True, slots=True)
class Picked:
    """A round was opened: these arms are about to run.

    weights: as in core.Choice, one per arm; None where the learner has none.
    owner: None for tickets that outlive the process that asked (they only expire).
    expires: `at`, and for how many seconds the ticket is good; only the difference counts,
        measured by one clock (see `leases`).
    watched: all arms run to their own end or the deadline, whoever answers first.
    watch: how likely that was. until: see core.Ticket.
    at: seconds since the epoch.
    features: of the problem, by name; None where it came without.
    given: the caller chose the arms, not the learner: a replay does not pick them again.
    """

    round: int
    arms: tuple[str, ...]
    weights: tuple[float, ...] | None
    expires: float
    owner: Owner | None = None
    problem: str = ""
    watched: bool = True
    at: float = 0.0
    watch: float = field(default=1.0, metadata=SPARSE)
    until: tuple[float, ...] = field(default=(), metadata=SPARSE)
    features: Mapping[str, Any] | None = field(default=None, metadata=SPARSE)
    given: bool = field(default=False, metadata=SPARSE)


@dataclass(frozen=True, slots=True)
class Finished:
    """A round was closed with results.

    learned: the costs that the learner is taught, in the order of the picked arms; None when
        the round teaches nothing (costs are unknown and nothing stands in for them).
    scale: factor on the weights (1 / probability that the round was watched).
    highest, times: where intervals are taught, their upper ends (`learned` are the lower ones),
        and when arms answered or were stopped, see `core.intervals.Intervals`; else empty.
    winner: the arm with the best answer; None when no arm gave one.
    answer: the winner's answer where it is JSON, else its repr; of a long one, the beginning and
        the end. output: the file that holds all of it, beside the journal; "": there is none.
    """

    round: int
    runs: tuple[Run, ...]
    learned: tuple[float, ...] | None
    scale: float = 1.0
    winner: str | None = None
    cost: float | None = None
    answer: Any = None
    at: float = 0.0
    highest: tuple[float, ...] = field(default=(), metadata=SPARSE)
    times: tuple[float, ...] = field(default=(), metadata=SPARSE)
    output: str = field(default="", metadata=SPARSE)


@dataclass(frozen=True, slots=True)
class Lost:
    """A round was closed without results; it is never learned."""

    round: int
    reason: str
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class Late:
    """The result of a round that was closed as lost before: kept for people, never learned."""

    round: int
    runs: tuple[Run, ...]
    winner: str | None = None
    cost: float | None = None
    answer: Any = None
    at: float = 0.0


RoundRecord = Picked | Finished | Lost | Late
Record = Opened | Roster | RoundRecord

_RECORDS: tuple[type[Record], ...] = (Opened, Roster, Picked, Finished, Lost, Late)
KINDS = {kind.__name__.lower(): kind for kind in _RECORDS}


def kind_of(record: Record) -> str:
    """The name of a record's kind.

    >>> kind_of(Lost(round=3, reason="the process died"))
    'lost'
    """
    return type(record).__name__.lower()


def decode_record(kind: str, body: str) -> Record:
    """The record of a kind that `codec.encode` wrote.

    >>> decode_record("lost", '{"round":3,"reason":"gone"}')
    Lost(round=3, reason='gone', at=0.0)
    """
    if kind not in KINDS:
        raise DamagedError(f"the journal holds a record of unknown kind {kind!r}")
    build: Callable[..., Record] = KINDS[kind]
    try:
        return decode(build, body)
    except (ValueError, TypeError) as error:
        shown = body if len(body) <= 200 else f"{body[:200]}…"
        raise DamagedError(
            f"the journal is damaged: a {kind} record reads {shown!r} ({error})"
        ) from error
