"""The report about a benchmark: one page, a short summary, and all cells as CSV."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pickbest._version import __version__
from pickbest.core.savefile import write_atomically
from pickbest.report.document import Block, Chapter, Column, Figure, Report, Section, Table, Text
from pickbest.report.html import to_html, write_tables
from studies.benchmark import report_tables as tables
from studies.benchmark.comparisons import (
    SIGNIFICANT,
    bonferroni,
    contrasts,
    mean_ranks,
)
from studies.benchmark.environments import ADVERSARY, GROUPS, REAL, SYNTHETIC
from studies.benchmark.lineup import AUTO, YARDSTICK
from studies.benchmark.report_figures import HEAT_MAP, RANKS, draw_heat_map, draw_ranks
from studies.benchmark.report_peers import peers_section
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
ENVIRONMENTS = {
    REAL: ("Real environments", "Recorded results of real solvers and optimisers, in the order in "
           "which they were recorded, and shuffled anew in each replicate."),
    SYNTHETIC: ("Synthetic environments", "The paper's tasks, and tasks whose arms change places "
                "half-way."),
    ADVERSARY: ("Adversaries", "Costs made to mislead. Chasing reacts to the player: the arms "
                "that it favoured lately cost 1, so each learner meets costs of its own. There "
                "the last column is what the best single arm gained more, a round."),
}  # fmt: skip
# A learner that is worse in more cells than this is not worth a list of them on the page.
MOST_LISTED = 40


def write_report(plan: BenchmarkPlan, cells: Sequence[Cell], out: Path) -> Path:
    """Write figures, tables, the summary and the page into `out`; returns the page's path."""
    report = build_report(plan, cells)
    out.mkdir(parents=True, exist_ok=True)
    blocks = [block for section in report.sections for block in section.blocks]
    drawn = {block.name for block in blocks if isinstance(block, Figure)}
    if HEAT_MAP in drawn:
        draw_heat_map(tables.by_family(cells), out / "figures")
    if RANKS in drawn:
        draw_ranks(mean_ranks(cells), out / "figures")
    write_tables((block for block in blocks if isinstance(block, Table)), out / "tables")
    write_atomically(out / CELLS, tables.cells_csv(cells).encode())
    short = replace(report, chapters=report.chapters[:2])
    write_atomically(out / SUMMARY, to_markdown(short).encode())
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
    for group in GROUPS:
        own = [cell for cell in cells if cell.place.group == group]
        if own:
            title, intro = ENVIRONMENTS[group]
            sections = _environment_sections(own)
            chapters.append(Chapter(f"{group}-environments", title, intro, sections))
    chapters.append(_how(cells))
    return Report(TITLE, INTRO, facts, chapters, "pickbest benchmark")


def _overall(cells: Sequence[Cell]) -> Chapter:
    sections = [
        Section("headline", "All environments", [*verdicts(cells), tables.headline(cells)]),
        Section("plots", "Ranks and shares", _plots(cells)),
        Section("by-budget", "By budget", [tables.by_budget(cells)]),
    ]
    if (peers := peers_section(cells)) is not None:
        sections.append(peers)
    return Chapter("overall", "Who gains most", OVERALL, sections)


def _plots(cells: Sequence[Cell]) -> list[Block]:
    blocks: list[Block] = []
    if mean_ranks(cells):
        caption = (
            "Mean rank with 95% bootstrap intervals over environments. Full dots: the interval of "
            "the difference to the first contains 0."
        )
        alt = "Mean ranks of the learners with intervals; the numbers are in the first table."
        blocks.append(Figure(RANKS, caption, alt, "", "", ()))
    shares = tables.by_family(cells)
    if shares.rows and len(shares.columns) > 1:
        caption = "Mean share over budgets; a recorded table is the mean of both orders."
        alt = (
            "Heat map of the shares of learners in environments; the numbers are in the next table."
        )
        blocks += [Figure(HEAT_MAP, caption, alt, "", "", ()), shares]
    return blocks


def _comparisons(cells: Sequence[Cell]) -> Chapter:
    labels = tables.labels_of(cells)
    sections = []
    if YARDSTICK in labels:
        others = [label for label in labels if label != YARDSTICK]
        sections.append(_against(cells, [(label, YARDSTICK) for label in others], "yardstick",
                                 f"Against {YARDSTICK}"))  # fmt: skip
    if AUTO in labels:
        others = [label for label in labels if label != AUTO]
        sections.append(_against(cells, [(AUTO, label) for label in others], AUTO,
                                 f"{AUTO} against each"))  # fmt: skip
    intro = (
        f"Differences are paired by replicate; significant means |z| > {SIGNIFICANT:.0f}. "
        "In a table in recorded order only the learners' own draws differ between replicates."
    )
    return Chapter("comparisons", "Where a learner is worse", intro, sections)


def _against(
    cells: Sequence[Cell], pairs: Sequence[tuple[str, str]], name: str, title: str
) -> Section:
    found = [contrasts(cells, first, second) for first, second in pairs]
    count = sum(map(len, found))
    note = (
        f"{count} comparisons: chance alone would call {0.00135 * count:.1f} worse. Not one errs, "
        f"with 95% confidence, beyond |z| = {bonferroni(count):.1f} (Bonferroni)."
    )
    blocks: list[Block] = [tables.standings(cells, pairs, f"{name}-standings"), Text(note)]
    short = [each for own in found if sum(e.worse for e in own) <= MOST_LISTED for each in own]
    table = tables.where_worse(short, f"{name}-worse", "Where it is significantly worse")
    if table.rows:
        blocks.append(replace(table, note=f"Learners with more than {MOST_LISTED} such cells are "
                              f"left out: {CELLS} has all."))  # fmt: skip
    return Section(f"against-{name}", title, blocks)


def _environment_sections(cells: Sequence[Cell]) -> list[Section]:
    names = dict.fromkeys(cell.place.name for cell in cells)
    return [
        Section(
            f"environment-{tables.slug(name)}",
            name,
            [tables.environment_table([cell for cell in cells if cell.place.name == name])],
        )
        for name in names
    ]


def _how(cells: Sequence[Cell]) -> Chapter:
    rows: list[list[str | float]] = []
    for label in tables.labels_of(cells):
        own = [cell for cell in cells if cell.learner == label]
        played = sum(len(cell.rewards) * cell.place.environment.rounds for cell in own)
        seconds = sum(cell.result.seconds for cell in own)
        rows.append([label, len(own), seconds, 1e6 * seconds / played])
    columns = [Column("learner"), Column("cells"), Column("seconds", 1), Column("µs a round", 2)]
    table = Table("seconds", "How long the learners took", columns, rows,
                  "All replicates together, compiling included.")  # fmt: skip
    text = (
        "Cells are kept in the folder `cells`: the same command goes on where it was, and plays "
        "only what is new or whose code has changed."
    )
    return Chapter("how", "How long", text, [Section("seconds", "Time", [table])])
