"""`races`: what learning from races, in which losers are stopped, is worth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from pickbest.cli import tables
from pickbest.cli.options import JsonOption
from pickbest.core import unknown_name
from pickbest.core.progress import progress_bar
from studies.commands.theory import rows_table

STUDIES = ("censoring", "prices")


def races(
    study: Annotated[
        str,
        Argument(
            help="censoring: rules for runs that were stopped. prices: fixed budgets compared "
            "with schedules that pay for processor time."
        ),
    ],
    runtimes: Annotated[
        list[Path], Argument(metavar="TABLE", help="CSV files of seconds, or ASlib scenarios.")
    ],
    out: Annotated[Path, Option(help="File of the rows, one line of JSON each.")],
    rounds: Annotated[int, Option(help="Rounds per order.")] = 400,
    replicates: Annotated[int, Option("--replicates", "-r", help="Orders per cell.")] = 10,
    costs: Annotated[str, Option(help="solved, runtime or both, with a comma.")] = "solved,runtime",
    deadline: Annotated[float, Option(help="Seconds that a run of a CSV file may take.")] = 1200.0,
    as_json: JsonOption = False,
) -> None:
    """Replay races over tables of runtimes, and compare what can be learned from them.

    Rows that OUT holds are not played again: an interrupted run goes on where it was, and a
    further table adds only its own rows.

    **Examples**

        python -m studies races censoring smtcomp22/*.csv --out censoring.jsonl

        python -m studies races prices aslib/* --out prices.jsonl --rounds 1000 -r 3 --costs runtime
    """
    from studies import races as study_of

    if study not in STUDIES:
        raise unknown_name("study", study, STUDIES)
    options = study_of.Options(rounds, replicates, tuple(costs.split(",")), deadline)
    with progress_bar("racing") as progress:
        rows = study_of.play(runtimes, out, study, options, progress)
    found = {"study": study, "rows": rows}
    title = "Means over cells; cpu: processor time per round, in deadlines"
    tables.show(found, as_json, lambda _: rows_table(title, study_of.summary_of(rows)))
