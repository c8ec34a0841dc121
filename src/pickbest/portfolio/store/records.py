"""What a journal holds: five kinds of records, stored as JSON; and which of them can be true.

The state of a portfolio is a fold over these records in the order of the journal, and of
nothing else: no clock, no configuration, no randomness enters the fold. Everything is checked
before it is folded in.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pickbest.core import PickbestError, check_budget, check_count, check_seed
from pickbest.core.codec import SPARSE, decode
from pickbest.portfolio.processes import Owner
from pickbest.portfolio.runs import Run

MOST_ARMS = 10_000
LONGEST_NAME = 200
# 1 / P(arm picked): a smaller probability is none.
LARGEST_WEIGHT = 1e18


class StorageError(PickbestError):
    """The database did not do what was asked, or is away; a commit may have counted or not."""


class NoPortfolioError(PickbestError):
    """There is no database, or no portfolio of that name in it."""


class DamagedError(PickbestError):
    """What is stored is not what can have been written; nothing of it was learned."""


class ReplayError(PickbestError):
    """A replay of the journal does not agree with it."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The first record: what is fixed for the life of a portfolio.

    rounds: how many rounds are expected, None when nobody knows.
    options: of the learner, as `make_learner` takes them; `tuning` may be among them.
    rewards: people tell and see rewards, 1 - cost.
    """

    seed: int
    learner: str
    rounds: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    rewards: bool = field(default=False, metadata=SPARSE)


@dataclass(frozen=True, slots=True)
class Roster:
    """Which arms there are from here on, and how many are picked.

    arms: in the order in which the learner counts them.
    """

    arms: tuple[str, ...]
    budget: int


@dataclass(frozen=True, slots=True)
class Picked:
    """A round was opened: these arms are about to run.

    weights: as in core.Choice, one per arm; None where the learner has none.
    owner: None for tickets that outlive the process that asked (they only expire).
    expires: until when the ticket is good, by the clock of whoever looks.
    watched: all arms run to their own end or the deadline, whoever answers first.
    watch: how likely that was. until: see core.Ticket.
    at: seconds since the epoch.
    features: of the problem, in a list or by name; None where it came without.
    given: the caller chose the arms, not the learner: a replay does not pick them again.
    after: the round that this one goes on with, on the same problem; -1: it is the first.
    called, costs: the arms of the rounds before it, and what they cost.
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
    features: Any = field(default=None, metadata=SPARSE)
    given: bool = field(default=False, metadata=SPARSE)
    after: int = field(default=-1, metadata=SPARSE)
    called: tuple[str, ...] = field(default=(), metadata=SPARSE)
    costs: tuple[float, ...] = field(default=(), metadata=SPARSE)


