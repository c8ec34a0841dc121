"""`pickbest benchmark`: from the words of the command line to the page."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pickbest.core import PickbestError

if TYPE_CHECKING:
    from pickbest.experiments.benchmark.run import Finished, Plan
    from pickbest.experiments.benchmark.shares import Cell

PAPER_REWARDS = Path("../shared/data/paper_rewards/rewards.csv")
ASLIB = Path("../shared/data/aslib")


def benchmark(
    learners: Annotated[
        list[str] | None,
        typer.Option(
            "--learners",
            "-l",
            help="A learner, repeatable: a name from `pickbest learners` (its defaults), "
            "'fpml-partial as run' or 'og as run'. All if none.",
        ),
    ] = None,
    worlds: Annotated[
        list[str] | None,
        typer.Option(
            "--worlds",
            help="A world, repeatable: the name of a world, of a scenario (both orders), or "
            "real, synthetic, adversary. All if none.",
        ),
    ] = None,
    budgets: Annotated[
        str, typer.Option("--budgets", "-b", help="Such as 1-6 or 2,4; below the number of arms.")
    ] = "1-6",
    replicates: Annotated[int, typer.Option("--replicates", "-r", help="Games of a cell.")] = 100,
    seed: Annotated[int, typer.Option("--seed", help="Same seed, same numbers.")] = 0,
    workers: Annotated[int, typer.Option("--workers", "-w", help="Processes.")] = 1,
    full: Annotated[
        bool, typer.Option("--full", help="Also learners that see the costs of all arms.")
    ] = False,
    aslib: Annotated[
        Path | None,
        typer.Option(help=f"Folder of ASlib scenarios; {ASLIB} if it exists."),
    ] = None,
    paper_rewards: Annotated[
        Path | None,
        typer.Option(
            "--paper-rewards", help=f"The paper's recorded rewards; {PAPER_REWARDS} if it exists."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the page and the finished cells.")] = Path(
        "out/benchmark"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Compare all learners in all worlds at hand: recorded tables, tasks, adversaries.

    Each learner has one setting for all worlds. Its score is the share of the gap that it
    closes: 0 is B distinct arms at random, 1 the best B arms in hindsight. Recorded tables are
    played in their own order and shuffled. OUT gets index.html, summary.md and cells.csv.

    Every finished cell (a learner in a world at a budget) is kept in OUT/cells: an interrupted
    run goes on where it was, and a new learner adds only its own cells.

    **Examples**

        pickbest benchmark --workers 2

        pickbest benchmark --worlds real --learners thompson --learners 'fpml-partial as run'

        pickbest benchmark --aslib scenarios --budgets 1-3 --replicates 30 --json
    """
    from pickbest.experiments.benchmark.environments import chosen_worlds, worlds_at_hand
    from pickbest.experiments.benchmark.lineup import chosen_entries
    from pickbest.experiments.benchmark.page import write_report
    from pickbest.experiments.benchmark.run import Plan, run_cells
    from pickbest.report.plots import need_matplotlib

    need_matplotlib("the page")
    started = time.monotonic()
    at_hand = worlds_at_hand(aslib or _existing(ASLIB), paper_rewards or _existing(PAPER_REWARDS))
    plan = Plan(
        out / "cells",
        chosen_worlds(at_hand, worlds or []),
        chosen_entries(learners or [], full),
        parse_budgets(budgets),
        replicates,
        seed,
        workers,
    )
    if out.exists() and not out.is_dir():
        raise PickbestError(f"{out}: the output folder exists and is not a folder")
    with _progress(plan) as finished:
        cells = run_cells(plan, finished)
    page = write_report(plan, cells, out)
    _show(summary(plan, cells, page, time.monotonic() - started), as_json)


def parse_budgets(text: str) -> list[int]:
    """Budgets as ranges and single numbers.

    >>> parse_budgets("1-3,6")
    [1, 2, 3, 6]
    """
    budgets: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        try:
            numbers = range(int(first), int(last or first) + 1)
        except ValueError:
            numbers = range(0)
        if not numbers or numbers[0] < 1:
            raise PickbestError(f"budgets must be like 1-6 or 2,4, each at least 1, got {text!r}")
        budgets.update(numbers)
    return sorted(budgets)


def summary(plan: Plan, cells: Sequence[Cell], page: Path, seconds: float) -> dict[str, Any]:
    """What the command prints."""
    from pickbest.experiments.benchmark.tables import headline, scope
    from pickbest.experiments.benchmark.verdicts import verdicts
    from pickbest.report.markdown import heading

    table = headline(cells)
    names = [heading(table, index) for index in range(len(table.columns))]
    return {
        "page": str(page),
        "scope": scope(cells),
        "seconds": round(seconds, 1),
        "cells": len(cells),
        "replicates": plan.replicates,
        "seed": plan.seed,
        "verdicts": [{"statement": v.statement, "text": v.text, "holds": v.holds}
                     for v in verdicts(cells)],
        "learners": [dict(zip(names, row, strict=True)) for row in table.rows],
    }  # fmt: skip


def _show(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    from rich.console import Console

    from pickbest.cli.tables import table

    console = Console(highlight=False, soft_wrap=True)
    rows = [_row(*learner.values()) for learner in found["learners"]]
    if rows:
        columns = ("learner", "share", "95% interval", "all\nworlds", "rank", "95% interval")
        title = f"Mean share of the gap over {found['scope']}, and mean rank over all"
        console.print(table(title, columns, rows))
    for verdict in found["verdicts"]:
        badge = {True: "holds", False: "does not hold", None: "note"}[verdict["holds"]]
        console.print(f"{verdict['statement']}: {badge}. {verdict['text']}", markup=False)
    line = f"{found['cells']} cells, {found['seconds']:.1f} s: {found['page']}"
    console.print(line, markup=False)


def _row(*values: Any) -> list[str]:
    """A row of the headline table, short enough for a terminal."""
    learner, share, _, low, high, everywhere, rank, best, worst, _ = values
    return [
        learner,
        "-" if share is None else f"{share:.3f}",
        "-" if share is None else f"{low:.2f} to {high:.2f}",
        "-" if everywhere is None else f"{everywhere:.3f}",
        f"{rank:.2f}",
        f"{best:.2f} to {worst:.2f}",
    ]


def _existing(path: Path) -> Path | None:
    return path if path.exists() else None


@contextmanager
def _progress(plan: Plan) -> Iterator[Finished | None]:
    """A bar with the time left on a terminal; Ctrl-C says how to go on."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn

    console = Console(stderr=True, highlight=False)
    try:
        if not sys.stderr.isatty():
            yield None
            return
        columns = ("playing", BarColumn(), TaskProgressColumn(), "left", TimeRemainingColumn(True))
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("", total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
    except KeyboardInterrupt:
        console.print(
            f"finished cells are kept in {plan.kept}: the same command goes on from there"
        )
        raise


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(benchmark)
