"""Commands on a portfolio's store, from status and history to serve and report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from typer import Argument, Option

from pickbest.cli import store_tables, tables
from pickbest.cli.options import JsonOption
from pickbest.cli.tables import say
from pickbest.core.codec import plain

if TYPE_CHECKING:
    from pickbest.portfolio.run.portfolio_file import PortfolioFile
    from pickbest.portfolio.store.journal import Journal
    from pickbest.portfolio.store.ledger import Ledger


StoreArgument = Annotated[
    str,
    Argument(metavar="STORE", help="A portfolio.toml, an SQLite file, or a database URL."),
]
NameOption = Annotated[
    str, Option("--name", help="Which portfolio of the database, unless STORE is a .toml.")
]


def status(store: StoreArgument, name: NameOption = "default", as_json: JsonOption = False) -> None:
    """Show a portfolio's arms: picks, wins, costs, and how likely each is picked next."""
    from pickbest.portfolio.engine.limits import in_force
    from pickbest.portfolio.store.views import overview

    with opened(store, name) as ledger:
        view = overview(ledger.state, in_force())
    tables.show(plain(view), as_json, lambda _: store_tables.status_table(view))
    if not as_json:
        for line in store_tables.contradiction_lines(view.contradictions):
            tables.say(line)


def history(
    store: StoreArgument,
    last: Annotated[int, Option("--last", "-n", help="How many rounds.")] = 20,
    name: NameOption = "default",
    as_json: Annotated[bool, Option("--json", help="Print one JSON object a round.")] = False,
) -> None:
    """Show the last rounds: problem, who won, beside whom, the answer, the cost, what was lost.

    An answer with ! is contradicted by another arm, in this round or another.
    """
    with opened(store, name) as ledger:
        views = ledger.rounds(last)
    if as_json:
        for view in views:
            typer.echo(json.dumps(plain(view)))
        return
    console = Console()
    console.print(store_tables.history_table(views, console.width))
    found = {str(each): each for view in views for each in view.contradictions}
    for line in store_tables.contradiction_lines(list(found.values())):
        tables.say(line)


def export(
    store: StoreArgument,
    out: Annotated[Path | None, Option("--out", "-o", help="A file; else printed.")] = None,
    form: Annotated[
        str | None,
        Option(
            "--format", help="jsonl (the journal), csv or parquet (a row a run); else by the file."
        ),
    ] = None,
    name: NameOption = "default",
) -> None:
    """Write the whole journal as JSON lines, or its runs as a table.

    Only JSON lines can be imported again. Parquet needs --out, and the extra `data`.

    **Example**

        pickbest export portfolio.toml --out runs.csv
    """
    from pickbest.portfolio.store.export import (
        as_csv,
        chosen_format,
        export_file,
        export_lines,
        write_table,
    )
    from pickbest.portfolio.store.views import rounds_of, verdicts_of, with_contradictions

    chosen = chosen_format(form, out)
    with reading(store, name) as journal:
        entries = journal.entries()
        if chosen == "jsonl" and out is not None:
            export_file(entries, out)
        elif chosen == "jsonl":
            for line in export_lines(entries):
                typer.echo(line)
        else:
            views = rounds_of(entries)
            views = with_contradictions(views, verdicts_of(views))
            if out is not None:
                write_table(views, chosen, out)
            else:
                typer.echo(as_csv(views), nl=False)


def import_(
    file: Annotated[Path, Argument(help="A file that `pickbest export` wrote.")],
    store: StoreArgument,
    name: NameOption = "default",
) -> None:
    """Fill an empty portfolio from an exported journal."""
    from pickbest.portfolio.store.export import read_export

    records = read_export(file)
    with opened(store, name, write=True) as ledger:
        ledger.restore(records)
    typer.echo(f"{len(records)} records")


def verify(store: StoreArgument, name: NameOption = "default") -> None:
    """Replay the journal from its beginning: every pick and the stored state must come out again.

    Right also beside processes that write. Exit code 0: all is well; 2: what differs is named.
    """
    with opened(store, name) as ledger:
        state = ledger.verify()
    typer.echo(f"{state.position} records, {state.next_round} rounds: all as a replay finds them")


