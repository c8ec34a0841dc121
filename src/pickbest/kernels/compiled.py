"""How kernels become machine code: when it pays, once, and kept for every later process.

A kernel is a plain function of numbers and arrays. Called from Python it runs as Python; called
from compiled code it is compiled with its caller. `compiled` makes an entrance: a function that
Python calls and that runs as machine code. Both ways give the same bits.

Numba is imported when the first entrance is compiled, not before.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache, cached_property, partial
from typing import Any, Generic, Literal, ParamSpec, TypeVar

import numpy as np

from pickbest.kernels import kept_code

LOG = logging.getLogger("pickbest")
NOTICE = "compiling for this machine, once; about 10 s"
# Machine code is compiled in about as many seconds, or loaded if it was kept.
COMPILE_SECONDS, LOAD_SECONDS = 2.0, 0.3
# Calls on more numbers than this are compiled at once: as Python, a single one would take longer.
MOST_INTERPRETED = 20_000

# Division by 0 gives inf or NaN, as in NumPy: checking for it would keep loops from using vector
# instructions. Entry points for C are left out: nobody calls them.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
# Numba's switch for its reference counts. They cost an atomic instruction for every view of an
# array, several times what a round of a learner itself costs; code that borrows arrays needs none.
COUNTS = "_nrt"

LARGEST_EXPONENT = 709.78

Function = TypeVar("Function", bound=Callable[..., object])
Given = ParamSpec("Given")
Result = TypeVar("Result")

# Kernels that Numba has not been told of yet, with their options.
_untold: list[tuple[Callable[..., object], dict[str, Any]]] = []
# Held by the thread that tells Numba of a function.
_telling = threading.Lock()


def kernel(function: Function) -> Function:
    """A kernel that borrows the arrays that it is given: it makes none, and returns numbers only.

    An array that it returned would belong to nobody. A kernel that makes arrays is `allocating`.
    """
    _untold.append((function, {COUNTS: False}))
    return function


def inlined(function: Function) -> Function:
    """A borrowing kernel that is written into its callers: what is called many times per round."""
    _untold.append((function, {COUNTS: False, "forceinline": True}))
    return function


def summing(function: Function) -> Function:
    """A borrowing kernel whose sum may be reordered: else it cannot use vector instructions."""
    _untold.append((function, {COUNTS: False, "fastmath": {"reassoc", "nsz", "nnan"}}))
    return function


def allocating(function: Function) -> Function:
    """A kernel that makes arrays, or is given them by what it calls."""
    _untold.append((function, {COUNTS: True}))
    return function


class Compiled(Generic[Given, Result]):
    """A function that Python calls and that runs as machine code.

    plain: the function as it is written. counts: whether it makes arrays (see `allocating`).
    """

    def __init__(self, plain: Callable[Given, Result], counts: bool = True) -> None:
        self.plain = plain
        self._counts = counts
        self._interpreted = 0.0
        self._meanwhile: threading.Thread | None = None
        self._ready: Callable[Given, Result] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Without machine code: another process must tell Numba of the kernels first."""
        return Compiled, (self.plain, self._counts)

    def __call__(self, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        """Run it compiled; the first call of a process compiles it, or loads what was kept."""
        return self._machine(*args, **kwargs)

    def suited(self, size: int = 0) -> Callable[Given, Result]:
        """How to call it on this many numbers (arms of a round, over all replicates).

        On few, it runs as Python until that has taken as long as compiling would, then compiled. It
        is compiled by another thread, and runs as Python meanwhile: no call waits for it. The
        program does at its end, because machine code cannot be left half-made.
        """
        way = _WAY.get()
        if way == "compiled" or size > MOST_INTERPRETED:
            return self._machine
        return self._ready if way is None and self._ready is not None else self._as_python

    def _as_python(self, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        began = time.perf_counter()
        result = interpreted(self.plain, *args, **kwargs)
        if _WAY.get() is None and self._meanwhile is None:
            self._interpreted += time.perf_counter() - began
            if self._interpreted > LOAD_SECONDS and (
                self._interpreted > COMPILE_SECONDS or kept_code.is_kept(self.plain)
            ):
                self._meanwhile = threading.Thread(target=self._compile, args=args)
                with suppress(RuntimeError):  # no more threads, or the program is ending
                    self._meanwhile.start()
        return result

    def _compile(self, *args: Any) -> None:
        """Make the machine code for the types of these arguments."""
        machine: Any = self._machine
        if not isinstance(machine, partial):
            machine.compile(tuple(machine.typeof_pyval(each) for each in args))
        self._ready = machine

    @cached_property
    def _machine(self) -> Callable[Given, Result]:
        from numba import config, njit
        from numba.extending import register_jitable

        if getattr(config, "DISABLE_JIT", False):
            return partial(interpreted, self.plain)
        if not kept_code.is_kept(self.plain):
            _say_once()
        chosen: Any = {**OPTIONS, COUNTS: self._counts}
        with _telling:
            while _untold:
                function, options = _untold.pop()
                register_jitable(**OPTIONS, **options)(function)
            machine = njit(**chosen)(self.plain)
            kept_code.keep(machine)
        found: Callable[Given, Result] = machine
        return found


def compiled(function: Callable[Given, Result]) -> Compiled[Given, Result]:
    """An entrance that makes arrays, or calls kernels that do."""
    return Compiled(function)


def borrowing(function: Callable[Given, Result]) -> Compiled[Given, Result]:
    """An entrance that makes no arrays (see `kernel`)."""
    return Compiled(function, counts=False)


def interpreted(
    function: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs
) -> Result:
    """Run kernels as Python: whole numbers wrap around and x / 0 is inf there, too."""
    with np.errstate(all="ignore"):
        return function(*args, **kwargs)


_WAY: ContextVar[str | None] = ContextVar("way", default=None)


@contextmanager
def always(way: Literal["interpreted", "compiled"]) -> Iterator[None]:
    """Inside, rounds one by one run this way only: to see that both ways give the same bits."""
    token = _WAY.set(way)
    try:
        yield
    finally:
        _WAY.reset(token)


@cache
def _say_once() -> None:
    LOG.info(NOTICE)


@inlined
def exp_or_inf(exponent: float) -> float:
    """e^exponent, and inf beyond the largest number: there, Python's own would raise an error."""
    return math.exp(exponent) if exponent < LARGEST_EXPONENT else math.inf
