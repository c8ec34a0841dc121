"""An objective of the user's: a function of a point, and the space that it is defined on."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from pathlib import Path

from pickbest.core import PickbestError
from pickbest.tuning.references import named
from pickbest.tuning.space import Point, Space


@lru_cache(maxsize=16)
def load_objective(reference: str) -> Callable[[Point, str], float]:
    """The function `module:function` of a point, or of a point and the name of a job."""
    function = named(reference, "objective")
    if not callable(function):
        raise PickbestError(f"the objective {reference} must be a function, got {function!r}")
    try:
        inspect.signature(function).bind({}, "job")
    except (TypeError, ValueError):
        return lambda point, job: function(point)
    return lambda point, job: function(point, job)


@lru_cache(maxsize=16)
def load_space(reference: str) -> Space:
    """The `Space` that `module:NAME` holds, or that a function of that name returns."""
    found = named(reference, "space")
    space = found() if callable(found) else found
    if not isinstance(space, Space):
        raise PickbestError(
            f"{reference} must be a Space (pickbest.tuning.space) or a function that returns one, "
            f"got {space!r}"
        )
    return space


def source_checksum(reference: str) -> str:
    """SHA-256 of the file that holds it: another text may give other losses."""
    place = getattr(import_module(reference.partition(":")[0]), "__file__", None)
    return hashlib.sha256(Path(place).read_bytes() if place else b"").hexdigest()
