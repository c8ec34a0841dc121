"""What calls leave on disk for each other and for learning, in the user's data folder.

    calls.log        one line of JSON per call: all else here follows from these
    learned.json     up to where the lines are learned
    picks/KEY.json   sets of solvers that the learner picked ahead; a call takes one of them
    memory           who solved which problem: see `memory`
    solve.db         the journal: see `learning`
    aside/           what could not be read

A call picks at random among the sets, so that calls that come in bursts need no lock and never run
out: the sets are a sample of what the learner would pick now. A line is on disk before its call
ends; one that is not whole is passed over. Every other file is written to a temporary one, synced
and renamed; one that is damaged is set aside, and counts as not there.
"""

import contextlib
import fcntl
import json
import os
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from pickbest.core.text import printable

# No file here is longer but the log, and no line of it.
LONGEST, CHUNK = 1 << 20, 1 << 16
LOG, LEARNED, PICKS, ASIDE, NOTICE = "calls.log", "learned.json", "picks", "aside", "notice"
VERSIONS_FILE = "versions.json"
# A log that is longer, and learned, is put beside the new one, in the place of the one before.
LONGEST_LOG = 1 << 26


class Streams(NamedTuple):
    """Standard input, and the numbers of standard output and error."""

    stdin: BinaryIO
    stdout: int = 1
    stderr: int = 2

    def write(self, pieces: Iterable[bytes]) -> None:
        """Nothing is held back: a call whose time is over must not wait for its reader."""
        held = bytearray()
        for piece in pieces:
            held += piece
            if len(held) > CHUNK:
                _write(self.stdout, held)
        _write(self.stdout, held)

    def say(self, text: str) -> None:
        with contextlib.suppress(OSError):  # nobody listens
            _write(self.stderr, bytearray(f"{printable(text)}\n".encode()))


def _write(descriptor: int, data: bytearray) -> None:
    while data:
        del data[: os.write(descriptor, data[:CHUNK])]


class TimeUp(BaseException):
    """The deadline of the whole call, with reading, checking and printing, is over."""


def data_folder() -> Path | None:
    """Where what was learned is kept: $XDG_DATA_HOME/pickbest/solve; None where it cannot be."""
    home = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    folder = Path(home, "pickbest", "solve")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        mine = folder.stat().st_uid == os.geteuid()
    except OSError:
        return None
    return folder if mine and os.access(folder, os.W_OK | os.X_OK) else None


