"""How kernels are compiled: on first call, cached on disk, without the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

OPTIONS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
}
Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile `function` on its first call; the machine code is kept beside the source.

    Division by 0 gives inf or NaN, as in NumPy: checking for it would keep loops from using
    vector instructions. Entry points for C are left out: nobody calls them.
    """
    return cast(Function, njit(**OPTIONS)(function))


def inlined(function: Function) -> Function:
    """A kernel that the optimiser writes into its callers: what is called many times a round.

    It is compiled by itself once, so unlike `part` it costs its callers little time to compile.
    """
    return cast(Function, njit(**{**OPTIONS, "forceinline": True})(function))


def part(function: Function) -> Function:
    """A helper that is written into each of its callers, and is not compiled by itself.

    What a chain of kernels calls is optimised once more at every link; this saves links.
    """
    return cast(Function, njit(**{**OPTIONS, "inline": "always"})(function))
