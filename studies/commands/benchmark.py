"""`benchmark`, `peers`: learners compared in all environments at hand."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.console import RenderableType
from typer import Argument, Option

from pickbest.cli import tables
from pickbest.cli.options import JsonOption, SeedOption, WorkersOption
from pickbest.core import PickbestError
from pickbest.core.progress import progress_bar

if TYPE_CHECKING:
    from studies.benchmark.environments import NamedEnvironment
    from studies.benchmark.lineup import Entry
    from studies.benchmark.run_cells import BenchmarkPlan
    from studies.benchmark.shares import Cell

DataOption = Annotated[
    Path | None,
    Option(
        envvar="PICKBEST_DATA",
        help="Folder of recorded data: aslib, smtcomp22, limeqo, models, paper_rewards.",
    ),
]
LearnersOption = Annotated[
    list[str] | None,
    Option(
        "--learners",
        "-l",
        help="A learner, repeatable: a name from `pickbest learners` (its defaults), with "
        "options (og:slots=independent), or a name of this study. All if none.",
    ),
]
EnvironmentsOption = Annotated[
    list[str] | None,
    Option(
        "--environments",
        help="An environment, repeatable: its name, that of a scenario (both orders), "
        "real, recorded or shuffled (real ones), synthetic, adversary. All if none.",
    ),
]
BudgetsOption = Annotated[
    str, Option("--budgets", "-b", help="Such as 1-6 or 2,4; below the number of arms.")
]
ReplicatesOption = Annotated[int, Option("--replicates", "-r", help="Games per cell.")]
OutOption = Annotated[Path, Option(help="Folder for the page and the finished cells.")]


def benchmark(
    learners: LearnersOption = None,
    environments: EnvironmentsOption = None,
    budgets: BudgetsOption = "1-6",
    replicates: ReplicatesOption = 100,
    seed: SeedOption = 0,
    workers: WorkersOption = 1,
    data: DataOption = None,
    out: OutOption = Path("out/benchmark"),
    as_json: JsonOption = False,
) -> None:
    """Compare all learners in all environments at hand: recorded tables, tasks, adversaries.

    Each learner has one setting for all environments. Its score is the share of the gap that it
    closes: 0 is B distinct arms at random, 1 the best B arms in hindsight. Recorded tables are
    played in their own order and shuffled. OUT gets report.html and cells.csv.

    Every finished cell (a learner in an environment at a budget) is kept in OUT/cells: an
    interrupted run goes on where it was, and a new learner adds only its own cells.

    **Examples**

        python -m studies benchmark --data FOLDER --workers 2

        python -m studies benchmark --environments real --learners thompson

        python -m studies benchmark --data FOLDER --budgets 1-3 --replicates 30 --json
    """
    from studies.benchmark.environments import REAL, environments_at_hand
    from studies.benchmark.lineup import chosen_entries

    at_hand = environments_at_hand(data / "aslib" if data else None)
    entries = chosen_entries(learners or [])
    if data is None and (not environments or REAL in environments):
        missing = "the scenarios of ASlib (give --data FOLDER, which holds them in aslib)"
        tables.say(f"left out: {missing}", stderr=True)
    games = (parse_budgets(budgets), replicates, seed, workers)
    _play(out, at_hand, environments, entries, games, as_json)


def peers(
    cost: Annotated[
        str, Argument(help="What a run costs: solved (1 if it is not) or runtime.")
    ] = "solved",
    learners: LearnersOption = None,
    environments: EnvironmentsOption = None,
    half: Annotated[
        str | None,
        Option(help="Only environments that settings were 'chosen on', or those 'judged'."),
    ] = None,
    budgets: BudgetsOption = "1-3",
    replicates: ReplicatesOption = 5,
    seed: SeedOption = 0,
    workers: WorkersOption = 1,
    data: DataOption = None,
    out: OutOption = Path("out/peers"),
    as_json: JsonOption = False,
) -> None:
    """Compare `auto` with features to bandits that others use for it: LinUCB, CPPL and more.

    Every second environment of a kind is judged; settings were chosen on the others. Cells are
    kept as in `benchmark`, and the score is the same share of the gap.

    **Examples**

        python -m studies peers solved --data FOLDER --half judged

        python -m studies peers runtime --data FOLDER --environments shuffled -b 1 -l LinUCB
    """
    from studies.benchmark.lineup import peer_entries
    from studies.peers.environments import peer_environments

    if data is None:
        raise PickbestError("--data FOLDER must say where the recorded data lie")
    at_hand = peer_environments(data, cost, half)
    games = (parse_budgets(budgets), replicates, seed, workers)
    _play(out, at_hand, environments, peer_entries(learners or []), games, as_json)


def _play(
    out: Path,
    at_hand: Sequence[NamedEnvironment],
    environments: Sequence[str] | None,
    entries: Sequence[Entry],
    games: tuple[Sequence[int], int, int, int],
    as_json: bool,
) -> None:
    """Play what is not kept yet, write the page, and show the headline."""
    from pickbest.report.html import need_packages
    from studies.benchmark.environments import chosen_environments
    from studies.benchmark.report import write_report
    from studies.benchmark.run_cells import BenchmarkPlan, run_cells

    need_packages()
    started = time.monotonic()
    chosen = chosen_environments(at_hand, environments or [])
    plan = BenchmarkPlan(out / "cells", chosen, entries, *games)
    if out.exists() and not out.is_dir():
        raise PickbestError(f"{out}: the output folder exists and is not a folder")
    try:
        with progress_bar("playing") as progress:
            cells = run_cells(plan, progress)
    except KeyboardInterrupt:
        kept = f"finished cells are kept in {plan.kept}: the same command goes on from there"
        tables.say(kept, stderr=True)
        raise
    page = write_report(plan, cells, out)
    seconds = time.monotonic() - started
    found = {"page": str(page), "seconds": round(seconds, 1), **summary(plan, cells)}
    tables.show(found, as_json, lambda _: shown(found))


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


def summary(plan: BenchmarkPlan, cells: Sequence[Cell]) -> dict[str, Any]:
    """What a script may read."""
    from pickbest.report.html import heading
    from studies.benchmark.report import headline, scope, verdicts

    table = headline(cells)
    names = [heading(column) for column in table.columns]
    return {
        "scope": scope(cells),
        "cells": len(cells),
        "replicates": plan.replicates,
        "seed": plan.seed,
        "verdicts": [asdict(verdict) for verdict in verdicts(cells)],
        "learners": [dict(zip(names, row, strict=True)) for row in table.rows],
    }


def shown(found: Mapping[str, Any]) -> list[RenderableType]:
    """What the command prints, short enough for a terminal."""
    from pickbest.report.document import BADGES

    rows = []
    for values in found["learners"]:
        learner, share, _, low, high, everywhere = values.values()
        interval = None if low is None else f"{low:.2f} to {high:.2f}"
        rows.append([learner, share, interval, everywhere])
    columns = ("learner", "share", "95% interval", "share everywhere")
    title = f"Mean share of the gap over {found['scope']}"
    lines: list[RenderableType] = [tables.table(title, columns, rows)] if rows else []
    for verdict in found["verdicts"]:
        lines.append(f"{verdict['statement']}: {BADGES[verdict['holds']]}. {verdict['text']}")
    return [*lines, f"{found['cells']} cells, {found['seconds']:.1f} s: {found['page']}"]
