"""Secrets of a command line, taken out of the list of processes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote


def hide(secrets: Iterable[str]) -> None:
    """Overwrite secrets among this process's arguments, which every user can read (Linux).

    Nothing else is touched: the bytes that Linux shows as /proc/PID/cmdline are the process's
    own memory.
    """
    wanted = {form.encode() for secret in secrets for form in (secret, quote(secret, safe=""))}
    with contextlib.suppress(OSError, ValueError, IndexError):
        line = Path("/proc/self/cmdline").read_bytes()
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        begin = int(fields[45])  # arg_start, field 48 of proc(5)
        memory = os.open("/proc/self/mem", os.O_RDWR)
        try:
            for secret in filter(None, wanted):
                place = line.find(secret)
                while place >= 0:
                    os.pwrite(memory, b"*" * len(secret), begin + place)
                    place = line.find(secret, place + len(secret))
        finally:
            os.close(memory)
