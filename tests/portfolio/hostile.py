"""Arms that misbehave: functions at module level, and the texts of programs."""

from __future__ import annotations

import os
import time
from pathlib import Path

# Writes a report of its own, and a pickle with code in it, to every descriptor that is there
# (argument: a file that the code would make).
FORGER = """
import json, os, pickle, sys
class Code:
    def __reduce__(self):
        return os.system, (f"touch {sys.argv[1]}",)
report = {"status": "finished", "seconds": 0.0, "exit_code": 0, "reason": "", "truncated": False,
          "spooled": False, "cut": False, "cpu_seconds": 0.0, "peak_bytes": 0, "answer": "",
          "stdout": "forged", "stderr": ""}
for descriptor in range(3, 200):
    for message in (json.dumps(report).encode() + b"\\n", pickle.dumps(Code())):
        try:
            os.write(descriptor, message)
        except OSError:
            pass
print("honest")
"""


# A race of arms that note their pids and stay: a silent command, one that starts others (one that
# writes, one that is silent), and, where there may be functions, a function.
RACE = """
import pickle
from pickbest.portfolio.engine.local import LocalEngine
from pickbest.portfolio.runs import Task
from tests.portfolio import hostile
note = "echo $$ >> {noted}"
silent = note + "; exec sleep 72.5"
starts = "sh -c '" + note + "; while echo x; do sleep 0.1; done' & sh -c '" + note + "; "
starts += "exec setsid sleep 72.25' & wait"
tasks = [Task(name, 60.0, argv=("sh", "-c", each)) for name, each in zip("ab", (silent, starts))]
if not {forked}:
    tasks.append(Task("f", 60.0, call=pickle.dumps((hostile.sleeps, ({noted!r},)))))
LocalEngine(forked={forked}).race(tasks, lambda run: False, lambda: False)
"""


def large(problem: object) -> str:
    return "x" * 300_000_000


def forks_and_eats(problem: object) -> str:
    """Ten processes of 60 MB each; none of them is large."""
    for _ in range(10):
        if os.fork() == 0:
            eaten = bytearray(60_000_000)
            eaten[::4096] = b"x" * len(eaten[::4096])
            time.sleep(600.0)
    time.sleep(600.0)
    return "done"


def forks_and_spins(problem: object) -> str:
    """Four processes that together use more processor time than any of them."""
    for _ in range(3):
        if os.fork() == 0:
            break
    while True:
        pass


def many_processes(problem: object) -> str:
    for _ in range(30):
        if os.fork() == 0:
            time.sleep(600.0)
    time.sleep(600.0)
    return "done"


def surroundings(problem: object) -> dict[str, object]:
    """The environment, once as Python and once as the kernel sees it, the folder, the cores."""
    first = Path("/proc/self/environ").read_bytes().split(b"\0")
    names = [each.split(b"=")[0].decode() for each in first if each]
    return {
        "env": dict(os.environ),
        "first": names,
        "cwd": os.getcwd(),
    }


def kinds(problem: object) -> dict[str, object]:
    """One value of every kind that a function may return."""
    import numpy as np

    return {
        "plain": [None, True, 1, 2**200, -0.5, float("inf"), "é"],
        "nested": [[1, (2.0, "three")], [(), {}]],
        "array": np.arange(6, dtype=np.float32).reshape(2, 3),
        "scalar": np.int64(7),
    }


class Unsendable:
    """Something that is not data."""


def not_data(problem: object) -> object:
    return {"inside": [Unsendable()]}


def sleeps(problem: str) -> None:
    """Note this process in a file, and sleep."""
    with open(problem, "a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(72.0)
