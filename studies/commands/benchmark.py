"""`pickbest benchmark`: all learners in all environments at hand."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from typer import Option

from pickbest.cli import tables
from pickbest.cli.options import JsonOption, SeedOption, WorkersOption
from pickbest.core import PickbestError
from pickbest.core.progress import progress_bar

if TYPE_CHECKING:
    from studies.benchmark.run_cells import BenchmarkPlan
    from studies.benchmark.shares import Cell

DATA_VARIABLE = "PICKBEST_DATA"
# Where recorded data lie in the data folder.
ASLIB = Path("aslib")
PAPER_REWARDS = Path("paper_rewards/rewards.csv")
NO_SCENARIOS = "the scenarios of ASlib (give --aslib FOLDER, or --data FOLDER)"


def benchmark(
    learners: Annotated[
        list[str] | None,
        Option(
            "--learners",
            "-l",
            help="A learner, repeatable: a name from `pickbest learners` (its defaults), with "
            "options (og:slots=independent), 'fpml-partial as run' or 'og as run'. All if none.",
        ),
    ] = None,
    environments: Annotated[
        list[str] | None,
        Option(
            "--environments",
            "--worlds",
            help="An environment, repeatable: its name, that of a scenario (both orders), "
            "real, recorded or shuffled (real ones), synthetic, adversary. All if none.",
        ),
    ] = None,
    budgets: Annotated[
        str, Option("--budgets", "-b", help="Such as 1-6 or 2,4; below the number of arms.")
    ] = "1-6",
    replicates: Annotated[int, Option("--replicates", "-r", help="Games of a cell.")] = 100,
    seed: SeedOption = 0,
    workers: WorkersOption = 1,
    full: Annotated[
        bool, Option("--full", help="Also learners that see the costs of all arms.")
    ] = False,
    data: Annotated[
        Path | None,
        Option(
            envvar=DATA_VARIABLE,
            help=f"Folder of recorded data: scenarios in {ASLIB}, the paper's rewards in "
            f"{PAPER_REWARDS}.",
        ),
    ] = None,
    aslib: Annotated[
        Path | None, Option(help="Folder of ASlib scenarios, instead of the data folder's.")
    ] = None,
    paper_rewards: Annotated[
        Path | None,
        Option(help="The paper's recorded rewards, instead of the shipped ones."),
    ] = None,
    peers: Annotated[
        str | None,
        Option(
            help="Compare with peers that use features instead, on worlds of the data folder at "
            "this cost: solved, runtime or PAR10."
        ),
    ] = None,
    half: Annotated[
        str | None,
        Option(help="With --peers: only the worlds 'chosen on', or those 'judged'."),
    ] = None,
    out: Annotated[Path, Option(help="Folder for the page and the finished cells.")] = Path(
        "out/benchmark"
    ),
    as_json: JsonOption = False,
) -> None:
    """Compare all learners in all environments at hand: recorded tables, tasks, adversaries.

    Each learner has one setting for all environments. Its score is the share of the gap that it
    closes: 0 is B distinct arms at random, 1 the best B arms in hindsight. Recorded tables are
    played in their own order and shuffled. OUT gets index.html, summary.md and cells.csv.

    Every finished cell (a learner in an environment at a budget) is kept in OUT/cells: an
    interrupted run goes on where it was, and a new learner adds only its own cells.

    **Examples**

        pickbest benchmark --data FOLDER --workers 2

        pickbest benchmark --environments real --learners thompson --learners 'fpml-partial as run'

        pickbest benchmark --aslib scenarios --budgets 1-3 --replicates 30 --json

        pickbest benchmark --data FOLDER --peers PAR10 --half judged --environments shuffled -r 10
    """
    from pickbest.report.write import need_packages
    from studies.benchmark.environments import (
        REAL,
        chosen_environments,
        environments_at_hand,
    )
    from studies.benchmark.lineup import chosen_entries, peer_entries
    from studies.benchmark.report import write_report
    from studies.benchmark.run_cells import BenchmarkPlan, run_cells
    from studies.paper.recorded_rewards import PUBLISHED
    from studies.peers.worlds import peer_worlds

    need_packages()
    started = time.monotonic()
    if data is not None:
        aslib, paper_rewards = recorded_data(data, aslib, paper_rewards)
    if peers is None:
        at_hand = environments_at_hand(aslib, paper_rewards or PUBLISHED)
        entries = chosen_entries(learners or [], full)
    else:
        if data is None:
            raise PickbestError("--peers needs --data FOLDER: its worlds are recorded data")
        at_hand, entries = peer_worlds(data, peers, half), peer_entries(learners or [])
    chosen = chosen_environments(at_hand, environments or [])
    games = (parse_budgets(budgets), replicates, seed, workers)
    plan = BenchmarkPlan(out / "cells", chosen, entries, *games)
    if out.exists() and not out.is_dir():
        raise PickbestError(f"{out}: the output folder exists and is not a folder")
    if peers is None and aslib is None and (not environments or REAL in environments):
        tables.say(f"left out: {NO_SCENARIOS}", stderr=True)
    try:
        with progress_bar("playing") as progress:
            cells = run_cells(plan, progress)
    except KeyboardInterrupt:
        kept = f"finished cells are kept in {plan.kept}: the same command goes on from there"
        tables.say(kept, stderr=True)
        raise
    page = write_report(plan, cells, out)
    _show(summary(plan, cells, page, time.monotonic() - started), as_json)


def recorded_data(
    folder: Path, aslib: Path | None, paper_rewards: Path | None
) -> tuple[Path | None, Path | None]:
    """Scenarios and the paper's rewards: as given, else where the folder has them."""
    inside = [
        folder / name if (folder / name).exists() else None for name in (ASLIB, PAPER_REWARDS)
    ]
    if not any(inside):
        raise PickbestError(
            f"{folder}: a data folder must hold {ASLIB} or {PAPER_REWARDS}, found neither"
        )
    return aslib or inside[0], paper_rewards or inside[1]


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


def summary(
    plan: BenchmarkPlan, cells: Sequence[Cell], page: Path, seconds: float
) -> dict[str, Any]:
    """What the command prints."""
    from pickbest.report.write import heading
    from studies.benchmark.report_tables import headline, scope
    from studies.benchmark.verdicts import verdicts

    table = headline(cells)
    # Scripts know these fields under the word that was used before "environment".
    names = [heading(column).replace("environments", "worlds") for column in table.columns]
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
    from pickbest.report.document import BADGES

    if found["learners"]:
        Console(soft_wrap=True).print(tables.benchmark_table(found))
    for verdict in found["verdicts"]:
        tables.say(f"{verdict['statement']}: {BADGES[verdict['holds']]}. {verdict['text']}")
    tables.say(f"{found['cells']} cells, {found['seconds']:.1f} s: {found['page']}")
