"""Arms that tests run: functions at module level, as they go to another process."""

from __future__ import annotations

import os
import subprocess
import sys
import time

# What an arm sleeps that must be stopped: far longer than a check waits.
LONG = 1200.0


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


def double(number: int) -> int:
    return 2 * number


def fail(message: str) -> None:
    raise RuntimeError(message)


def allocate(count: int) -> int:
    return len(bytearray(count))


def spin(_: object) -> None:
    while True:
        pass


def same(thing: object) -> object:
    return thing


def text(count: int) -> str:
    return "x" * count


def not_data(_: object) -> object:
    return object()


def surroundings(_: object) -> tuple[str, list[str]]:
    return os.getcwd(), sorted(os.environ)


# The open descriptors of a process, without the one that lists them.
DESCRIPTORS = "[n for n in range(200) if os.path.exists(f'/proc/self/fd/{n}')]"


def descriptors_of_a_program(script: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, close_fds=False
    ).stdout


def fork(children: int) -> bool:
    """Start this many children; whether this process is one of them."""
    return any(os.fork() == 0 for _ in range(children))


def fork_and_eat(children: int) -> None:
    """Each child takes 60 MB: little for one, much for all."""
    if fork(children):
        eaten = bytearray(60_000_000)
        eaten[::4096] = bytes(len(eaten[::4096])).replace(b"\0", b"x")
    time.sleep(LONG)


def fork_and_spin(children: int) -> None:
    fork(children)
    spin(0)


def fork_and_sleep(children: int) -> None:
    fork(children)
    time.sleep(LONG)
