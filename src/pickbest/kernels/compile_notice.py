"""Code that is compiled for the first time says so: it takes seconds, and nothing else tells why.

The line goes to the log of `pickbest`, which the command line shows and a program shows if it likes
(`logging.basicConfig(level="INFO")`).
"""

import gc
import logging
from typing import Any, cast

from numba.core import event

COMPILING = "numba:compile"
LOG = logging.getLogger("pickbest")
NOTICE = "compiling for this machine, once; about 10 s"


class FirstCompile(event.Listener):
    """Logs the notice at the first function that is not in the cache.

    Meanwhile it keeps the collector of garbage away: a compiler makes millions of objects that
    all live until it is done, and looking through them again and again takes a sixth of its time.
    """

    def __init__(self) -> None:
        self._said = False
        self._depth = 0
        self._collects = False

    def on_start(self, happened: Any) -> None:
        """A function is about to be compiled (Numba lets one thread at a time do that)."""
        if not self._said:
            self._said = True
            LOG.info(NOTICE)
        if self._depth == 0:
            self._collects = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, happened: Any) -> None:
        """It is compiled, or could not be."""
        self._depth -= 1
        if self._depth == 0 and self._collects:
            gc.enable()


cast(Any, event).register(COMPILING, FirstCompile())
