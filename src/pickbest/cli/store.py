"""Commands on a portfolio's store, from status and history to serve and report."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from typer import Argument, Option

from pickbest.cli import store_tables, tables
from pickbest.cli.options import JsonOption
from pickbest.cli.tables import say
from pickbest.core import PickbestError
from pickbest.core.codec import plain
from pickbest.core.text import printable

if TYPE_CHECKING:
    from pickbest.portfolio.run.portfolio_file import PortfolioFile
    from pickbest.portfolio.store.ledger import Ledger


StoreArgument = Annotated[
    str, Argument(metavar="STORE", help="A portfolio.toml, an SQLite file, or a database URL.")
]
NameOption = Annotated[
    str,
    Option("--name", help="Name of the portfolio in the database; a portfolio.toml has its own."),
]


def status(store: StoreArgument, name: NameOption = "default", as_json: JsonOption = False) -> None:
    """Show the arms of a portfolio: picks, wins, costs, and the chance of being picked next."""
    from pickbest.portfolio.store.views import overview

    with opened(store, name) as ledger:
        view = overview(ledger.state)
    tables.show(plain(view), as_json, lambda _: store_tables.status_table(view))


def history(
    store: StoreArgument,
    last: Annotated[int, Option("--last", help="Number of rounds to show.")] = 20,
    name: NameOption = "default",
    as_json: Annotated[bool, Option("--json", help="Print one JSON object per round.")] = False,
) -> None:
    """Show the last rounds: problem, winner, other arms, answer, cost.

    An answer marked with ! is contradicted by another arm of the round.
    """
    with opened(store, name) as ledger:
        views = ledger.rounds(last)
    if as_json:
        for view in views:
            typer.echo(json.dumps(plain(view)))
        return
    console = Console()
    console.print(store_tables.history_table(views, console.width))
    for view in views:
        for each in view.contradictions:
            say(f"contradiction: {printable(each)}")


def export(
    store: StoreArgument,
    out: Annotated[
        Path | None, Option("--out", "-o", help="File to write; standard output by default.")
    ] = None,
    form: Annotated[
        str | None,
        Option(
            "--format",
            help="jsonl (the journal) or csv (one row per run); by default from --out's suffix.",
        ),
    ] = None,
    name: NameOption = "default",
) -> None:
    """Export the journal as JSON lines, or the runs as a table.

    **Example**

        pickbest export portfolio.toml --out runs.csv
    """
    from pickbest.portfolio.store.export import as_csv, chosen_format, export_lines, write_file
    from pickbest.portfolio.store.journal import Journal
    from pickbest.portfolio.store.views import rounds_of

    chosen = chosen_format(form, out)
    storage, name, _ = located(store, name)
    with closing(Journal(storage, name, readonly=True)) as journal:
        entries = journal.entries()
        if chosen == "jsonl":
            lines: Iterable[str] = export_lines(entries)
        else:
            lines = [as_csv(rounds_of(entries))]
        if out is not None:
            write_file("".join(lines), out)
        else:
            for line in lines:
                typer.echo(line, nl=False)


def verify(store: StoreArgument, name: NameOption = "default") -> None:
    """Check a journal: replaying it must give the same picks and the same state.

    Other processes may write meanwhile. Exit code 0: nothing differs. 2: the error names the first
    difference.
    """
    with opened(store, name) as ledger:
        state = ledger.verify()
    typer.echo(f"{state.position} records, {state.next_round} rounds: the replay agrees")


def advise(store: StoreArgument, name: NameOption = "default", as_json: JsonOption = False) -> None:
    """Estimate what a larger or smaller budget would have gained."""
    from pickbest.portfolio.run.advise import advise as advice

    with opened(store, name) as ledger:
        roster = ledger.state.roster
        advised = advice(list(ledger.journal.entries()), roster.budget if roster else 1)
    tables.show(plain(advised), as_json, lambda _: store_tables.advice_table(advised))


def serve(
    store: StoreArgument,
    host: Annotated[str, Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Option(help="Port to listen on; 0 for any free one.")] = 8000,
    token: Annotated[
        str | None,
        Option(
            envvar="PICKBEST_TOKEN",
            help="Token that clients must send; required unless the address is loopback.",
        ),
    ] = None,
    token_file: Annotated[
        Path | None, Option(help="File that holds the token; better than --token.")
    ] = None,
    name: NameOption = "default",
) -> None:
    """Serve a portfolio over HTTP: ask, tell, history, metrics, and a live page.

    STORE is a portfolio.toml, or a database that already holds a portfolio.
    """
    from pickbest.portfolio.service.server import serve_store

    if token_file is not None:
        token = _token_in(token_file)
    serve_store(store, name, host, port, token)


def _token_in(path: Path) -> str:
    """The token that is all of a file."""
    try:
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise PickbestError(f"{path}: the token cannot be read ({reason})") from error
    if not token or len(token.split()) != 1:
        raise PickbestError(f"{path}: a token file must hold one word, and nothing else")
    return token


@contextmanager
def opened(store: str, name: str) -> Iterator[Ledger]:
    """A ledger to look at, without a lock and without writing."""
    from pickbest.portfolio.store.journal import Journal
    from pickbest.portfolio.store.ledger import Ledger

    storage, name, config = located(store, name)
    with closing(Journal(storage, name, readonly=True)) as journal:
        yield Ledger(journal, trusted=None if config is None else config.settings.opened)


def located(store: str, name: str) -> tuple[str, str, PortfolioFile | None]:
    """Storage and name of the portfolio that STORE means, and what a portfolio.toml says."""
    if store.endswith(".toml"):
        from pickbest.portfolio.run.portfolio_file import read_portfolio_file

        config = read_portfolio_file(store)
        return config.storage, config.settings.name, config
    return store, name, None


def report(
    store: StoreArgument,
    out: Annotated[
        Path, Option("--out", "-o", help="Folder for the page, its tables and its figures.")
    ] = Path("portfolio-report"),
    name: NameOption = "default",
    open_page: Annotated[bool, Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Write a page about a portfolio: who wins, each arm alone, costs over time, failures.

    The page is one file that needs no network. Its tables are also written as CSV, and its
    figures as PNG and SVG.

    **Example**

        pickbest report portfolio.toml --open
    """
    from pickbest.portfolio.store.views import overview
    from pickbest.report.html import need_packages, write_report
    from pickbest.report.portfolio_page import portfolio_report

    need_packages()
    shown = Path(store).stem if store.endswith(".toml") else name
    again = Path(store).name if store.endswith(".toml") else f"STORE --name {name}"
    command = f"pickbest report {again}"
    with opened(store, name) as ledger:
        view = overview(ledger.state)
        entries, course = list(ledger.journal.entries()), ledger.state.course
        made = portfolio_report(view, course, entries, shown, command)
    page = write_report(made, out)
    say(f"{view.problems} problems: {page}")
    if open_page:
        typer.launch(page.resolve().as_uri())
