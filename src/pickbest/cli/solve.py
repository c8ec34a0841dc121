"""`pickbest solve`: in place of a SAT or SMT solver.

Nothing that takes long is imported before it is needed, neither Typer nor NumPy nor Numba: a call
costs the user as little more than the solver itself as can be.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType


def main(words: Sequence[str] | None = None) -> int:
    """Run a call; its exit code: see docs/solve.md."""
    from pickbest.portfolio.solve import client

    words = sys.argv[1:] if words is None else list(words)
    if (code := client.forwarded(words)) is not None:
        return code
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        return _here(words)
    except KeyboardInterrupt as error:
        # Whoever started us sees what they would see of a solver that was ended so.
        return 128 + (error.args[0] if error.args else signal.SIGINT)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt(number)


def _here(words: Sequence[str]) -> int:
    from pickbest.core.errors import PickbestError
    from pickbest.portfolio.solve.arguments import HelpShown, parse
    from pickbest.portfolio.solve.serving import BAD_INPUT, Streams

    streams = Streams(sys.stdin.buffer, sys.stdout.buffer, sys.stderr.buffer, os.getcwd())
    try:
        arguments = parse(words)
        if arguments.action == "daemon":
            from pickbest.portfolio.solve.daemon import run_daemon

            return run_daemon(streams)
        if arguments.action == "learn":
            from pickbest.portfolio.solve.learning import learn
            from pickbest.portfolio.solve.stock import data_folder

            streams.say(f"learned from {learn(data_folder())} results")
            return 0
        from pickbest.portfolio.solve.once import call

        return call(arguments, streams)
    except HelpShown as shown:
        sys.stdout.write(str(shown))
        return 0
    except PickbestError as error:
        streams.say(f"error: {error}")
        return BAD_INPUT


if __name__ == "__main__":
    sys.exit(main())