@dataclass(frozen=True, slots=True)
class Finished:
    """A round was closed with results.

    low, high: what the learner is taught, in the order of the picked arms: between what bounds the
        cost of each lies. They are equal where it is known.
    times: when arms answered or were stopped, as shares of the deadline; see
        `core.Seen`.
    winner: the arm with the best answer; None when no arm gave one.
    answer: the winner's answer where it is JSON, else its repr; of a long one, the beginning.
        output: the file that holds all of it, next to the journal; "": there is none.
    """

    round: int
    runs: tuple[Run, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    times: tuple[float, ...]
    winner: str | None = None
    cost: float | None = None
    answer: Any = None
    at: float = 0.0
    output: str = field(default="", metadata=SPARSE)


@dataclass(frozen=True, slots=True)
class Lost:
    """A round was closed without results; it is never learned."""

    round: int
    reason: str
    at: float = 0.0


Record = Opened | Roster | Picked | Finished | Lost


@dataclass(frozen=True, slots=True)
class Entry:
    """A record at its place. Positions count from 1, without gaps."""

    position: int
    record: Record


_RECORDS: tuple[type[Record], ...] = (Opened, Roster, Picked, Finished, Lost)
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


# What can have been written --------------------------------------------------------------------


def check_opened(settings: Opened, trusted: Opened | None) -> None:
    """A seed, a number of rounds, and a learner that needs no module of the journal's choice."""
    check_seed(settings.seed)
    if settings.rounds is not None:
        check_count("rounds", settings.rounds)
    if settings != trusted and (named := _module_in((settings.learner, settings.options))):
        raise PickbestError(
            f"the journal names the learner {named!r}, a class of a module; a journal is data, "
            "and nothing that it names is imported: give the same learner in code or in a "
            "portfolio.toml"
        )


def check_roster(roster: Roster) -> Roster:
    """Arms with names of their own, and enough of them for the budget."""
    if len(roster.arms) > MOST_ARMS:
        raise PickbestError(f"a portfolio has at most {MOST_ARMS} arms, got {len(roster.arms)}")
    if len(set(roster.arms)) < len(roster.arms):
        raise PickbestError(f"arms must have different names, got {', '.join(roster.arms)}")
    for arm in roster.arms:
        if not isinstance(arm, str) or not 1 <= len(arm) <= LONGEST_NAME:
            raise PickbestError(
                f"an arm's name must be text of 1 to {LONGEST_NAME} characters, got {arm!r}"
            )
    if not roster.arms:
        raise PickbestError("a portfolio needs at least one arm, got none")
    check_budget(roster.budget, len(roster.arms))
    return roster


def check_picked(picked: Picked, present: Sequence[str], budget: int, fewer: bool = False) -> None:
    """As many different arms as the budget says, with a weight each.

    fewer: the budget is the most, over all rounds of a problem. Where arms run in stages, it is
    the most of those that run to the end; at most one runs before them.
    """
    arms, until = (*picked.called, *picked.arms), picked.until
    first = sum(end < 1.0 for end in until)
    count = len(arms) - first
    at_most = bool(until) or (fewer and not picked.given)
    if len(set(arms)) < len(arms) or not (1 <= count <= budget if at_most else count == budget):
        wanted = "at most " if at_most else ""
        raise PickbestError(
            f"round {picked.round} must have {wanted}{budget} different arms, got {arms}"
        )
    if until and (len(until) != len(arms) or first > 1 or list(until) != sorted(until)):
        raise PickbestError(f"round {picked.round} cannot run {arms} until {until}")
    for arm in picked.arms:
        if arm not in present:
            raise PickbestError(f"round {picked.round} picked the arm {arm!r}, which is not there")
    shares = (*until, *picked.costs, picked.watch)
    if not _within(shares, 0.0, 1.0) or len(picked.costs) != len(picked.called):
        raise PickbestError(f"round {picked.round} must have shares between 0 and 1, got {shares}")
    if picked.watched and picked.watch == 0.0:
        raise PickbestError(f"round {picked.round} is watched, which had no chance")
    check_weights(picked)


def check_weights(picked: Picked) -> None:
    """One for each arm, where there are any."""
    weights, count = picked.weights, len(picked.arms)
    if weights is not None and not (
        len(weights) == count and _within(weights, 0.0, LARGEST_WEIGHT)
    ):
        raise PickbestError(
            f"round {picked.round} must have {count} finite weights of at least 0, got {weights}"
        )


def check_finished(result: Finished, picked: Picked) -> None:
    """Runs of the picked arms, and what bounds the cost of each, in [0, 1]."""
    if tuple(run.arm for run in result.runs) != picked.arms:
        raise PickbestError(
            f"round {picked.round} picked {', '.join(picked.arms)}; told were "
            f"{', '.join(run.arm for run in result.runs)}"
        )
    check_runs(result.runs, result.winner, result.cost)
    told = (result.low, result.high, result.times)
    fits = all(len(each) == len(picked.arms) and _within(each, 0.0, 1.0) for each in told)
    if not fits or any(low > high for low, high in zip(result.low, result.high, strict=True)):
        raise PickbestError(
            f"round {picked.round} must teach {len(picked.arms)} intervals and times between 0 "
            f"and 1, got {result.low}, {result.high} and {result.times}"
        )


def check_runs(runs: Sequence[Run], winner: str | None, cost: float | None) -> None:
    """Costs in [0, 1], times of at least 0, and a winner that took part."""
    known = [run.cost for run in runs if run.cost is not None]
    if not _within(known, 0.0, 1.0) or (cost is not None and not 0.0 <= cost <= 1.0):
        raise PickbestError(f"costs must be between 0 and 1, got {cost!r} and {known}")
    if not _within([run.price or 0.0 for run in runs], 0.0, 1e12):
        raise PickbestError(f"prices must be at least 0, got {[run.price for run in runs]}")
    if not _within([run.seconds for run in runs], 0.0, 1e12):
        raise PickbestError(f"seconds must be at least 0, got {[run.seconds for run in runs]}")
    if winner is not None and all(run.arm != winner for run in runs):
        raise PickbestError(f"the winner {winner!r} did not take part")


def _within(numbers: Iterable[float], low: float, high: float) -> bool:
    return all(math.isfinite(number) and low <= number <= high for number in numbers)


def _module_in(value: Any) -> str | None:
    """The first name in settings that only a module could resolve."""
    if isinstance(value, str):
        # Not before it is needed: the catalog loads NumPy and Numba, and `solve` needs neither.
        from pickbest.catalog import learner_names
        from pickbest.catalog.spec import Spec

        try:
            spec = Spec.parse(value)
        except PickbestError:
            return value if ":" in value else None
        if ":" in spec.name and spec.name not in learner_names():
            return spec.name
        return _module_in(tuple(spec.options.values()))
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, list | tuple):
        return next((found for each in value if (found := _module_in(each))), None)
    return None