@contextlib.contextmanager
def alone(folder: Path, wait: bool = False) -> Iterator[bool]:
    """Whether no other process is learning in this folder, for as long as this one does."""
    with open(os.open(folder / "learning.lock", os.O_RDWR | os.O_CREAT, 0o600), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError:
            yield False
        else:
            yield True


class Stock:
    """The files of a data folder; None: nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def picked(
        self, key: str, arms: Sequence[str], budget: int, chosen_by: bytes = b""
    ) -> tuple[tuple[str, ...], tuple[float, ...]]:
        """(some of the arms, as the learner would pick them now; the weights of that pick).

        chosen_by: makes the same choice each time; b"": at random. Where nothing is known, the
        first arm is joined by others at random, or by those that come next in the table.
        """
        sets = [
            each
            for each in self.sets(key)
            if len(each[0]) == len(set(each[0])) == budget and set(each[0]) <= set(arms)
        ]
        rng = random.Random(chosen_by or None)
        if sets:
            return rng.choice(sets)
        rest = list(arms[1:])
        return (*arms[:1], *(rest if chosen_by else rng.sample(rest, len(rest))))[:budget], ()

    def sets(self, key: str) -> list[tuple[tuple[str, ...], tuple[float, ...]]]:
        """What the learner picked ahead: names without versions, and weights."""
        try:
            listed = self.read(f"{PICKS}/{key}.json")["sets"]
            return [
                (tuple(str(arm).partition(" ")[0] for arm in arms), tuple(map(float, weights)))
                for arms, weights in listed
            ]
        except (TypeError, ValueError, LookupError):
            return []

    def offer(self, key: str, sets: Sequence[tuple[Sequence[str], Sequence[float] | None]]) -> None:
        content = [(list(arms), list(weights or ())) for arms, weights in sets]
        self.write_json(f"{PICKS}/{key}.json", {"sets": content})

    def tell(self, call: dict[str, Any]) -> None:
        """Keep what became of a call; on disk when this returns."""
        self.append([{"id": f"{time.time_ns():x}-{os.urandom(4).hex()}", **call}])

    def append(self, calls: Sequence[dict[str, Any]]) -> None:
        """Add lines to the log; nothing where the disk is full, or read only."""
        if self.folder is None:
            return
        text = "".join(f"{json.dumps(call, separators=(',', ':'))}\n" for call in calls)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        with contextlib.suppress(OSError):
            file = os.open(self.folder / LOG, flags, 0o600)
            try:
                size = os.fstat(file).st_size
                # A line that was cut off must not take this one with it.
                whole = size == 0 or os.pread(file, 1, size - 1) == b"\n"
                os.write(file, ("" if whole else "\n").encode() + text.encode())
                os.fsync(file)
            finally:
                os.close(file)

    def calls(self, start: int = 0, name: str = LOG) -> Iterator[tuple[int, dict[str, Any]]]:
        """(where its line ends, call) of the calls in the log, from a place on."""
        if self.folder is None:
            return
        with contextlib.suppress(OSError), open(self.folder / name, "rb") as file:
            file.seek(start)
            while line := file.readline(LONGEST):
                if not line.endswith(b"\n"):
                    return
                with contextlib.suppress(ValueError, RecursionError):
                    call = json.loads(line)
                    if isinstance(call, dict):
                        yield file.tell(), call

    def every_call(self) -> Iterator[dict[str, Any]]:
        """All calls that are still known."""
        for name in (f"{LOG}.1", LOG):
            for _, call in self.calls(name=name):
                yield call

    @property
    def learned(self) -> int:
        """Up to where the log is learned."""
        found = self.read(LEARNED)
        place = found.get("place") if isinstance(found, dict) else None
        return place if isinstance(place, int) and 0 <= place <= self.size else 0

    def mark_learned(self, place: int) -> None:
        if place > LONGEST_LOG and self.folder is not None:
            with contextlib.suppress(OSError):
                os.replace(self.folder / LOG, self.folder / f"{LOG}.1")
                place = 0
        self.write_json(LEARNED, {"place": place})

    @property
    def size(self) -> int:
        try:
            return os.stat(self.folder / LOG).st_size if self.folder else 0
        except OSError:
            return 0

    def versions(self) -> dict[str, list[str]]:
        """Versions of solvers that were seen, the newest last."""
        found = self.read(VERSIONS_FILE)
        try:
            return {str(name): [*map(str, known)] for name, known in found["solvers"].items()}
        except (TypeError, ValueError, LookupError, AttributeError):
            return {}

    def read(self, name: str) -> Any:
        """What a file holds; None where there is none, or nothing that we wrote."""
        if self.folder is None:
            return None
        try:
            with open(self.folder / name, "rb") as file:
                return json.loads(file.read(LONGEST))
        except OSError:
            return None
        except (ValueError, RecursionError) as error:
            self.set_aside(name, str(error))
            return None

    def write_json(self, name: str, content: Any) -> None:
        self.write(name, json.dumps(content))

    def write(self, name: str, text: str) -> None:
        """The whole file or nothing of it; nothing where the disk is full, or read only."""
        if self.folder is None:
            return
        path = self.folder / name
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        with contextlib.suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            try:
                with open(os.open(draft, flags, 0o600), "w", encoding="utf-8") as file:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(draft, path)
            except OSError:
                draft.unlink(missing_ok=True)
                raise

    def set_aside(self, name: str, reason: str) -> None:
        """Put a file that is of no use where it can be looked at; the next call says so."""
        if self.folder is None:
            return
        with contextlib.suppress(OSError):
            (self.folder / ASIDE).mkdir(mode=0o700, exist_ok=True)
            os.replace(self.folder / name, self.folder / ASIDE / os.path.basename(name))
            self.write(NOTICE, f"{name} was damaged, and is set aside in {ASIDE} ({reason[:200]})")

    def notice(self) -> str:
        """What the next call should say once; "": nothing."""
        if self.folder is None:
            return ""
        try:
            text = (self.folder / NOTICE).read_text(encoding="utf-8", errors="replace")
            (self.folder / NOTICE).unlink()
        except OSError:
            return ""
        return text
