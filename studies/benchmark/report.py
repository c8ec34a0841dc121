"""The report about a benchmark: one page, a short summary, and all cells as CSV."""

from collections.abc import Sequence
from pathlib import Path

from pickbest._version import __version__
from pickbest.core.savefile import write_atomically
from pickbest.report.document import Chapter, Report, Section, Table
from pickbest.report.html import to_html, write_tables
from studies.benchmark import report_tables as tables
from studies.benchmark.comparisons import SIGNIFICANT
from studies.benchmark.lineup import AUTO, YARDSTICK
from studies.benchmark.run_cells import BenchmarkPlan
from studies.benchmark.shares import Cell
from studies.benchmark.verdicts import verdicts
from studies.report.markdown import to_markdown

PAGE, SUMMARY, CELLS = "index.html", "summary.md", "cells.csv"
TITLE = "Benchmark of learners that pick B of N arms"
INTRO = (
    "Each round, pick B of N arms and keep the best result. Every learner plays every environment "
    "with one setting, told only N, B and the number of rounds; all meet the same draws."
)
OVERALL = (
    "The score is the share of the gap: 0 is B distinct arms at random, 1 the best fixed subset "
    "in hindsight."
)


def write_report(plan: BenchmarkPlan, cells: Sequence[Cell], out: Path) -> Path:
    """Write tables, the summary and the page into `out`; returns the page's path."""
    report = build_report(plan, cells)
    out.mkdir(parents=True, exist_ok=True)
    blocks = [block for section in report.sections for block in section.blocks]
    write_tables((block for block in blocks if isinstance(block, Table)), out / "tables")
    write_atomically(out / CELLS, tables.cells_csv(cells).encode())
    write_atomically(out / SUMMARY, to_markdown(report).encode())
    page = to_html(report, out / "figures")
    write_atomically(out / PAGE, page.encode())
    return out / PAGE


def build_report(plan: BenchmarkPlan, cells: Sequence[Cell]) -> Report:
    """All that the page shows."""
    seconds = sum(cell.result.seconds for cell in cells)
    facts = (
        ("pickbest", __version__),
        ("environments", str(len({cell.place.name for cell in cells}))),
        ("learners", str(len(tables.labels_of(cells)))),
        ("budgets", ", ".join(map(str, plan.budgets))),
        ("replicates", str(plan.replicates)),
        ("seed", str(plan.seed)),
        ("time spent playing", f"{seconds / 60:.1f} min of one core"),
    )
    chapters = [_overall(cells), _comparisons(cells)]
    return Report(TITLE, INTRO, facts, chapters, "python -m studies benchmark")


def _overall(cells: Sequence[Cell]) -> Chapter:
    sections = [
        Section("headline", "All environments", [*verdicts(cells), tables.headline(cells)]),
        Section("by-budget", "By budget", [tables.by_budget(cells)]),
        Section("by-environment", "By environment", [tables.by_family(cells)]),
    ]
    return Chapter("overall", "Who gains most", OVERALL, sections)


def _comparisons(cells: Sequence[Cell]) -> Chapter:
    labels = tables.labels_of(cells)
    sections = []
    for one, title in ((YARDSTICK, f"Against {YARDSTICK}"), (AUTO, f"{AUTO} against each")):
        if one in labels:
            others = [label for label in labels if label != one]
            pairs = [(one, label) if one == AUTO else (label, one) for label in others]
            name = f"against-{tables.slug(one)}"
            sections.append(Section(name, title, [tables.standings(cells, pairs, name)]))
    intro = (
        f"Differences are paired by replicate; significant means |z| > {SIGNIFICANT:.0f}. "
        "In a table in recorded order only the learners' own draws differ between replicates. "
        f"{CELLS} has the z of every cell against {YARDSTICK}."
    )
    return Chapter("comparisons", "Where a learner is worse", intro, sections)
