"""`ablate`: what each part of `auto` buys on the data at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from rich.console import RenderableType
from typer import Option

from pickbest.cli import tables
from pickbest.cli.options import JsonOption, SeedOption, WorkersOption
from pickbest.core import PickbestError, unknown_name
from pickbest.core.progress import progress_bar
from studies.commands.benchmark import BudgetsOption, DataOption, parse_budgets

HALVES = ("chosen on", "judged")


def ablate(
    data: DataOption = None,
    parts: Annotated[
        list[str] | None, Option("--part", help="A part, repeatable; all if none, 'none' for none.")
    ] = None,
    families: Annotated[
        list[str] | None, Option("--family", help="A family of tables, repeatable; all if none.")
    ] = None,
    half: Annotated[
        str | None,
        Option(help="Every second table of a family: 'chosen on' or 'judged'. All if not given."),
    ] = None,
    budgets: BudgetsOption = "1-3",
    replicates: Annotated[int, Option("--replicates", "-r", help="Games per cell.")] = 10,
    seed: SeedOption = 0,
    workers: WorkersOption = 1,
    out: Annotated[Path, Option(help="Folder of the finished cells.")] = Path("out/ablate"),
    as_json: JsonOption = False,
) -> None:
    """Leave each part out of `auto`, and see what it was worth on every table at hand.

    The first row is `auto` itself: the share of the gap that it closes, where 0 is B distinct arms
    at random and 1 the best fixed set in hindsight. Every other row is what a part adds to that,
    with 95% intervals over tables, paired. Finished cells are kept in OUT: an interrupted run goes
    on where it was.

    **Examples**

        python -m studies ablate --data FOLDER --workers 2

        python -m studies ablate --data FOLDER --part none --half judged --json

        python -m studies ablate --data FOLDER --family races --part 'watching new pairs'
    """
    from studies import ablation

    if data is None:
        raise PickbestError("--data FOLDER must say where the recorded tables lie")
    if half is not None and half not in HALVES:
        raise unknown_name("half", half, HALVES)
    at_hand = ablation.cells_at_hand(data, parse_budgets(budgets))
    known = list(dict.fromkeys(cell.family for cell in at_hand))
    for family in families or []:
        if family not in known:
            raise unknown_name("family", family, known)
    cells = [cell for cell in at_hand if not families or cell.family in families]
    chosen = [] if parts == ["none"] else ablation.chosen_parts(parts or [])
    plan = ablation.AblationPlan(
        out, ablation.half_of(cells, HALVES.index(half) if half else None), chosen, replicates,
        seed, workers,
    )  # fmt: skip
    try:
        with progress_bar("playing") as progress:
            shares = ablation.run_ablation(plan, progress)
    except KeyboardInterrupt:
        tables.say(f"finished cells are kept in {out}: the same command goes on", stderr=True)
        raise
    found = ablation.summary_of(plan, shares)
    tables.show(found, as_json, shown)


def shown(found: dict[str, Any]) -> RenderableType:
    """One row for `auto` and one for each part, one column for each family."""
    from studies.ablation import INTERVAL

    def cell(value: float | None, error: float | None, signed: bool = True) -> str:
        if value is None:
            return "-"
        wide = "" if error is None else f" ± {INTERVAL * error:.3f}"
        return f"{value:+.3f}{wide}" if signed else f"{value:.3f}{wide}"

    families = found["families"]
    rows = [["auto", *(cell(each["share"], each["error"], signed=False) for each in families)]]
    for number, part in enumerate(families[0]["parts"] if families else []):
        own = [each["parts"][number] for each in families]
        rows.append([part["part"], *(cell(one["gain"], one["error"]) for one in own)])
    heads = ["what it adds", *(f"{each['family']} ({each['tables']})" for each in families)]
    title = "Shares of the gap, and what each part of auto adds (95% intervals over tables)"
    return tables.table(title, heads, rows, narrow=True)
