"""Arms that tests run: functions at module level, as they go to another process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path


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


def leaves_daemon(problem: str) -> str:
    """Starts two daemons, each in a session of its own and deaf to SIGTERM."""
    code = "import os, signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    code += "os.fork() and os._exit(0); os.setsid(); "
    code += "open(sys.argv[1], 'a').write(f'{os.getpid()}\\n'); time.sleep(60)"
    subprocess.run([sys.executable, "-c", code, problem], check=True)
    subprocess.Popen([sys.executable, "-c", code, problem])
    while not Path(problem).exists() or len(Path(problem).read_text().splitlines()) < 2:
        time.sleep(0.01)
    Path(problem).write_text(Path(problem).read_text() + f"{os.getpid()}\n")
    if Path(problem).name == "stay":
        time.sleep(60.0)
    return "done"
