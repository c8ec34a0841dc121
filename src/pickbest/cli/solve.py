"""`pickbest solve`: in place of a SAT or SMT solver.

Nothing that takes long is imported before it is needed, neither Typer nor NumPy nor Numba: a call
costs the user as little more than the solver itself as can be.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    from types import FrameType

    from pickbest.portfolio.solve.call import Streams
    from pickbest.portfolio.solve.words import Arguments


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
    sys.exit(main())


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
    from pickbest.portfolio.solve.call import BAD_INPUT, Streams
    from pickbest.portfolio.solve.words import HelpShown, parse

    streams = Streams(_stream(0, "r"), _stream(1, "w"), _stream(2, "w"))
    try:
        arguments = parse(words, program)
        return _act(arguments, streams, started)
    except HelpShown as shown:
        streams.write([str(shown).encode()])
        return 0
    except PickbestError as error:
        streams.say(f"error: {error}")
        return BAD_INPUT
    except BrokenPipeError:
        raise
    except OSError as error:
        streams.say(f"error: the answer could not be written ({error.strerror})")
        return 1
    finally:
        for stream in (streams.stdout, streams.stderr):
            with contextlib.suppress(OSError):
                stream.close()


def _stream(number: int, mode: str) -> BinaryIO:
    return cast("BinaryIO", os.fdopen(number, f"{mode}b", closefd=False))


def _act(arguments: Arguments, streams: Streams, started: float) -> int:
    from pickbest.portfolio.solve.call import Caller, nested
    from pickbest.portfolio.solve.stock import data_folder

    if nested():
        streams.say("error: a solver of pickbest solve is pickbest solve itself")
        return 2
    folder = data_folder()
    if arguments.action == "session":
        arguments = replace(arguments, action="solve", files=("-",))
    if arguments.action == "solve":
        if folder is None:
            streams.say("note: the data folder cannot be used, so nothing is learned")
        return Caller(arguments, streams, folder, started).run()
    if arguments.action == "learn":
        from pickbest.portfolio.solve.learning import learn

        streams.say(f"learned from {learn(folder) if folder else 0} results")
        return 0
    if arguments.action == "list":
        from pickbest.portfolio.solve.listing import listed

        streams.write([listed(arguments).encode()])
        return 0
    raise NotImplementedError(arguments.action)


if __name__ == "__main__":
    command()
