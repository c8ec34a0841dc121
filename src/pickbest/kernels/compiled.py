"""How kernels are compiled: on first call, cached on disk, without the interpreter's lock.

Where neither the package's folder nor a cache folder can be written, they are compiled anew in
every process, with one warning.
"""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

from numba import njit

from pickbest.kernels import compile_notice as compile_notice

OPTIONS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
}
# Numba's switch for its reference counts. They cost an atomic instruction for every view of an
# array, several times what a round of a learner itself costs; who borrows arrays needs none.
COUNTS = "_nrt"
Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile `function` on its first call; the machine code is kept beside the source.

    It borrows the arrays that it is given: it makes none, and returns numbers only (an array
    that it returned would belong to nobody). What makes arrays is `allocating`.
    Division by 0 gives inf or NaN, as in NumPy: checking for it would keep loops from using
    vector instructions. Entry points for C are left out: nobody calls them.
    """
    return compiled(function, **{COUNTS: False})


def allocating(function: Function) -> Function:
    """A kernel that makes arrays, or is given them by what it calls."""
    return compiled(function, **{COUNTS: True})


def inlined(function: Function) -> Function:
    """A kernel that the optimiser writes into its callers: what is called many times a round.

    It is compiled by itself once, so unlike `part` it costs its callers little time to compile.
    """
    return compiled(function, forceinline=True, **{COUNTS: False})


def part(function: Function) -> Function:
    """A helper that is written into each of its callers, and is not compiled by itself.

    What a chain of kernels calls is optimised once more at every link; this saves links.
    """
    return compiled(function, inline="always")


def compiled(function: Function, **more: Any) -> Function:
    """As `kernel`, with further options of Numba."""
    try:
        return cast(Function, njit(**OPTIONS, **more)(function))
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        _warn_of_compiling()
        return cast(Function, njit(**{**OPTIONS, "cache": False}, **more)(function))


def interpreted(function: Function) -> Function:
    """A compiled function as it is written: for one call, compiling would take longer."""
    return cast(Function, cast(Any, function).py_func)


@cache
def _warn_of_compiling() -> None:
    warnings.warn(
        "compiled code cannot be kept (no folder for it can be written): every start compiles "
        "anew, which takes seconds; set NUMBA_CACHE_DIR to a folder that can be written",
        stacklevel=2,
    )
