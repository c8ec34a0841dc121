"""The command line put together: its commands, its errors and its exit codes."""

import errno
import io
import logging
import os
import sys
from collections.abc import Callable
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from typer import Option

from pickbest._version import __version__
from pickbest.cli.feasible import feasible
from pickbest.cli.hindsight import bounds, environments, hindsight, learners
from pickbest.cli.replay import replay
from pickbest.cli.run import run
from pickbest.cli.simulate import simulate
from pickbest.cli.store import advise, export, history, import_, report, serve, status, verify
from pickbest.core import MissingExtraError, PickbestError
from pickbest.core.text import printable
from pickbest.portfolio.processes import hide, passwords_in

# In the order of the help; a command is called as its function.
FUNCTIONS: tuple[Callable[..., None], ...] = (
    *(simulate, hindsight, bounds, learners, environments, feasible, run, replay),
    *(status, history, report, export, verify, advise, serve, import_),
)
COMMANDS = {each.__name__.rstrip("_").replace("_", "-"): each for each in FUNCTIONS}


def command_line(asked: str | None = None) -> typer.Typer:
    """The command line; asked: the one command that will run, or be helped with; None: any.

    Typer reads the parameters of every command before it runs one, which takes longer than most
    commands: those that are not asked for have none.
    """
    app = typer.Typer(
        name="pickbest",
        no_args_is_help=True,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        help="Each round, pick B of N arms, keep the best result, and learn which B to pick next.",
    )
    app.callback(invoke_without_command=True)(_options)
    for name, command in COMMANDS.items():
        app.command(name)(command if asked in (None, name) else _only_named(command))
    passed_on = {"ignore_unknown_options": True, "allow_extra_args": True}
    app.command("solve", context_settings=passed_on, add_help_option=False)(_solve)
    return app


def _only_named(command: Callable[..., None]) -> Callable[[], None]:
    def named() -> None:
        """Never called."""

    named.__doc__ = command.__doc__
    return named


def _options(
    version: Annotated[bool, Option("--version", help="Show the version.")] = False,
) -> None:
    if version:
        typer.echo(f"pickbest {__version__}")
        raise typer.Exit


def _solve(context: typer.Context) -> None:
    """In place of a SAT or SMT solver: race those that are installed, and learn which."""
    from pickbest.cli.solve import main as solve

    raise typer.Exit(solve(context.args))


app = command_line()


def main(commands: Callable[[], None] | None = None) -> None:
    """Run the command line (or another): exit code 2 for bad input, 130 for Ctrl-C."""
    # A name that is not text of this terminal's encoding must not end a command.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    hide(passwords_in(sys.argv))
    # The library logs that it compiles, which takes seconds.
    log = logging.getLogger("pickbest")
    log.addHandler(logging.StreamHandler())
    log.setLevel(logging.INFO)
    asked = None if "_PICKBEST_COMPLETE" in os.environ else " ".join(sys.argv[1:2])
    run_command = commands or command_line(asked)
    try:
        try:
            run_command()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Nobody reads on, which is no error; nothing more is written, not even at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(1)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EIO, errno.EBADF):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        Console(stderr=True).print(
            f"[bold red]error:[/] the output cannot be written ({error.strerror})", highlight=False
        )
        sys.exit(2)
    except (PickbestError, MissingExtraError) as error:
        text = escape(_shortened(printable(error)))
        Console(stderr=True).print(f"[bold red]error:[/] {text}", highlight=False)
        sys.exit(2)
    except KeyboardInterrupt:
        Console(stderr=True).print("interrupted", highlight=False)
        sys.exit(130)


def _shortened(text: str) -> str:
    """A sentence that names something far too long still ends."""
    return text if len(text) <= 1500 else f"{text[:1000]} … {text[-300:]}"


if __name__ == "__main__":
    main()
