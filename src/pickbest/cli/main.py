"""The command line put together: its commands, its errors and its exit codes."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from pickbest._version import __version__
from pickbest.cli.aslib import aslib
from pickbest.cli.benchmark import benchmark
from pickbest.cli.compiled_files import show_compiling
from pickbest.cli.feasible import feasible
from pickbest.cli.hindsight import bounds, hindsight
from pickbest.cli.lists import environments, learners
from pickbest.cli.measure import measure
from pickbest.cli.replay import replay
from pickbest.cli.report import report
from pickbest.cli.reproduce import reproduce
from pickbest.cli.run import run
from pickbest.cli.simulate import simulate
from pickbest.cli.solve import main as solve_main
from pickbest.cli.store import advise, export, history, import_journal, serve, status, verify
from pickbest.cli.warm_up import warm_up
from pickbest.core import MissingExtraError, PickbestError
from pickbest.core.text import printable

app = typer.Typer(
    name="pickbest",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Each round, pick B of N arms, keep the best result, and learn which B to pick next.",
)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    if version:
        typer.echo(f"pickbest {__version__}")
        raise typer.Exit


COMMANDS: dict[str, Callable[..., None]] = {
    "simulate": simulate,
    "hindsight": hindsight,
    "bounds": bounds,
    "learners": learners,
    "environments": environments,
    "feasible": feasible,
    "reproduce": reproduce,
    "run": run,
    "replay": replay,
    "status": status,
    "history": history,
    "report": report,
    "export": export,
    "verify": verify,
    "advise": advise,
    "serve": serve,
    "import": import_journal,
    "aslib": aslib,
    "measure": measure,
    "benchmark": benchmark,
    "warm-up": warm_up,
}
for _name, _command in COMMANDS.items():
    app.command(_name)(_command)


@app.command(
    "solve",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    add_help_option=False,
)
def _solve(context: typer.Context) -> None:
    """In place of a SAT or SMT solver: race those that are installed, and learn which."""
    raise typer.Exit(solve_main(context.args))


def main() -> None:
    """Run the command line: exit code 2 for bad input, 130 for Ctrl-C."""
    # A name that is not text of this terminal's encoding must not end a command.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    # module:Name is looked for in this folder, too, as `python -m` does; last, so that nothing
    # that is installed is hidden by what lies here.
    if not {"", os.getcwd()} & set(sys.path):
        sys.path.append(os.getcwd())
    show_compiling()
    try:
        app()
    except (PickbestError, MissingExtraError) as error:
        text = escape(printable(error))
        Console(stderr=True).print(f"[bold red]error:[/] {text}", highlight=False)
        sys.exit(2)
    except KeyboardInterrupt:
        Console(stderr=True).print("interrupted", highlight=False)
        sys.exit(130)


if __name__ == "__main__":
    main()
