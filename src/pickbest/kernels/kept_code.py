"""Machine code that is kept between processes, in a folder of the user's.

The folder is PICKBEST_CACHE, or the platform's folder for caches. What is kept for a function is
found by a digest of all that went into it: the code of the function and of every kernel that it
calls, directly or not, and the constants that they use. So code that was changed is never met
again, and a change in one learner leaves what is kept of the others.
"""

from __future__ import annotations

import hashlib
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

Function = Callable[..., object]


def cache_folder() -> Path:
    """Where pickbest keeps what it can make again."""
    if given := os.environ.get("PICKBEST_CACHE"):
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "pickbest"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/pickbest"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pickbest"


@cache
def _folder() -> Path | None:
    """The folder for machine code, if it can be trusted and written; else None, with a warning."""
    try:
        folder = cache_folder() / "compiled"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # What lies there is executed: nobody else may put anything there.
        if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
            raise PermissionError(f"{folder} belongs to another user")
        if not os.access(folder, os.W_OK):
            raise PermissionError(f"{folder} cannot be written")
    except (OSError, RuntimeError) as error:
        warnings.warn(
            f"compiled code cannot be kept ({error}): every start compiles anew, which takes "
            "seconds; set PICKBEST_CACHE to a folder of your own",
            stacklevel=2,
        )
        return None
    return folder


def is_kept(function: Function) -> bool:
    """Whether machine code of a function was kept, of whatever types."""
    folder = _folder()
    return folder is not None and any(folder.glob(f"*{digest(function)}*.nbi"))


def keep(machine: Any) -> None:
    """Let a function of Numba's find its machine code in the folder, and keep it there."""
    if (folder := _folder()) is not None:
        machine._cache = _numba_cache(folder)(machine.py_func)


@cache
def _numba_cache(folder: Path) -> Any:
    """Numba's cache of one function, with our folder and our digest."""
    from numba.core import caching as typed

    caching: Any = typed

    class Locator(caching._CacheLocator):  # type: ignore[misc]
        def __init__(self, function: Function) -> None:
            self._digest = digest(function)

        @classmethod
        def from_function(cls, function: Function, file: str) -> Locator:
            return cls(function)

        def get_cache_path(self) -> str:
            return str(folder)

        def get_source_stamp(self) -> str:
            return self._digest

        def get_disambiguator(self) -> str:
            return self._digest

    class Implementation(caching.CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes = (Locator,)

    class KeptCode(caching.FunctionCache):  # type: ignore[misc]
        _impl_class = Implementation

        def load_overload(self, signature: Any, target: Any) -> Any:
            try:
                return super().load_overload(signature, target)
            except Exception:  # a damaged file, or a class that is no longer where it was
                self.flush()
                return None

        def save_overload(self, signature: Any, data: Any) -> None:
            with suppress(
                Exception
            ):  # a full disk, or a folder that is gone: it is used all the same
                super().save_overload(signature, data)

        def _index_key(self, signature: Any, codegen: Any) -> tuple[Any, Any]:
            return signature, codegen.magic_tuple()

    return KeptCode


@cache
def digest(function: Function) -> str:
    """Equal for functions that compile to the same machine code."""
    found = hashlib.sha256()
    for part in _parts(function, set()):
        found.update(len(part).to_bytes(8, "little"))
        found.update(part)
    return found.hexdigest()[:24]


def _parts(value: Any, met: set[int]) -> Iterator[bytes]:
    """What a function is made of, and all that it reaches."""
    if isinstance(value, FunctionType):
        yield f"{value.__module__}.{value.__qualname__}".encode()
        if id(value) not in met:
            met.add(id(value))
            yield repr((value.__defaults__, value.__annotations__)).encode()
            names = sorted(set(_names(value.__code__)))
            yield from _code(value.__code__)
            for name in names:
                if name in value.__globals__:
                    yield name.encode()
                    yield from _parts(value.__globals__[name], met)
            for cell in value.__closure__ or ():
                yield from _parts(cell.cell_contents, met)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, type):
        yield f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', '')}".encode()
    elif isinstance(value, ModuleType):
        yield value.__name__.encode()
        if value not in (np, math):
            yield Path(str(value.__file__)).read_bytes()
    else:
        yield repr(value).encode()


def _code(code: CodeType) -> Iterator[bytes]:
    yield code.co_code
    yield repr((code.co_varnames, code.co_names, code.co_freevars, code.co_cellvars)).encode()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            yield repr(constant).encode()


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
