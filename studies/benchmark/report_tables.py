"""The tables of the page, as data, and all cells as CSV."""

import math
import re
from collections.abc import Sequence

import numpy as np

from pickbest.core.text import csv_text
from pickbest.report.document import Cell as CellValue, Column, Table, alike
from pickbest.simulation.statistics import standard_error
from studies.benchmark.comparisons import (
    Estimate,
    complete_learners,
    contrasts,
    mean_share_intervals,
)
from studies.benchmark.environments import GROUPS, REAL, SHUFFLED
from studies.benchmark.lineup import YARDSTICK
from studies.benchmark.shares import LEAST_GAP, Cell, mean_shares

COLUMNS = (
    "environment", "group", "family", "arms", "rounds", "budget", "learner", "reward",
    "standard_error", "random", "best", "best_arm", "share", "share_standard_error",
    "z_against_yardstick", "seconds",
)  # fmt: skip


def labels_of(cells: Sequence[Cell]) -> list[str]:
    """The learners, in the order of the line-up."""
    return list(dict.fromkeys(cell.learner for cell in cells))


def slug(name: str) -> str:
    """A name as part of an address.

    >>> slug("CPMP-2015 shuffled")
    'cpmp-2015-shuffled'
    """
    return re.sub(r"[^\w-]+", "-", name.lower())


def judged(cells: Sequence[Cell]) -> list[Cell]:
    """The cells of real environments; all where none is real."""
    return [cell for cell in cells if cell.place.group == REAL] or list(cells)


def scope(cells: Sequence[Cell]) -> str:
    """What `judged` cells are, in words."""
    real = any(cell.place.group == REAL for cell in cells)
    return "real environments" if real else "all environments"


def headline(cells: Sequence[Cell]) -> Table:
    """Each learner that plays everywhere: mean shares and intervals; the best first."""
    shares = mean_share_intervals(judged(cells))
    rows: list[list[CellValue]] = []
    for label in sorted(complete_learners(cells), key=lambda label: -_or_least(shares.get(label))):
        share = shares.get(label)
        error = _error([cell for cell in judged(cells) if cell.learner == label])
        everywhere = _mean([cell for cell in cells if cell.learner == label])
        numbers = (share.mean, error, share.low, share.high) if share else (None,) * 4
        rows.append([label, *numbers, everywhere])
    columns = [
        Column("learner"),
        *alike("mean", "SE", "low", "high", digits=3, group=f"share of the gap, {scope(cells)}"),
        Column("share, all environments", 3),
    ]
    return Table(
        "headline",
        "Learners that play every budget, by mean share of the gap",
        columns,
        rows,
        "A share is (reward − random) / (best − random): 0 is B distinct arms at random, 1 the "
        "best fixed subset in hindsight. A recorded table counts once: mean of its own order and "
        f"shuffled, over budgets. Cells with a gap below {LEAST_GAP} and adversaries that react "
        "to the player (each learner meets other costs there) have no share. SE: over "
        "replicates, the environments given. Low and high: 95% bootstrap over environments.",
    )


def _or_least(share: Estimate | None) -> float:
    return -math.inf if share is None else share.mean


def by_budget(cells: Sequence[Cell]) -> Table:
    """The mean share at each budget, and in recorded order and shuffled."""
    cells = judged(cells)
    budgets = sorted({cell.budget for cell in cells})
    rows: list[list[CellValue]] = []
    for label in labels_of(cells):
        own = [cell for cell in cells if cell.learner == label]
        whole = {cell.budget for cell in own} == set(budgets)
        in_order = [cell for cell in own if not cell.place.name.endswith(SHUFFLED)]
        shuffled = [cell for cell in own if cell.place.name.endswith(SHUFFLED)]
        at_budget = [_mean([cell for cell in own if cell.budget == budget]) for budget in budgets]
        orders = (_mean(in_order), _mean(shuffled)) if whole else (None, None)
        rows.append([label, *at_budget, *orders])
    columns = [
        Column("learner"),
        *alike(*(f"B = {b}" for b in budgets), digits=3, group="mean share at budget"),
        *alike("recorded order", "shuffled", digits=3),
    ]
    title = f"Mean share of the gap over {scope(cells)}"
    return Table("share-by-budget", title, columns, rows)


def by_family(cells: Sequence[Cell]) -> Table:
    """The mean share in each family of environments, over budgets; learners as in the headline."""
    families = dict.fromkeys(cell.place.family for cell in cells if cell.shares is not None)
    rows: list[list[CellValue]] = []
    for label in (str(row[0]) for row in headline(cells).rows):
        own = [cell for cell in cells if cell.learner == label]
        shares = [_mean([cell for cell in own if cell.place.family == f]) for f in families]
        rows.append([label, *shares])
    columns = [Column("learner"), *(Column(family, 2) for family in families)]
    return Table("share-by-environment", "Mean share of the gap over budgets", columns, rows)


def standings(cells: Sequence[Cell], pairs: Sequence[tuple[str, str]], name: str) -> Table:
    """For each pair: in how many cells of each group the first is worse and better."""
    groups = [group for group in GROUPS if any(cell.place.group == group for cell in cells)]
    rows: list[list[CellValue]] = []
    for first, second in pairs:
        found = contrasts(cells, first, second)
        row: list[CellValue] = [first, second]
        for group in groups:
            own = [each for each in found if each.place.group == group]
            row += [sum(e.worse for e in own), sum(e.better for e in own), len(own)]
        row.append(min((each.difference for each in found if each.worse), default=None))
        rows.append(row)
    columns = alike("learner", "against")
    for group in groups:
        columns += alike("worse", "better", "cells", group=group)
    columns.append(Column("largest loss", 3))
    return Table(name, "Cells in which a learner is significantly worse or better", columns, rows)


def _mean(cells: Sequence[Cell]) -> float | None:
    shares = mean_shares(cells)
    return None if shares is None else float(shares.mean())


def _error(cells: Sequence[Cell]) -> float | None:
    shares = mean_shares(cells)
    return None if shares is None else standard_error(shares)


def cells_csv(cells: Sequence[Cell]) -> str:
    """Every cell with all digits."""
    rows: list[Sequence[object]] = [COLUMNS]
    against = {
        (each.place.name, each.budget, each.first): each.z
        for label in labels_of(cells)
        for each in contrasts(cells, label, YARDSTICK)
    }
    for cell in cells:
        place, result = cell.place, cell.result
        has_best = bool(result.best)
        rows.append(
            [
                place.name, place.group, place.family, place.environment.n_arms,
                place.environment.rounds, cell.budget, cell.learner, cell.reward,
                cell.standard_error, np.mean(result.random) if has_best else "",
                np.mean(result.best) if has_best else "", np.mean(result.best_arm),
                "" if cell.share is None else cell.share,
                "" if cell.shares is None else standard_error(cell.shares),
                against.get((place.name, cell.budget, cell.learner), ""),
                round(result.seconds, 3),
            ]
        )  # fmt: skip
    return csv_text(rows)
