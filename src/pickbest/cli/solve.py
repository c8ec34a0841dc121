"""`pickbest solve`: in place of a SAT or SMT solver.

Nothing that takes long is imported before it is needed, neither Typer nor NumPy nor Numba: a call
costs the user as little more than the solver itself as can be.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

    from pickbest.portfolio.solve.words import Arguments, Streams


def main(words: Sequence[str] | None = None) -> int:
    """Run a call; its exit code: see docs/solve.md."""
    started = time.monotonic()
    program = sys.argv[0] if words is None else ""
    words = sys.argv[1:] if words is None else list(words)
    _open_streams()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        return _run(words, program, started)
    except KeyboardInterrupt as error:
        # Whoever started us sees what they would see of a solver that was ended so.
        return 128 + (error.args[0] if error.args else signal.SIGINT)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 128 + signal.SIGPIPE


def command() -> None:
    """Where `pickbest-solve` begins."""
    # Nothing is held back or left to tidy up, and for Python to end properly takes milliseconds.
    os._exit(main())


def _open_streams() -> None:
    """A standard stream that is closed is an empty one: nothing else may get its number."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt(number)


def _run(words: Sequence[str], program: str, started: float) -> int:
    from pickbest.core.errors import PickbestError
    from pickbest.portfolio.solve.words import Streams, parse

    streams = Streams(os.fdopen(0, "rb", closefd=False))
    try:
        return _act(parse(words, program), streams, started)
    except PickbestError as error:
        streams.say(f"error: {error}")
        return 2
    except BrokenPipeError:
        raise
    except OSError as error:
        streams.say(f"error: the answer could not be written ({error.strerror})")
        return 1


def _act(arguments: Arguments, streams: Streams, started: float) -> int:
    from pickbest.portfolio.solve.keep import data_folder
    from pickbest.portfolio.solve.known import nested, version_said
    from pickbest.portfolio.solve.words import help_text

    if nested():
        streams.say("error: a solver leads back to pickbest solve itself: remove it")
        return 2
    if arguments.action in ("help", "version"):
        text = help_text() if arguments.action == "help" else version_said(arguments.called)
        streams.write([text.encode()])
        return 0
    folder = data_folder()
    if arguments.action == "session":
        if sys.argv[1:] == [] and os.isatty(0):
            streams.say("note: reading SMT-LIB from the terminal; Ctrl-D ends (see --help)")
        from pickbest.portfolio.solve.session import talk

        return talk(arguments, folder)
    if arguments.action == "solve":
        gc.disable()  # what a call leaves behind is gone when it ends
        from pickbest.portfolio.solve.call import solve

        return solve(arguments, streams, folder, started)
    from pickbest.portfolio.solve import learning, stats
    from pickbest.portfolio.solve.keep import Keep

    keep = Keep(folder)
    if arguments.action == "list":
        streams.write([stats.listed(arguments, keep).encode()])
    elif arguments.action == "stats":
        streams.write([stats.stats(keep, arguments.as_json).encode()])
    elif arguments.action == "learn":
        streams.say(f"learned from {learning.learn_all(folder) if folder else 0} calls")
    elif arguments.action == "export":
        streams.say(f"wrote {stats.export(keep, arguments.target)} calls")
    elif arguments.action == "import":
        streams.say(f"added {stats.import_calls(keep, arguments.target)} calls")
        learning.learn_all(folder) if folder else 0
    return 0


if __name__ == "__main__":
    command()