def advise(store: StoreArgument, name: NameOption = "default", as_json: JsonOption = False) -> None:
    """Say what more or fewer arms a round would have brought."""
    from pickbest.portfolio.run.advise import advise as advice

    with opened(store, name) as ledger:
        roster = ledger.state.roster
        advised = advice(list(ledger.journal.entries()), roster.budget if roster else 1)
    tables.show(plain(advised), as_json, lambda _: store_tables.advice_tables(advised))


def serve(
    store: StoreArgument,
    host: Annotated[str, Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Option(help="Port; 0: any that is free.")] = 8000,
    token: Annotated[
        str | None,
        Option(envvar="PICKBEST_TOKEN", help="What clients must send; needed beyond loopback."),
    ] = None,
    name: NameOption = "default",
) -> None:
    """Offer ask, tell and history over HTTP, and a page that shows the portfolio at work.

    STORE must hold a portfolio (`pickbest run` makes one), or be a portfolio.toml.
    """
    from pickbest.portfolio.service.server import serve_store

    serve_store(store, name, host, port, token)


@contextmanager
def opened(store: str, name: str, write: bool = False) -> Iterator[Ledger]:
    """A ledger to look at, without a lock and without writing unless `write`."""
    from pickbest.portfolio.store.journal import Journal
    from pickbest.portfolio.store.ledger import Ledger

    storage, name, config = located(store, name)
    with closing(Journal(storage, name, create=write, readonly=not write)) as journal:
        yield Ledger(journal, trusted=None if config is None else config.settings.opened)


def reading(store: str, name: str) -> AbstractContextManager[Journal]:
    """A journal to read from; nothing of it is folded."""
    from pickbest.portfolio.store.journal import Journal

    storage, name, _ = located(store, name)
    return closing(Journal(storage, name, readonly=True))


def located(store: str, name: str) -> tuple[str, str, PortfolioFile | None]:
    """Storage and name of the portfolio that STORE means, and what a portfolio.toml says."""
    if store.endswith(".toml"):
        from pickbest.portfolio.run.portfolio_file import read_portfolio_file

        config = read_portfolio_file(store)
        return config.storage, config.settings.name, config
    return store, name, None


def report(
    store: StoreArgument,
    out: Annotated[Path, Option("--out", "-o", help="Folder for the report.")] = Path(
        "portfolio-report"
    ),
    deadline: Annotated[
        float | None,
        Option(help="Seconds that an arm may take, where STORE is not a portfolio.toml."),
    ] = None,
    name: NameOption = "default",
    open_page: Annotated[bool, Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Write a page about a portfolio: who wins where, costs over time, PAR2, what went wrong.

    The page needs no network and no other file; its tables lie beside it as CSV, its figures as
    PNG and SVG. Times and costs of runs that were stopped early are not known, and are shown as
    what they are at least and at most.

    **Example**

        pickbest report portfolio.toml --open
    """
    from pickbest.core import check_positive
    from pickbest.portfolio.store.records import Roster
    from pickbest.report.html import need_packages, write_report
    from pickbest.report.portfolio_numbers import PortfolioNumbers
    from pickbest.report.portfolio_page import portfolio_report

    need_packages()
    config = located(store, name)[2]  # a journal does not know the deadline
    given = None if deadline is None else check_positive("deadline", deadline)
    known = config.deadline if given is None and config is not None else given
    with reading(store, name) as journal:
        entries = list(journal.entries())
    rosters = [entry.record for entry in entries if isinstance(entry.record, Roster)]
    numbers = PortfolioNumbers.of(entries, known)
    shown = Path(store).stem if store.endswith(".toml") else name
    made = portfolio_report(numbers, rosters[-1].budget, shown, f"pickbest report {shown}")
    page = write_report(made, out)
    say(f"{len(numbers.rounds)} rounds: {page}")
    if open_page:
        typer.launch(page.resolve().as_uri())
