"""Arms that tests run: functions at module level, as they go to another process."""

from __future__ import annotations

import time


def quick(problem: object) -> float:
    return 0.25


def slow(problem: object) -> float:
    time.sleep(60.0)
    return 0.0


def nothing(problem: object) -> None:
    return None


def fails(problem: object) -> float:
    raise RuntimeError("no luck today")


def number(problem: object) -> float:
    return float(str(problem))


def word(problem: object) -> str:
    return "abc"
