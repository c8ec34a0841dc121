"""How kernels are compiled: on first call, cached on disk, without the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile `function` on its first call; the machine code is kept beside the source."""
    return cast(Function, njit(cache=True, nogil=True)(function))


def inlined(function: Function) -> Function:
    """As `kernel`, for small helpers that are compiled into each of their callers."""
    return cast(Function, njit(inline="always", nogil=True)(function))
