"""How things are timed: the best of a few runs, on one thread, in one process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

Row = dict[str, Any]


def seconds(action: Callable[[], object]) -> float:
    """One run."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def best_of(function: Callable[[], object], repeats: int = 3) -> float:
    """The shortest of a few runs in seconds, after one that is not counted."""
    function()
    return min(seconds(function) for _ in range(repeats))


def row(
    name: str, ours: float, reference: float | None, target: str, met: bool, **more: Any
) -> Row:
    """A line of the table; its ratio says how many times quicker we are than the reference."""
    ratio = None if reference is None else reference / ours
    times = {"ours_seconds": ours, "reference_seconds": reference, "ratio": ratio}
    return {"name": name, **times, "target": target, "met": bool(met), **more}


def ratio_row(name: str, ours: float, reference: float, target: float) -> Row:
    """A row whose target is a ratio: reference / ours must reach it."""
    return row(name, ours, reference, f"{target:g} times", reference >= target * ours)


def limit_row(name: str, ours: float, limit: float, reference: float | None = None) -> Row:
    """A row whose target is a time."""
    return row(name, ours, reference, f"{limit:g} s", ours <= limit)
