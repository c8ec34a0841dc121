"""Tables of portfolios for people who read a terminal."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pickbest.portfolio.advise import Advised
from pickbest.portfolio.state.views import RoundView, Status


def show(table: Table) -> None:
    """Print a table."""
    Console().print(table)


def status_table(status: Status) -> Table:
    """What `pickbest status` prints."""
    title = (
        f"{status.finished} rounds finished, {status.lost} lost, {status.open} open; "
        f"mean cost {_number(status.mean_cost)}; learner {status.learner}, "
        f"{status.budget} arms a round"
    )
    columns = ("arm", "state", "picked", "won", "failed", "mean cost", "seconds", "picked next")
    rows = [
        (
            arm.name,
            arm.state,
            str(arm.picked),
            str(arm.won),
            str(arm.failed),
            _number(arm.mean_cost),
            f"{arm.seconds:.1f}",
            f"{arm.share:.0%}",
        )
        for arm in status.arms
    ]
    return _table(title, columns, rows, text_columns=2)


def history_table(views: Sequence[RoundView]) -> Table:
    """What `pickbest history` prints."""
    rows = [
        (
            str(view.round),
            time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(view.at)),
            view.problem,
            ", ".join(view.arms),
            view.winner or (f"{view.state}: {view.reason}" if view.reason else "-"),
            _number(view.cost),
        )
        for view in views
    ]
    columns = ("round", "when", "problem", "arms", "winner", "cost")
    return _table("Rounds", columns, rows, text_columns=5)


def advice_tables(advised: Advised) -> Iterator[Table]:
    """What `pickbest advise` prints."""
    labels = {
        "seen": "every cost was seen",
        "independent": "unseen costs drawn independently (optimistic)",
        "alike": "unseen costs as if problems were equally hard for all arms (pessimistic)",
    }
    for way, rows in advised.fills.items():
        title = (
            f"Mean cost a round by budget, {advised.rounds} rounds, {advised.seen:.0%} of the "
            f"costs seen: {labels[way]}"
        )
        columns = ("B", "best subset", "top B", "learner", "Theorem 2", "best arms in hindsight")
        cells = [
            (
                f"{row.budget}{' (now)' if row.budget == advised.budget else ''}",
                _number(row.best_subset),
                _number(row.top),
                _number(row.learner),
                f"≤ {row.promise:.4f}",
                ", ".join(row.best_arms),
            )
            for row in rows
        ]
        yield _table(title, columns, cells, text_columns=0)


def _table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int
) -> Table:
    table = Table(title=title, title_justify="left", header_style="bold")
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place < text_columns else "right")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
