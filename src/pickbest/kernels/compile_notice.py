"""Code that is compiled for the first time says so: it takes seconds, and nothing else tells why.

The line goes to the log of `pickbest`, which the command line shows and a program shows if it likes
(`logging.basicConfig(level="INFO")`).
"""

import logging
from typing import Any, cast

from numba.core import event

COMPILING = "numba:compile"
LOG = logging.getLogger("pickbest")
NOTICE = "compiling for this machine, once; about 10 s"


class FirstCompile(event.Listener):
    """Logs the notice at the first function that is not in the cache."""

    def __init__(self) -> None:
        self._said = False

    def on_start(self, happened: Any) -> None:
        """A function is about to be compiled (Numba lets one thread at a time do that)."""
        if not self._said:
            self._said = True
            LOG.info(NOTICE)

    def on_end(self, happened: Any) -> None:
        """It is compiled, or could not be."""


cast(Any, event).register(COMPILING, FirstCompile())
