"""`pickbest run`: problems through a portfolio, with a progress bar and an orderly Ctrl-C."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from pickbest.cli import store_tables
from pickbest.cli.tables import say
from pickbest.core import PickbestError
from pickbest.core.progress import progress_bar
from pickbest.core.text import printable

if TYPE_CHECKING:
    from types import FrameType

    from pickbest.portfolio.run.portfolio import Portfolio
    from pickbest.portfolio.run.portfolio_file import PortfolioFile
    from pickbest.portfolio.runs import Result, Run

DONE, BAD_INPUT, CONTRADICTION, INTERRUPTED = 0, 2, 3, 130
MOST_SHOWN = 3


def run(
    config: Annotated[
        Path,
        Argument(metavar="PORTFOLIO.TOML", help="The portfolio: arms, budget, deadline, storage."),
    ],
    problems: Annotated[
        list[str] | None,
        Argument(metavar="PROBLEM", help="Problems, usually files: problems/*.cnf"),
    ] = None,
    listed: Annotated[
        Path | None,
        Option(
            "--problems",
            metavar="LIST",
            help="File with one problem per line; - for standard input.",
        ),
    ] = None,
    skip_done: Annotated[
        bool, Option("--skip-done", help="Skip problems that already have a finished round.")
    ] = False,
    concurrency: Annotated[
        int | None, Option("--concurrency", "-c", help="Number of problems to run at a time.")
    ] = None,
    as_json: Annotated[
        bool, Option("--json", help="Print one JSON object per round, with the answer.")
    ] = False,
) -> None:
    """Run a portfolio of solvers on problems: pick arms, race them, keep the best answer, learn.

    Every file must exist and every arm must find its program before the first round starts.
    Ctrl-C lets the current rounds finish, a second Ctrl-C kills them, and `--skip-done` continues
    later.

    Exit code 0: every problem was run, solved or not. 2: bad input, or an arm is set up wrongly
    (the other arms carried on). 3: two arms of a round contradict each other (named on standard
    error). 130: interrupted.

    **Examples**

        pickbest run portfolio.toml problems/*.cnf

        pickbest run portfolio.toml --problems list.txt --skip-done
    """
    from pickbest.portfolio.run.portfolio_file import read_portfolio_file

    portfolio = read_portfolio_file(config)
    chosen = chosen_problems(portfolio, problems or [], listed, skip_done)
    code = run_problems(portfolio, chosen, concurrency, as_json)
    if code:
        raise typer.Exit(code)


def chosen_problems(
    config: PortfolioFile, given: Sequence[str], listed: Path | None = None, skip_done: bool = False
) -> list[str]:
    """The problems to run, in their order."""
    problems = list(given)
    if listed is not None:  # one problem a line; empty lines are none
        try:
            text = sys.stdin.buffer.read() if str(listed) == "-" else listed.read_bytes()
        except OSError as error:
            raise PickbestError(f"{listed}: cannot be read ({error.strerror})") from error
        problems += [os.fsdecode(line) for line in text.splitlines() if line.strip()]
    if not problems:
        raise PickbestError("run needs at least one problem: name some, or give --problems LIST")
    if skip_done:
        done = _done(config)
        left = [problem for problem in problems if problem not in done]
        skipped = len(problems) - len(left)
        say(f"skipped {skipped} of {len(problems)} problems: already finished", stderr=True)
        problems = left
    return problems


def _done(config: PortfolioFile) -> set[str]:
    from pickbest.portfolio.store.journal import Journal
    from pickbest.portfolio.store.records import NoPortfolioError
    from pickbest.portfolio.store.views import rounds_of

    try:
        journal = Journal(config.storage, config.settings.name, readonly=True)
    except NoPortfolioError:
        return set()
    with contextlib.closing(journal):
        return {view.problem for view in rounds_of(journal.entries()) if view.state == "finished"}


def run_problems(
    config: PortfolioFile, problems: Sequence[str], concurrency: int | None, as_json: bool
) -> int:
    """Run them all; the exit code."""
    from rich.console import Console

    from pickbest.portfolio.run.race import GivenUpError

    finishing = threading.Event()
    notices = _Notices(config)
    won: Counter[str] = Counter()
    with config.open() as portfolio, _orderly(portfolio, finishing):
        with progress_bar("running") as progress, contextlib.suppress(GivenUpError):
            waiting = _until(problems, finishing, notices)
            results = portfolio.map(waiting, concurrency or config.concurrency)
            for done, result in enumerate(results, start=1):
                _report(result, as_json)
                notices.take(result)
                won.update([] if result.winner is None else [result.winner])
                best = ", ".join(f"{arm} {count}" for arm, count in won.most_common(MOST_SHOWN))
                if progress:
                    progress(done, len(problems), printable(f"{won.total()} solved ({best})"))
        if not as_json:
            Console().print(store_tables.status_table(portfolio.status()))
    notices.sum_up()
    if finishing.is_set():
        return INTERRUPTED
    return notices.exit_code


class _Notices:
    """What a person must hear of: said on stderr, at once where no bar is drawn there."""

    def __init__(self, config: PortfolioFile) -> None:
        self._live = sys.stderr.isatty()
        self._guesses = config.race.answer is None
        self._told: dict[str, None] = {}
        self.exit_code = DONE

    def take(self, result: Result) -> None:
        from pickbest.portfolio.runs import RunStatus

        for each in result.contradictions:
            self.exit_code = CONTRADICTION
            self._say(f"contradiction: {each}")
        for run in result.runs:
            if run.status is RunStatus.BROKEN:
                self._wrong_input(f"arm {run.arm!r}: {run.reason}")
            elif run.status is RunStatus.WRONG:
                self._say(f"warning: arm {run.arm!r}: {run.reason}")

    def guess(self, problem: str) -> None:
        """Say, once for each kind of problem, how answers will be read."""
        from pickbest.portfolio.run.answers.handling import guess_format
        from pickbest.portfolio.run.answers.reading import TEXT

        if self._guesses and (guessed := guess_format(problem)) is not TEXT:
            self._say(
                f'reading answers as "{guessed.name}", guessed from the file names; set answer = '
                "in portfolio.toml to choose"
            )

    def missing(self, problem: str) -> None:
        self._wrong_input(f"no such file: {problem}")

    def sum_up(self) -> None:
        """Say what could not be said while the bar was drawn."""
        for text in self._told if self._live else ():
            say(text, stderr=True)

    def _wrong_input(self, text: str) -> None:
        self.exit_code = self.exit_code or BAD_INPUT
        self._say(f"error: {text}")

    def _say(self, text: str) -> None:
        text = printable(text)
        if text not in self._told and not self._live:
            say(text, stderr=True)
        self._told[text] = None


def _until(problems: Sequence[str], finishing: threading.Event, notices: _Notices) -> Iterator[str]:
    from pickbest.portfolio.run.arms import names_file

    for problem in problems:
        if finishing.is_set():
            return
        if names_file(problem) and not os.path.exists(problem):
            notices.missing(problem)
            continue
        notices.guess(problem)
        yield problem


@contextmanager
def _orderly(portfolio: Portfolio, finishing: threading.Event) -> Iterator[None]:
    """The first Ctrl-C (or SIGTERM) lets running rounds finish, the second kills them."""

    def on_signal(number: int, frame: FrameType | None) -> None:
        if finishing.is_set():
            portfolio.kill()
        else:
            os.write(2, b"finishing the current rounds; Ctrl-C again kills them\n")
        finishing.set()

    handled = [signal.SIGINT, signal.SIGTERM]
    before = {number: signal.signal(number, on_signal) for number in handled}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _report(result: Result, as_json: bool) -> None:
    from pickbest.core.codec import plain, storable
    from pickbest.portfolio.run.race import LONGEST_ANSWER

    if as_json:
        shown = replace(result, answer=storable(result.answer, LONGEST_ANSWER))
        typer.echo(json.dumps(plain(shown)))
    elif not sys.stderr.isatty():
        typer.echo(_summary_line(result))


def _summary_line(result: Result) -> str:
    """One round in one line, for logs and pipes."""
    parts = [f"{run.arm} {_outcome(run)}" for run in result.runs]
    verdict = f"{result.verdict}, " if result.verdict else ""
    won = f"{verdict}won by {result.winner}" if result.winner else "not solved"
    return printable(f"round {result.round}: {result.problem}: {won} ({', '.join(parts)})")


def _outcome(run: Run) -> str:
    from pickbest.portfolio.runs import RunStatus

    if run.status in (RunStatus.CRASHED, RunStatus.BROKEN):
        return f"{run.status.value}: {run.reason}"
    if run.status in (RunStatus.NO_ANSWER, RunStatus.WRONG):
        return run.reason
    if run.cost is None:
        return f"stopped after {run.seconds:.2f} s"
    verdict = f"{run.verdict}, " if run.verdict else ""
    return f"{run.status.value} in {run.seconds:.2f} s, {verdict}cost {run.cost:.3g}"
