"""How things are timed: the best of a few runs, on one thread, in one process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

Row = dict[str, Any]


def best_of(function: Callable[[], object], repeats: int = 3, warm: bool = True) -> float:
    """The shortest of a few runs in seconds, after one that is not counted."""
    if warm:
        function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def ratio_row(name: str, ours: float, reference: float, target: float) -> Row:
    """A row whose target is a ratio: reference / ours must reach it."""
    ratio = reference / ours
    return {
        "name": name,
        "ours_seconds": ours,
        "reference_seconds": reference,
        "ratio": ratio,
        "target": f"{target:g} times",
        "met": ratio >= target,
    }


def limit_row(name: str, ours: float, limit: float) -> Row:
    """A row whose target is a time."""
    return {
        "name": name,
        "ours_seconds": ours,
        "reference_seconds": None,
        "ratio": None,
        "target": f"{limit:g} s",
        "met": ours <= limit,
    }
