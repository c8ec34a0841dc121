"""A portfolio as people want to see it: its arms, and its rounds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from pickbest.core.codec import SPARSE
from pickbest.portfolio.runs import Run, contradictions
from pickbest.portfolio.store.records import Entry, Finished, Lost, Picked
from pickbest.portfolio.store.state import PortfolioState, Tally


@dataclass(frozen=True)
class ArmView:
    """One arm so far.

    mean_cost: over the rounds in which its cost is known; None before the first.
    state: active or removed. share: how likely it is picked next; 0 for a removed arm.
    spent: prices of its calls, summed. wrong: how many of its answers were refuted.
    """

    name: str
    state: str
    picked: int
    won: int
    failed: int
    mean_cost: float | None
    seconds: float
    share: float
    spent: float = field(default=0.0, metadata=SPARSE)
    wrong: int = field(default=0, metadata=SPARSE)


@dataclass(frozen=True)
class FixedChoice:
    """The same arms on every problem, as the learner estimates it: cost and price per problem."""

    arms: tuple[str, ...]
    cost: float
    price: float


@dataclass(frozen=True, repr=False)
class Status:
    """A portfolio now. Rounds asked = finished + lost + open.

    problems: how many were finished, where one may take several rounds. rewards: people tell and
    see rewards, 1 - cost. spent: prices of all calls. trade: what a price of 1 weighs against a
    cost. frontier: the best fixed choices in hindsight, where calls have prices.
    """

    learner: str
    seed: int
    budget: int
    asked: int
    finished: int
    lost: int
    open: int
    learned: int
    mean_cost: float | None
    arms: tuple[ArmView, ...]
    problems: int = 0
    rewards: bool = False
    spent: float = 0.0
    trade: float | None = None
    frontier: tuple[FixedChoice, ...] = field(default=(), metadata=SPARSE)

    def __repr__(self) -> str:
        cost = "" if self.mean_cost is None else f", mean cost {self.mean_cost:.4g}"
        lines = [
            f"{self.finished} rounds finished, {self.lost} lost, {self.open} open{cost}",
            f"learner {self.learner}, {self.budget} arms per round",
            *(
                f"  {arm.name}: picked {arm.picked}, won {arm.won}, failed {arm.failed}, "
                f"wrong {arm.wrong}, picked next {arm.share:.0%}"
                for arm in self.arms
            ),
        ]
        return "\n".join(lines)


@dataclass(frozen=True)
class RoundView:
    """One round. state: open, finished or lost; reason: why it was lost.

    output: the file next to the journal that holds all of a long answer.
    after: the round that this one goes on with, on the same problem.
    """

    round: int
    problem: str
    arms: tuple[str, ...]
    state: str
    at: float
    winner: str | None = None
    cost: float | None = None
    runs: tuple[Run, ...] = ()
    reason: str = ""
    learned: bool = False
    answer: Any = None
    after: int = field(default=-1, metadata=SPARSE)
    output: str = field(default="", metadata=SPARSE)

    @property
    def verdict(self) -> str:
        """The winner's verdict."""
        return next((run.verdict for run in self.runs if run.arm == self.winner), "")

    @property
    def contradictions(self) -> tuple[str, ...]:
        """Which of its arms cannot both be right, in words."""
        return contradictions(self.problem, self.runs)


def overview(known: PortfolioState) -> Status:
    """The status from the fold."""
    shares = known.live.shares() if known.roster is not None else {}
    roster, settings = known.roster, known.settings
    problems = known.finished - known.further
    return Status(
        learner=settings.learner if settings else "",
        seed=settings.seed if settings else 0,
        budget=roster.budget if roster else 0,
        asked=known.next_round,
        **{name: getattr(known, name) for name in ("finished", "lost", "learned")},
        open=len(known.open),
        mean_cost=known.paid / problems if problems else None,
        arms=tuple(
            _arm_view(name, tally, known, shares.get(name, 0.0))
            for name, tally in known.tallies.items()
        ),
        problems=problems,
        rewards=settings.rewards if settings else False,
        spent=known.spent,
        trade=settings.options.get("trade") if settings else None,
        frontier=tuple(FixedChoice(*each) for each in known.live.frontier()) if roster else (),
    )


def _arm_view(name: str, tally: Tally, known: PortfolioState, share: float) -> ArmView:
    state = "active" if known.roster is not None and name in known.roster.arms else "removed"
    mean = tally.total_cost / tally.known_costs if tally.known_costs else None
    return ArmView(
        *(name, state, tally.picked, tally.won, tally.failed, mean, tally.seconds, share),
        *(tally.spent, tally.wrong),
    )


def rounds_of(entries: Iterable[Entry]) -> list[RoundView]:
    """The rounds that are opened in these entries, in their order."""
    views: dict[int, RoundView] = {}
    for entry in entries:
        match entry.record:
            case Picked() as it:
                view = RoundView(it.round, it.problem, it.arms, "open", it.at, after=it.after)
                views[it.round] = view
            case Lost() as it if it.round in views:
                views[it.round] = replace(views[it.round], state="lost", reason=it.reason)
            case Finished() as it if it.round in views:
                views[it.round] = replace(
                    views[it.round],
                    state="finished",
                    winner=it.winner,
                    cost=it.cost,
                    runs=it.runs,
                    learned=True,
                    answer=it.answer,
                    output=it.output,
                )
    return list(views.values())
