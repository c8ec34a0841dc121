"""Where `pickbest` and `python -m pickbest` begin."""

import os
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType
from typing import NoReturn

# Seconds that a command has after Ctrl-C to tidy up.
LEFT = 0.7
INTERRUPTED = 130


def main() -> None:
    """Run the command line. `solve` waits for none of what the other commands import."""
    try:
        if sys.argv[1:2] == ["solve"]:
            from pickbest.cli.solve import main as solve

            sys.exit(solve(sys.argv[2:]))
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _interrupt)
        from pickbest.cli.main import main as others

        others()
    except KeyboardInterrupt:  # while it imports, too
        _end()
    except SystemExit as ended:
        if ended.code == INTERRUPTED:
            # All is tidied up, and Python would wait for a compiler that is at work.
            with suppress(OSError, ValueError):
                sys.stdout.flush()
            os._exit(INTERRUPTED)
        raise


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    """Ctrl-C is answered within a second, even where a library swallows the exception."""
    timer = threading.Timer(LEFT, _end)
    timer.daemon = True
    timer.start()
    raise KeyboardInterrupt


def _end() -> NoReturn:
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)
