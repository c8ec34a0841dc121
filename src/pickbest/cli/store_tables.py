"""What a portfolio's store shows on a terminal: its arms, its rounds, its advice."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group

from pickbest.cli.tables import table
from pickbest.core.text import printable

if TYPE_CHECKING:
    from pickbest.portfolio.run.advise import Advised
    from pickbest.portfolio.store.views import ArmView, RoundView, Status


def status_table(status: Status) -> Group:
    """What `pickbest status` prints."""
    if status.rewards or status.frontier:
        return _names_table(status)
    mean = "-" if status.mean_cost is None else f"{status.mean_cost:.4f}"
    title = (
        f"{status.finished} rounds finished, {status.lost} lost, {status.open} open; "
        f"mean cost {mean}; learner {status.learner}, "
        f"{status.budget} arms per round"
    )
    columns = ("arm", "state", "picked", "won", "failed", "mean cost", "total s", "picked next")
    rows = [
        (arm.name, _marked(arm), arm.picked, arm.won, arm.failed, arm.mean_cost, *took)
        for arm in status.arms
        for took in [(f"{arm.seconds:.1f}", f"{arm.share:.0%}")]
    ]
    return table(title, columns, rows, text_columns=2, narrow=True)


def _names_table(status: Status) -> Group:
    """Arms that are names: quality, price, calls; and fixed choices in hindsight."""
    quality = "-" if status.mean_cost is None else f"{1.0 - status.mean_cost:.4f}"
    price = status.spent / max(status.problems, 1)
    title = (
        f"{status.problems} problems finished, {status.open} tickets open, {status.lost} lost; "
        f"quality {quality}, price {price:.4g} per problem; learner "
        f"{status.learner}, at most {status.budget} calls per problem"
    )
    if status.frontier:
        title += "; fixed: choices in hindsight, estimated"
    rows: list[tuple[object, ...]] = [
        (arm.name, _marked(arm), arm.picked, arm.won,
         None if arm.mean_cost is None else 1.0 - arm.mean_cost,
         f"{arm.spent / arm.picked:.4g}" if arm.picked else "-", f"{arm.share:.0%}")
        for arm in status.arms
    ]  # fmt: skip
    rows += [
        (", ".join(each.arms), "fixed", "", "", 1.0 - each.cost, f"{each.price:.4g}", "")
        for each in status.frontier
    ]
    columns = ("arm", "state", "calls", "best", "quality", "price", "next")
    return table(title, columns, rows, text_columns=2, narrow=True)


def _marked(arm: ArmView) -> str:
    """An arm's state, and what speaks against it."""
    return f"{arm.state}, {arm.wrong} wrong" if arm.wrong else arm.state


def history_table(views: Sequence[RoundView], width: int = 80) -> Group:
    """What `pickbest history` prints: one line per round, also on a narrow terminal."""
    # What is left next to the round, the time, the answer, the cost and the gaps.
    room = max(width - 45, 30)
    rows = [
        (
            view.round,
            _when(view.at),
            _end_of(printable(view.problem), room - 2 * (room // 3)),
            _begin_of(printable(_outcome(view)), room // 3),
            _begin_of(", ".join(printable(a) for a in view.arms if a != view.winner), room // 3),
            _begin_of(("! " if view.contradictions else "") + printable(view.verdict), 8),
            view.cost,
        )
        for view in views
    ]
    columns = ("round", "when", "problem", "winner", "other arms", "answer", "cost")
    return table("Rounds", columns, rows, text_columns=6, narrow=True)


def _end_of(text: str, room: int) -> str:
    return text if len(text) <= room else f"…{text[1 - room :]}"


def _begin_of(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 1]}…"


def _when(at: float) -> str:
    try:
        return time.strftime("%m-%d %H:%M:%S", time.localtime(at))
    except (OverflowError, OSError, ValueError):
        return "-"  # No clock has ever shown this; the journal may say anything.


def _outcome(view: RoundView) -> str:
    lost = f"{view.state}: {view.reason}" if view.reason else ""
    return view.winner or lost or "-"


def advice_table(advised: Advised) -> Group:
    """What `pickbest advise` prints."""
    rows = [
        (
            f"{each.budget}{' (now)' if each.budget == advised.budget else ''}",
            each.realised,
            *(f"{i.mean:.3f} ({i.low:.3f} to {i.high:.3f})" for i in (each.cost, each.processor)),
            ", ".join(each.arms) or "not known from these rounds",
        )
        for each in advised.estimates
    ]
    columns = ("B", "paid", "estimated cost (90%)", "processor time / deadline", "best arms")
    title = (
        f"{advised.advice}. Mean cost per round by budget, from {advised.rounds} rounds in which "
        f"{advised.stopped:.0%} of the runs were stopped"
    )
    return table(title, columns, rows, text_columns=0)
