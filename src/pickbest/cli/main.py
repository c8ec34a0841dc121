"""The command line put together: its commands in groups, its errors and its exit codes."""

import errno
import inspect
import io
import logging
import os
import re
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from typer import Option
from typer.core import TyperCommand, TyperGroup

from pickbest._version import __version__
from pickbest.cli.feasible import feasible
from pickbest.cli.hindsight import bounds, environments, hindsight, learners
from pickbest.cli.replay import replay
from pickbest.cli.run import run
from pickbest.cli.simulate import simulate
from pickbest.cli.store import advise, export, history, report, serve, status, verify
from pickbest.core.errors import MissingExtraError, PickbestError, nearest
from pickbest.core.text import printable

BAD_INPUT, INTERRUPTED = 2, 130
# A shell asks which words may follow.
COMPLETING = "_PICKBEST_COMPLETE" in os.environ
# Typer's errors about how a command is called have this parent, which it does not export.
CallError: type[Any] = typer.BadParameter.__mro__[1]


def solve(context: typer.Context) -> None:
    """Solve SAT and SMT problems: race the installed solvers, and learn which to pick."""
    from pickbest.cli.solve import main

    raise typer.Exit(main(context.args))


# In the order of the help; a command is called as its function.
GROUPS: dict[str, tuple[Callable[..., None], ...]] = {
    "Solve and run": (solve, run, serve),
    "Look back": (status, history, report, advise, export, verify),
    "Try learners": (simulate, replay, hindsight, learners, environments),
    "Mathematics": (bounds, feasible),
}


# What help shows where a type of Python would stand.
PLACES = {"<str>": "TEXT", "<int>": "N", "<float>": "NUMBER", "<path>": "PATH"}


class _PlainHelp:
    """Parameters of a command, whose help shows words and no types of Python."""

    def get_params(self, ctx: Any) -> list[Any]:
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for each in params:
            longest = max(each.opts, key=len).lstrip("-").upper()
            if each.param_type_name == "argument":
                each.metavar = each.metavar or longest
                each.display_type_rich = lambda ctx: None
            elif getattr(each, "is_flag", False):
                each.metavar = ""
            elif each.param_type_name == "option":
                each.metavar = each.metavar or PLACES.get(each.display_type(ctx=ctx), longest)
        return params


class HelpfulCommand(_PlainHelp, TyperCommand):
    """One command."""


class HelpfulGroup(_PlainHelp, TyperGroup):
    """All commands."""


def _with_own_words(command: Callable[..., None]) -> Callable[..., None]:
    """`solve` parses its own words: a shell that completes is told what they are."""
    from pickbest.portfolio.solve.words import OPTIONS

    def worded(**words: Any) -> None:
        """Never called."""

    options = {
        f"own_{place}": Annotated[bool, Option(*each.names, help=each.help)]
        for place, each in enumerate(OPTIONS)
        if "--help" not in each.names
    }
    kind = inspect.Parameter.KEYWORD_ONLY
    worded.__annotations__ = options
    worded.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, kind, default=False, annotation=options[name]) for name in options]
    )
    worded.__doc__ = command.__doc__
    return worded


def _options(
    version: Annotated[bool, Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(f"pickbest {__version__}")
        raise typer.Exit


app = typer.Typer(
    name="pickbest",
    cls=HelpfulGroup,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Each round, pick B of N arms, keep the best result, and learn which B to pick next.",
)
app.callback(invoke_without_command=True)(_options)
for _group, _functions in GROUPS.items():
    for _each in _functions:
        _passed_on = {"ignore_unknown_options": True, "allow_extra_args": True}
        app.command(
            _each.__name__.rstrip("_"),
            cls=HelpfulCommand,
            rich_help_panel=_group,
            context_settings=_passed_on if _each is solve else None,
            add_help_option=_each is not solve,
        )(_with_own_words(_each) if _each is solve and COMPLETING else _each)


def main(commands: Callable[..., Any] | None = None) -> None:
    """Run the command line (or another): exit code 2 for bad input, 130 for Ctrl-C."""
    # A name that is not text of this terminal's encoding must not end a command.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    # The library logs that it compiles, which takes seconds.
    log = logging.getLogger("pickbest")
    log.addHandler(logging.StreamHandler())
    log.setLevel(logging.INFO)
    words = sys.argv[1:] or ["--help"]
    try:
        name = {} if commands else {"prog_name": "pickbest"}
        try:
            code = (commands or app)(words, standalone_mode=False, **name) or 0
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
        code = _refused(f"the output cannot be written ({error.strerror})")
    except (PickbestError, MissingExtraError) as error:
        code = _refused(str(error))
    except CallError as error:
        code = _refused(_miscalled(error))
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code == INTERRUPTED:
        sys.stderr.write("interrupted\n")
    sys.exit(code)


def _miscalled(error: Any) -> str:
    """Typer's sentence in our style: its suggestions are often far away."""
    context = error.ctx
    told, unknown, known = str(error.format_message()), "", ()
    if hasattr(error, "possibilities"):
        told, unknown, known = str(error.message), error.option_name, error.possibilities or ()
    elif context and (found := re.match(r"No such command '(.*)'\.", told)):
        told, unknown, known = found[0], found[1], context.command.commands
    near = nearest(unknown, known)
    told = told.partition(", unable to parse")[0].rstrip(".")
    hint = f"; did you mean {near}? See" if near else "; see"
    help_of = f"{hint} `{context.command_path} --help`" if context else ""
    return told[:1].lower() + told[1:] + help_of


def _refused(reason: str) -> int:
    text = escape(_shortened(printable(reason)))
    Console(stderr=True).print(f"[bold red]error:[/] {text}", highlight=False, soft_wrap=True)
    return BAD_INPUT


def _shortened(text: str) -> str:
    """A sentence that names something far too long still ends."""
    return text if len(text) <= 1500 else f"{text[:1000]} … {text[-300:]}"


if __name__ == "__main__":
    main()
