"""What earlier calls found out about a problem: who solved it, how quickly, and with what verdict.

One file of fixed size in the data folder. A problem has a place by the digest of its content, and
another one by its name; a newer problem takes the place of an older one. No lock: a record is
written as a whole, and one that is not whole fits no problem.
"""

import os
import struct
from collections.abc import Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from pickbest.portfolio.runs import Run, RunStatus

FILE = "memory"
PLACES = 65_536
# The problem's digest, whether a model proves the verdict, the verdict, who solved it in how many
# seconds; their digest.
_RECORD, _SEAL = struct.Struct("12s?11s40sf"), 8
_SIZE = _RECORD.size + _SEAL


class Solved(NamedTuple):
    """What is remembered; proved: a model holds."""

    verdict: str
    solver: str
    proved: bool
    seconds: float

    def __str__(self) -> str:
        proof = ", whose model holds" if self.proved else ""
        return f"{self.verdict} by {self.solver} in an earlier call{proof}"


class Memory:
    """What is known of one problem, by the digests of its content and of its name.

    before: of this content; favourite: of this content, else of this name.
    folder: None where nothing can be kept.
    """

    def __init__(self, folder: Path | None, content: bytes, place: bytes) -> None:
        self._path = folder and folder / FILE
        self._digests = [digest for digest in (content, place) if digest]
        self.before = self._read(content)
        self.favourite = self.before or (self._read(place) if place else None)

    def refuted(self, run: Run) -> str:
        """Why a verdict is wrong for certain; "": it may be right."""
        before = self.before
        return str(before) if before and before.proved and _short(run) != before.verdict else ""

    def contradicted(self, run: Run) -> str:
        """What an earlier call said otherwise, in words, or "".

        Of a run that was found wrong nothing is said: it is known who is wrong.
        """
        before = self.before
        if before is None or not run.verdict or run.status is RunStatus.WRONG:
            return ""
        differs = before.verdict != _short(run)
        return f"{run.verdict} by {run.arm} contradicts {before}" if differs else ""

    def remember(self, winner: Run) -> None:
        """Keep who solved the problem; a verdict that a model proves is kept for good."""
        before = self.before
        if before and before.verdict != _short(winner) and (before.proved or not winner.checked):
            return
        proved = winner.checked or bool(before and before.proved)
        solved = Solved(_short(winner), winner.arm, proved, winner.seconds)
        for digest in self._digests:
            self._write(digest, solved)

    def _read(self, digest: bytes) -> Solved | None:
        if self._path is None:
            return None
        with suppress(OSError, ValueError):
            with open(self._path, "rb") as file:
                found = os.pread(file.fileno(), _SIZE, _place(digest))
            record = found[: _RECORD.size]
            if len(found) == _SIZE and found == _sealed(record):
                key, proved, verdict, solver, seconds = _RECORD.unpack(record)
                said, who = (word.rstrip(b"\0").decode() for word in (verdict, solver))
                return Solved(said, who, proved, seconds) if key == digest else None
        return None

    def _write(self, digest: bytes, solved: Solved) -> None:
        if self._path is None or len(solved.solver.encode()) > 40:
            return
        words = solved.verdict.encode(), solved.solver.encode()
        record = _RECORD.pack(digest, solved.proved, *words, solved.seconds)
        with suppress(OSError):  # a disk that is full, or read only
            flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            file = os.open(self._path, flags, 0o600)
            try:
                os.pwrite(file, _sealed(record), _place(digest))
            finally:
                os.close(file)


def remember_call(folder: Path, call: Mapping[str, Any]) -> None:
    """Remember a call of the log: one that was made elsewhere."""
    verdict, solver, proved = str(call["verdict"]), call["winner"], call["proved"] is True
    if not isinstance(solver, str) or not verdict:
        return
    seconds = next(float(run["seconds"]) for run in call["runs"] if run["arm"] == solver)
    run = Run(solver, RunStatus.FINISHED, seconds=seconds, verdict=verdict, checked=proved)
    digests = (bytes.fromhex(str(call[name])) for name in ("content", "place"))
    Memory(folder, *digests).remember(run)


def _place(digest: bytes) -> int:
    return int.from_bytes(digest[:4]) % PLACES * _SIZE


def _short(run: Run) -> str:
    """A verdict in at most eleven letters: those of long scripts by their digest."""
    long = len(run.verdict) > 11
    return blake2b(run.verdict.encode(), digest_size=5).hexdigest() if long else run.verdict


def _sealed(record: bytes) -> bytes:
    return record + blake2b(record, digest_size=_SEAL).digest()
