"""Looking at processes, and a service in one, for tests."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path


def alive(pid: int) -> bool:
    """Whether a process exists and is more than a zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def parent(pid: int) -> int:
    """The parent of a process."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def running(argument: str) -> list[int]:
    """Processes with this word in their command line."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")
                if argument.encode() in words:
                    found.append(int(entry))
    return found


def eventually(check: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Whether a check comes true in time."""
    until = time.monotonic() + seconds
    while not check():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def serve(store: Path, port: int = 0) -> tuple[subprocess.Popen[str], str]:
    """`pickbest serve` in a process of its own, and its address."""
    command = [sys.executable, "-m", "pickbest.cli.main", "serve", str(store), "--port", str(port)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    words = process.stderr.readline().split()
    threading.Thread(target=process.stderr.read, daemon=True).start()
    return process, next(word for word in words if word.startswith("http://"))
