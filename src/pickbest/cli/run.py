"""`pickbest run`: problems through a portfolio, with a live table and an orderly Ctrl-C."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pickbest.cli import tables
from pickbest.core.text import printable

if TYPE_CHECKING:
    from types import FrameType

    from pickbest.cli.live_table import LiveTable
    from pickbest.portfolio.portfolio import Portfolio
    from pickbest.portfolio.runs import Result

DONE, BAD_ARM, INTERRUPTED = 0, 2, 130


def run(
    config: Annotated[Path, typer.Argument(metavar="PORTFOLIO.TOML", help="What to run.")],
    problems: Annotated[list[str], typer.Argument(help="Problems, often files: problems/*.cnf")],
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", "-c", help="Problems at a time.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a round, with the answer.")
    ] = False,
) -> None:
    """Run a portfolio on problems: pick arms, race them, keep the best answer, learn.

    Ctrl-C finishes the rounds that run, a second one kills them. Exit code 0: all done; 2: bad
    input, or an arm is set up wrongly (the other arms went on); 130: interrupted.

    **Example**

        pickbest run portfolio.toml problems/*.cnf
    """
    code = run_problems(config, problems, concurrency, as_json)
    if code:
        raise typer.Exit(code)


def run_problems(
    path: Path, problems: Sequence[str], concurrency: int | None, as_json: bool
) -> int:
    """Run them all; the exit code."""
    from rich.console import Console

    from pickbest.cli.live_table import LiveTable
    from pickbest.portfolio.portfolio_file import read_portfolio_file
    from pickbest.portfolio.race import GivenUpError
    from pickbest.portfolio.runs import RunStatus

    config = read_portfolio_file(path)
    table = LiveTable(len(problems), config.deadline)
    finishing = threading.Event()
    broken: dict[str, str] = {}
    errors = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    with config.open(table) as portfolio, _orderly(portfolio, finishing, table):
        with _shown(table), contextlib.suppress(GivenUpError):
            waiting = _until(problems, finishing)
            for result in portfolio.map(waiting, concurrency or config.concurrency):
                _report(result, as_json)
                broken |= {
                    run.arm: run.reason for run in result.runs if run.status is RunStatus.BROKEN
                }
        if not as_json:
            Console().print(tables.status_table(portfolio.status()))
    for arm, reason in broken.items():
        errors.print(f"error: arm {arm!r}: {printable(reason)}")
    if finishing.is_set():
        errors.print("interrupted")
        return INTERRUPTED
    return BAD_ARM if broken else DONE


def _until(problems: Sequence[str], finishing: threading.Event) -> Iterator[str]:
    for problem in problems:
        if finishing.is_set():
            return
        yield problem


@contextmanager
def _orderly(portfolio: Portfolio, finishing: threading.Event, table: LiveTable) -> Iterator[None]:
    """The first Ctrl-C (or SIGTERM) lets running rounds finish, the second kills them."""

    def on_signal(number: int, frame: FrameType | None) -> None:
        if finishing.is_set():
            portfolio.kill()
        finishing.set()
        table.finishing = True

    handled = [signal.SIGINT, signal.SIGTERM]
    before = {number: signal.signal(number, on_signal) for number in handled}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _shown(table: LiveTable) -> AbstractContextManager[object]:
    if not sys.stderr.isatty():
        return contextlib.nullcontext()
    from rich.console import Console
    from rich.live import Live

    return Live(
        get_renderable=lambda: table,
        console=Console(stderr=True),
        refresh_per_second=5,
        transient=True,
    )


def _report(result: Result, as_json: bool) -> None:
    from pickbest.cli.live_table import summary_line

    if as_json:
        typer.echo(json.dumps(result_summary(result)))
    elif not sys.stderr.isatty():
        typer.echo(summary_line(result))


def result_summary(result: Result) -> Any:
    """A round as `--json` prints it."""
    from pickbest.core.codec import plain, storable
    from pickbest.portfolio.race import LONGEST_ANSWER

    return plain(replace(result, answer=storable(result.answer, LONGEST_ANSWER)))
