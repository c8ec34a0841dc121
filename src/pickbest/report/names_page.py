"""`pickbest report` where arms are names: quality, price and calls; no processes, no seconds."""

from __future__ import annotations

from pickbest._version import __version__
from pickbest.core import PickbestError
from pickbest.core.text import printable
from pickbest.portfolio.store.state import Course
from pickbest.portfolio.store.views import Status
from pickbest.report.document import (
    Block,
    Chapter,
    Column,
    Figure,
    Report,
    Section,
    Series,
    Table,
    Text,
    Verdict,
    alike,
)

# Points of the course that a mean is taken over.
WINDOW = 16


def names_report(status: Status, course: Course, name: str, command: str) -> Report:
    """The whole page. name: what the portfolio is called."""
    if status.mean_cost is None:
        raise PickbestError("no problem is finished: a report needs some")
    calls = sum(arm.picked for arm in status.arms)
    facts = (
        ("pickbest", __version__),
        ("problems", f"{status.problems} finished, {status.open} open, {status.lost} lost"),
        ("calls", f"{calls}, {calls / status.problems:.2f} per problem, at most {status.budget}"),
        ("quality", f"{1.0 - status.mean_cost:.4f} per problem"),
        ("price", f"{status.spent / status.problems:.4g} per problem"),
    )
    chapters = [
        Chapter("arms", "Arms", "", [_arms(status)]),
        Chapter("money", "Quality against money", "", _money(status)),
        Chapter("time", "Over time", "", [_over_time(course)]),
    ]
    intro = f"What **{printable(name)}** called, what that was worth, and what it was charged."
    return Report("A portfolio of names at work", intro, facts, chapters, command)


def _arms(status: Status) -> Section:
    rows: list[list[str | float | int | None]] = [
        [printable(arm.name), arm.state, arm.picked, arm.won,
         None if arm.mean_cost is None else 1.0 - arm.mean_cost,
         arm.spent / arm.picked if arm.picked else None, f"{arm.share:.0%}"]
        for arm in sorted(status.arms, key=lambda arm: -arm.picked)
    ]  # fmt: skip
    columns = [
        *alike("arm", "state", "calls", "best answers"),
        Column("quality", 3),
        Column("price per call", 5),
        Column("called next"),
    ]
    note = "Quality over the problems on which the arm was called, which may be the hard ones."
    return Section("arms", "Every arm", [Table("arms", "Every arm", columns, rows, note)])


def _money(status: Status) -> list[Section]:
    if status.mean_cost is None or not status.frontier:
        return []
    ours = 1.0 - status.mean_cost, status.spent / status.problems
    trade = status.trade or 0.0
    best = min(status.frontier, key=lambda each: each.cost + trade * each.price)
    paid = status.mean_cost + trade * ours[1]
    fixed = best.cost + trade * best.price
    told = (
        f"At a trade of {trade:g}, {paid:.4g} was paid per problem. The best fixed choice, "
        f"{printable(' with '.join(best.arms))}, is estimated at {fixed:.4g}."
    )
    rows: list[list[str | float]] = [["as called (measured)", *ours, paid]]
    rows += [
        [printable(", ".join(each.arms)), 1.0 - each.cost, each.price,
         each.cost + trade * each.price]
        for each in status.frontier
    ]  # fmt: skip
    columns = [Column("calls"), Column("quality", 3), Column("price", 5), Column("paid", 4)]
    note = (
        "The same arms on every problem, in hindsight: those that no other choice beats in both "
        "quality and price, as the learner estimates them."
    )
    x, y = ([each.price for each in status.frontier], [1.0 - each.cost for each in status.frontier])
    figure = Figure(
        "money",
        "Quality against the price per problem: fixed choices in hindsight, and what was called.",
        "Mean quality against mean price, for the frontier of fixed choices and for the portfolio",
        "price per problem",
        "quality",
        [
            Series("fixed choices (estimated)", x, y, "best_subset", line="dashed"),
            Series("as called", [ours[1]], [ours[0]], "fpml", line="none"),
        ],
    )
    blocks: list[Block] = [
        Verdict("Compared with fixed choices", told),
        figure,
        Table("money", "Quality and price", columns, rows, note),
    ]
    return [Section("money", "Quality against money", blocks)]


def _over_time(course: Course) -> Section:
    points = [(0, 0.0, 0.0, 0.0), *course.points]
    x, quality, price = [], [], []
    for place, point in enumerate(points[1:], 1):
        before = points[max(0, place - WINDOW)]
        count = point[0] - before[0]
        x.append(float(point[0]))
        quality.append(1.0 - (point[2] - before[2]) / max(count, 1))
        price.append((point[3] - before[3]) / max(count, 1))
    text = "Means over a moving window, in the order in which problems were finished."
    figures = [
        Figure(name, text, f"{name} per problem over a moving window", "problems finished", name,
               [Series("portfolio", x, values, "fpml", marker="")])
        for name, values in (("quality", quality), ("price", price))
        if any(values)
    ]  # fmt: skip
    return Section("over-time", "Quality and price over time", [Text(text), *figures])
