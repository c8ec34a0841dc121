"""Arms that misbehave: functions at module level, and the texts of programs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path


def open_descriptors(problem: object) -> dict[str, list[str]]:
    """What this process, a program that it starts and a fork of it hold."""
    here = held()
    program = subprocess.run(
        [sys.executable, "-c", f"import os\n{HELD}\nprint(*held())"],
        capture_output=True,
        text=True,
        check=True,
        close_fds=False,
    )
    read, write = os.pipe()
    if os.fork() == 0:
        os.close(read)
        os.write(write, " ".join(each for each in held() if each != str(write)).encode())
        os._exit(0)
    os.close(write)
    forked = os.read(read, 1000).decode()
    os.close(read)
    return {"function": here, "program": program.stdout.split(), "fork": forked.split()}


HELD = """
def held():
    found = []
    for entry in os.listdir("/proc/self/fd"):
        try:
            os.fstat(int(entry))
            found.append(entry)
        except OSError:
            pass
    return sorted(found)
"""


def held() -> list[str]:
    scope: dict[str, object] = {"os": os}
    exec(HELD, scope)
    found: list[str] = scope["held"]()  # type: ignore[operator]
    return found


# Writes a report of its own, with code in it, to every descriptor that is there (argument: a file
# that the code would make).
FORGER = """
import json, os, pickle, struct, sys
class Code:
    def __reduce__(self):
        return os.system, (f"touch {sys.argv[1]}",)
report = {"status": "finished", "seconds": 0.0, "exit_code": 0, "reason": "", "truncated": False,
          "cpu_seconds": 0.0, "peak_bytes": 0, "stdout": "forged", "stderr": ""}
text, payload = json.dumps(report).encode(), pickle.dumps(("", Code()))
message = struct.pack("!QQ", len(text), len(payload)) + text + payload
for descriptor in range(3, 200):
    try:
        os.write(descriptor, message)
    except OSError:
        pass
print("honest")
"""

# Leaves 500 children unreaped (as many as a shared machine can spare), then says so and waits.
UNREAPED = """
import os, sys, time
for _ in range(500):
    if os.fork() == 0:
        os._exit(0)
open(sys.argv[1], "w").close()
time.sleep(100)
"""

# Each process forks the next one, in a session of its own, and ends; the first one waits. A link is
# shorter than a look at all processes, and long enough that other shells find numbers for theirs.
CHAIN = """
import os, sys, time
open(sys.argv[1], "w").close()
if os.fork():
    time.sleep(100)
while True:
    if os.fork():
        os._exit(0)
    os.setsid()
    time.sleep(0.001)
"""


def large(problem: object) -> bytes:
    return b"x" * 300_000_000


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
        "cores": sorted(os.sched_getaffinity(0)),
    }


def kinds(problem: object) -> dict[object, object]:
    """One value of every kind that a function may return."""
    import numpy as np

    return {
        "plain": [None, True, 1, 2**200, -0.5, float("inf"), "é\udcff"],
        "nested": ((1, (2.0, "three")), [(), {}, set()]),
        (1, "key"): {1, 2},
        "frozen": frozenset({("a", 1)}),
        "bytes": (b"\x00\xff", bytearray(b"ab")),
        "complex": 1 + 2j,
        "array": np.arange(6, dtype=np.float32).reshape(2, 3),
        "scalar": np.int64(7),
        "model": list(range(-5, 5)),
    }


class Unsendable:
    """Something that is not data."""


def not_data(problem: object) -> object:
    return {"inside": [Unsendable()]}
