"""The report about a benchmark: one page, a short summary, and all cells as CSV."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pickbest._version import __version__
from pickbest.core.savefile import write_atomically
from pickbest.core.text import csv_text
from pickbest.report import html
from pickbest.report.document import (
    Block,
    Cell as CellValue,
    Chapter,
    Column,
    Figure,
    Report,
    Section,
    Series,
    Table,
    Verdict,
    alike,
)
from pickbest.simulation.statistics import standard_error
from studies.benchmark.comparisons import (
    SIGNIFICANT,
    complete_learners,
    contrasts,
    mean_share_intervals,
)
from studies.benchmark.environments import REAL
from studies.benchmark.lineup import AUTO, YARDSTICK
from studies.benchmark.run_cells import BenchmarkPlan
from studies.benchmark.shares import LEAST_GAP, Cell, mean_shares

CELLS = "cells.csv"
COLUMNS = (
    "environment", "group", "family", "arms", "rounds", "budget", "learner", "reward",
    "standard_error", "random", "best", "best_arm", "share", "share_standard_error",
    "z_against_yardstick", "seconds",
)  # fmt: skip
# What `auto` is meant to gain at least, in multiples of the yardstick's share.
GAIN = 1.5
# A picture with more curves cannot be read.
MOST_CURVES = 8


def write_report(plan: BenchmarkPlan, cells: Sequence[Cell], out: Path) -> Path:
    """Write tables and the page into `out`; returns the page's path."""
    report = build_report(plan, cells)
    page = html.write_report(report, out)
    write_atomically(out / CELLS, cells_csv(cells).encode())
    return page


def build_report(plan: BenchmarkPlan, cells: Sequence[Cell]) -> Report:
    """All that the page shows."""
    seconds = sum(cell.result.seconds for cell in cells)
    facts = (
        ("pickbest", __version__),
        ("environments", str(len({cell.place.name for cell in cells}))),
        ("learners", str(len(labels_of(cells)))),
        ("budgets", ", ".join(map(str, plan.budgets))),
        ("replicates", str(plan.replicates)),
        ("seed", str(plan.seed)),
        ("time spent playing", f"{seconds / 60:.1f} min of one core"),
    )
    leaders: list[Block] = [*verdicts(cells), *picture(cells), headline(cells)]
    gains = [
        Section("headline", "All environments", leaders),
        Section("by-environment", "By environment", [by_family(cells)]),
    ]
    score = (
        "The score is the share of the gap: 0 is B distinct arms at random, 1 the best fixed "
        f"subset in hindsight. {CELLS} has every cell, and its z against {YARDSTICK}, paired by "
        "replicate. In a table in recorded order only the learners' own draws differ."
    )
    return Report(
        "Benchmark of learners that pick B of N arms",
        "Each round, pick B of N arms and keep the best result. Every learner plays every "
        "environment with one setting, told only N, B and the number of rounds; all meet the same "
        "draws.",
        facts,
        [Chapter("overall", "Who gains most", score, gains)],
        "python -m studies benchmark",
    )


# Sentences ----------------------------------------------------------------------------------------


def verdicts(cells: Sequence[Cell]) -> list[Verdict]:
    """Who leads, and whether `auto` keeps its promises where it plays.

    One environment, however often it was played, says nothing of others: then nothing is judged.
    """
    shares = {label: share.mean for label, share in mean_share_intervals(judged(cells)).items()}
    found = []
    if shares:
        best = max(shares, key=shares.__getitem__)
        text = f"{best} closes {shares[best]:.3f} of the gap"
        if YARDSTICK in shares and best != YARDSTICK:
            text += f", {YARDSTICK} {shares[YARDSTICK]:.3f}"
        found.append(Verdict(f"Largest mean share of the gap over {scope(cells)}", f"{text}."))
    if AUTO not in complete_learners(cells):
        return found
    promises = _promises(cells, shares)
    if len({cell.place.family for cell in judged(cells)}) > 1:
        return found + promises
    alone = "Not judged: only one environment was played."
    return found + [Verdict(each.statement, f"{alone} {each.text}") for each in promises]


def _promises(cells: Sequence[Cell], shares: dict[str, float]) -> list[Verdict]:
    found = []
    if compared := contrasts(cells, AUTO, YARDSTICK):
        worse = [each for each in compared if each.worse]
        places = ", ".join(f"{each.place.name} B = {each.budget}" for each in worse[:6])
        text = f"Worse in {len(worse)} of {len(compared)} cells (z < −{SIGNIFICANT:.0f})"
        text += f": {places}." if worse else "."
        statement = f"{AUTO} is nowhere significantly worse than {YARDSTICK}"
        found.append(Verdict(statement, text, not worse))
    if AUTO in shares and YARDSTICK in shares:
        own, other = shares[AUTO], shares[YARDSTICK]
        statement = f"{AUTO} closes at least {GAIN} times as much of the gap as {YARDSTICK}"
        text = f"{own:.3f} against {other:.3f}: {own / other:.2f} times."
        found.append(Verdict(statement, text, own >= GAIN * other))
    others = {label: share for label, share in shares.items() if label != AUTO}
    if AUTO in shares and others:
        rival = max(others, key=others.__getitem__)
        statement = f"{AUTO} closes more of the gap than every other learner"
        text = f"{shares[AUTO]:.3f} against {others[rival]:.3f} of {rival}."
        found.append(Verdict(statement, text, shares[AUTO] > others[rival]))
    return found


# Tables and the picture ---------------------------------------------------------------------------


def labels_of(cells: Sequence[Cell]) -> list[str]:
    """The learners, in the order of the line-up."""
    return list(dict.fromkeys(cell.learner for cell in cells))


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
    least = {label: shares[label].mean if label in shares else -math.inf
             for label in complete_learners(cells)}  # fmt: skip
    for label in sorted(least, key=lambda label: -least[label]):
        share = shares.get(label)
        own = mean_shares([cell for cell in judged(cells) if cell.learner == label])
        error = None if own is None else standard_error(own)
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
        "A share is (reward − random) / (best − random). A recorded table counts once: mean of its "
        f"own order and shuffled, over budgets. Cells with a gap below {LEAST_GAP} and adversaries "
        "that react to the player (each learner meets other costs there) have no share. SE: over "
        "replicates, the environments given. Low and high: 95% bootstrap over environments.",
    )


def picture(cells: Sequence[Cell]) -> list[Figure]:
    """The mean share against the budget, the best learners only; none with a single budget."""
    budgets = sorted({cell.budget for cell in cells})
    best = [str(row[0]) for row in headline(cells).rows if row[1] is not None][:MOST_CURVES]
    if len(budgets) < 2 or not best:
        return []
    series = []
    for label in best:
        own = [cell for cell in judged(cells) if cell.learner == label]
        at = {b: _mean([cell for cell in own if cell.budget == b]) for b in budgets}
        known = {b: share for b, share in at.items() if share is not None}
        series.append(Series(label, [*known], [*known.values()], label))
    y_label = "mean share of the gap"
    ends = ", ".join(f"{line.label} {line.y[-1]:.2f}" for line in series)
    return [
        Figure(
            "share-by-budget",
            f"Mean share of the gap over {scope(cells)} against the budget: 0 is B arms at random, "
            "1 the best B arms in hindsight.",
            f"Mean share of the gap against the budget; at the largest: {ends}.",
            "budget B",
            y_label,
            series,
        )
    ]


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


def _mean(cells: Sequence[Cell]) -> float | None:
    shares = mean_shares(cells)
    return None if shares is None else float(shares.mean())


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
