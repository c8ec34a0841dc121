"""Learners with features beside each other, the best fixed sets, and the virtual best."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from pickbest.core import FloatArray
from pickbest.environments import Shuffled, Table
from pickbest.report.document import Column, Section, Table as Printed, Text
from studies.benchmark.comparisons import EQUAL, Estimate, mean_share_intervals
from studies.benchmark.environments import NamedEnvironment
from studies.benchmark.lineup import INFORMED
from studies.benchmark.shares import Cell

NOTE = (
    "Shares of the gap; every table counts once (mean of both orders), intervals are 95% "
    "(bootstrap over tables). The last columns: in how many of the tables with features, shuffled, "
    "the share exceeds 1, the best fixed set in hindsight; and at B = 1 the cost paid over that of "
    "the virtual best, the median over tables (for PAR10 costs: rePAR10)."
)


def peers_section(cells: Sequence[Cell]) -> Section | None:
    """Of cells in which `auto` plays with features; None where it does not."""
    cells = [*cells, *_references(cells)]
    labels = list(dict.fromkeys(cell.learner for cell in cells))
    if INFORMED not in labels:
        return None
    budgets = sorted({cell.budget for cell in cells})
    by_budget = {b: mean_share_intervals([c for c in cells if c.budget == b]) for b in budgets}
    rows: list[list[str | float]] = []
    for label in labels:
        own = [cell for cell in cells if cell.learner == label]
        shares = [_interval(by_budget[budget].get(label)) for budget in budgets]
        above = [f"{_above(own, budget)}" for budget in budgets]
        rows.append([label, *shares, " / ".join(above), _relative_cost(own)])
    rows.sort(key=lambda row: str(row[1]), reverse=True)
    columns = [Column("learner"), *(Column(f"B = {budget}") for budget in budgets)]
    columns += [Column(f"above 1, B = {budgets[0]}…"), Column("cost / virtual best", 2)]
    return Section("peers", "Against peers", [Text(NOTE), Printed("peers", "Peers", columns, rows)])


def _references(cells: Sequence[Cell]) -> Iterator[Cell]:
    """What one arm in hindsight has, and the best arm of each round."""
    for cell in cells:
        if cell.learner == INFORMED:
            costs = _costs(cell.place)
            for label, paid in (
                ("single best arm", costs.mean(axis=0).min()),
                ("virtual best", costs.min(axis=1).mean()),
            ):
                rewards = (1.0 - float(paid),)
                yield replace(cell, learner=label, result=replace(cell.result, rewards=rewards))


def _interval(estimate: Estimate | None) -> str:
    if estimate is None:
        return "–"
    return f"{estimate.mean:.3f} ({estimate.low:.3f} to {estimate.high:.3f})"


def _above(cells: Sequence[Cell], budget: int) -> int:
    return sum(
        cell.share is not None and cell.share > 1.0 + EQUAL
        for cell in cells
        if cell.budget == budget and cell.place.informed is not None and _shuffled(cell.place)
    )


def _relative_cost(cells: Sequence[Cell]) -> float:
    """The median over shuffled tables with features."""
    ratios = [
        (1.0 - cell.reward) / max(float(_costs(cell.place).min(axis=1).mean()), 1e-9)
        for cell in cells
        if cell.budget == 1 and cell.place.informed is not None and _shuffled(cell.place)
    ]
    return float(np.median(ratios)) if ratios else float("nan")


def _shuffled(place: NamedEnvironment) -> bool:
    return isinstance(place.environment, Shuffled)


def _costs(place: NamedEnvironment) -> FloatArray:
    played = place.environment
    table = played.inner if isinstance(played, Shuffled) else played
    return table.costs_table if isinstance(table, Table) else np.ones((1, 1))
