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
from types import FrameType

from rich.console import Console
from rich.live import Live

from pickbest.cli.portfolio_live import LiveTable, summary_line
from pickbest.core.codec import plain, storable
from pickbest.portfolio.portfolio import Portfolio
from pickbest.portfolio.portfolio_file import read_portfolio_file
from pickbest.portfolio.race import LONGEST_ANSWER, GivenUpError
from pickbest.portfolio.runs import Result, RunStatus

DONE, BAD_ARM, INTERRUPTED = 0, 2, 130


def run_problems(
    path: Path, problems: Sequence[str], concurrency: int | None, as_json: bool
) -> int:
    """Run them all; the exit code."""
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
            from pickbest.cli.portfolio_tables import show, status_table

            show(status_table(portfolio.status()))
    for arm, reason in broken.items():
        errors.print(f"error: arm {arm!r}: {reason}")
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
    return Live(
        get_renderable=lambda: table,
        console=Console(stderr=True),
        refresh_per_second=5,
        transient=True,
    )


def _report(result: Result, as_json: bool) -> None:
    if as_json:
        shown = replace(result, answer=storable(result.answer, LONGEST_ANSWER))
        print(json.dumps(plain(shown)), flush=True)  # noqa: T201 - this is the command's output
    elif not sys.stderr.isatty():
        print(summary_line(result), flush=True)  # noqa: T201 - this is the command's output
