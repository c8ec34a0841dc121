"""`pickbest report`: what a portfolio did, as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pickbest.cli.store import NameOption, StoreArgument, deadline_of, reading
from pickbest.cli.tables import say


def report(
    store: StoreArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the report.")] = Path(
        "portfolio-report"
    ),
    deadline: Annotated[
        float | None,
        typer.Option(help="Seconds that an arm may take, where STORE is not a portfolio.toml."),
    ] = None,
    name: NameOption = "default",
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Write a page about a portfolio: who wins where, costs over time, PAR2, what went wrong.

    The page needs no network and no other file; its tables lie beside it as CSV, its figures as
    PNG and SVG. Times and costs of runs that were stopped early are not known, and are shown as
    what they are at least and at most.

    **Example**

        pickbest report portfolio.toml --open
    """
    from pickbest.core import check_positive
    from pickbest.portfolio.journal.protocol import entries_after
    from pickbest.portfolio.journal.records import Roster
    from pickbest.report.portfolio_numbers import PortfolioNumbers
    from pickbest.report.portfolio_page import portfolio_report
    from pickbest.report.write import need_packages, write_report

    need_packages()
    known = deadline_of(store) if deadline is None else check_positive("deadline", deadline)
    with reading(store, name) as journal:
        entries = list(entries_after(journal, 0))
    rosters = [entry.record for entry in entries if isinstance(entry.record, Roster)]
    numbers = PortfolioNumbers.of(entries, known)
    shown = Path(store).stem if store.endswith(".toml") else name
    made = portfolio_report(numbers, rosters[-1].budget, shown, f"pickbest report {shown}")
    page = write_report(made, out)
    say(f"{len(numbers.rounds)} rounds: {page}")
    if open_page:
        typer.launch(page.resolve().as_uri())
