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
          "spooled": False, "cpu_seconds": 0.0, "answer": "",
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


def surroundings(problem: object) -> dict[str, object]:
    """The environment, once as Python and once as the kernel sees it."""
    first = Path("/proc/self/environ").read_bytes().split(b"\0")
    return {"env": dict(os.environ), "first": [each.split(b"=")[0].decode() for each in first]}


def sleeps(problem: str) -> None:
    """Note this process in a file, and sleep."""
    with open(problem, "a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(72.0)
