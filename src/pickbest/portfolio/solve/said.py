"""Verdicts on problems of earlier calls, so that a solver that contradicts one is noticed.

One file of fixed size in the data folder: a problem has a place by the digest of its content, and
a newer problem takes the place of an older one. No lock: a record is written as a whole, and one
that is not whole fits no problem.
"""

import contextlib
import os
import struct
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from pickbest.portfolio.runs import Run, RunStatus
from pickbest.portfolio.solve.problem import Problem

FILE = "verdicts"
PLACES = 65_536
# The problem's digest, whether a model proves the verdict, the verdict, the solver; their digest.
_RECORD, _SEAL = struct.Struct("12s?11s16s"), 8
_SIZE = _RECORD.size + _SEAL


class Verdict(NamedTuple):
    """What a solver said; proved: a model holds."""

    verdict: str
    solver: str
    proved: bool

    def __str__(self) -> str:
        proof = ", whose model holds" if self.proved else ""
        return f"{self.verdict} by {self.solver} in an earlier call{proof}"


class Said:
    """What was said of a problem: the first verdict, or one that a model proves."""

    def __init__(self, folder: Path, problem: Problem) -> None:
        self._path = folder / FILE
        self._problem = problem

    def refuted(self, run: Run) -> str:
        """Why a verdict is wrong for certain; "": it may be right."""
        before = self.before
        return f"{before}" if before and before.proved and _short(run) != before.verdict else ""

    def contradicted(self, run: Run) -> str:
        """Remember a verdict; in words, what was said otherwise, or "".

        Of a run that was found wrong nothing is remembered: it is known who is wrong.
        """
        if not run.verdict or run.status is RunStatus.WRONG:
            return ""
        before = self.before
        if before is None or (run.checked and not before.proved):
            self._remember(run)
        differs = before is not None and before.verdict != _short(run)
        return f"{run.verdict} by {run.arm} contradicts {before}" if differs else ""

    @property
    def before(self) -> Verdict | None:
        with contextlib.suppress(OSError, ValueError):
            with open(self._path, "rb") as file:
                found = os.pread(file.fileno(), _SIZE, self._place)
            record = found[: _RECORD.size]
            if len(found) == _SIZE and found == _sealed(record):
                digest, proved, *words = _RECORD.unpack(record)
                verdict, solver = (word.rstrip(b"\0").decode() for word in words)
                return Verdict(verdict, solver, proved) if digest == self._digest else None
        return None

    def _remember(self, run: Run) -> None:
        words = _short(run).encode(), run.arm.encode()[:16]
        record = _RECORD.pack(self._digest, run.checked, *words)
        with contextlib.suppress(OSError):  # a disk that is full, or read only
            file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.pwrite(file, _sealed(record), self._place)
            finally:
                os.close(file)

    @cached_property
    def _digest(self) -> bytes:
        return blake2b(self._problem.content, digest_size=12).digest()

    @property
    def _place(self) -> int:
        return int.from_bytes(self._digest[:4]) % PLACES * _SIZE


def _short(run: Run) -> str:
    """A verdict in at most eleven letters: those of long scripts by their digest."""
    long = len(run.verdict) > 11
    return blake2b(run.verdict.encode(), digest_size=5).hexdigest() if long else run.verdict


def _sealed(record: bytes) -> bytes:
    return record + blake2b(record, digest_size=_SEAL).digest()
