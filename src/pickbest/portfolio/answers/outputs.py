"""Outputs too long for memory: in a folder while a race runs, winners' beside the journal after."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from pickbest.portfolio.runs import Run


class Outputs:
    """The files of a portfolio's long outputs.

    beside: the file of the journal; None: what is kept is kept until `close` only.
    """

    def __init__(self, beside: Path | None = None) -> None:
        self._spools = tempfile.TemporaryDirectory(prefix="pickbest-")
        self._kept = beside and beside.with_name(f"{beside.name}.outputs")

    def spool(self, number: int, place: int) -> str:
        """Where the output of a round's arm goes once it is long."""
        return os.path.join(self._spools.name, f"{number}-{place}")

    def keep(self, number: int, winner: Run | None, runs: Iterable[Run]) -> str:
        """Keep the winner's output, where it has a file, and remove the others': its place."""
        for run in runs:
            if run.spool and run is not winner:
                with contextlib.suppress(OSError):
                    os.unlink(run.spool)
        if winner is None or not winner.spool or self._kept is None:
            return winner.spool if winner else ""
        name = re.sub(r"[^\w.+-]", "_", winner.arm)[:80]
        kept = self._kept / f"{number}-{name}.txt"
        try:
            self._kept.mkdir(mode=0o700, exist_ok=True)
            return str(shutil.move(winner.spool, kept))
        except OSError:  # the journal still has the beginning and the end
            return winner.spool

    def close(self) -> None:
        self._spools.cleanup()


def abridged(path: str, longest: int) -> str:
    """The text of a file; where it is long, its beginning and its end."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        if size <= longest:
            return file.read().decode(errors="replace")
        head = file.read(longest // 2)
        file.seek(size - longest // 2)
        tail = file.read()
    left_out = size - len(head) - len(tail)
    middle = f"\n… {left_out} bytes are left out here …\n"
    return head.decode(errors="replace") + middle + tail.decode(errors="replace")
