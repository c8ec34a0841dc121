"""What calls leave on disk for each other and for learning: small files in the user's data folder.

    picks/KEY.json   sets of solvers that the learner picked ahead; a call takes one of them
    told/NAME.json   what became of a call, until it is learned
    aside/           what could not be read, and why
    memory           who solved which problem: see `memory`
    solve.db         the journal: see `learning`

A call picks at random among the sets, so that calls that come in bursts need no lock and never run
out: the sets are a sample of what the learner would pick now. Every file is written to a temporary
one, synced and renamed. Whatever is damaged is set aside, and counts as not there.
"""

import contextlib
import fcntl
import json
import os
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pickbest.core.codec import encode, plain
from pickbest.portfolio.store.records import Finished

# No file here is longer.
LONGEST = 1 << 20
PICKS, TOLD, ASIDE = "picks", "told", "aside"
# Results that wait when learning is not possible; later ones are not kept.
MOST_WAITING = 10_000


def data_folder() -> Path | None:
    """Where what was learned is kept: $XDG_DATA_HOME/pickbest/solve; None where it cannot be."""
    home = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    folder = Path(home, "pickbest", "solve")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    mine = folder.stat().st_uid == os.geteuid()
    return folder if mine and os.access(folder, os.W_OK | os.X_OK) else None


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[bool]:
    """Whether no other process is learning in this folder, for as long as this one does."""
    with open(folder / "learning.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
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
        """What the learner picked ahead: arms and weights."""
        try:
            listed = self.read(f"{PICKS}/{key}.json")["sets"]
            return [(tuple(map(str, arms)), tuple(map(float, all_of))) for arms, all_of in listed]
        except (TypeError, ValueError, LookupError):
            return []

    def offer(self, key: str, sets: Sequence[tuple[Sequence[str], Sequence[float] | None]]) -> None:
        content = [(list(arms), list(weights or ())) for arms, weights in sets]
        self.write(f"{PICKS}/{key}.json", json.dumps({"sets": content}))

    def tell(
        self,
        key: str,
        arms: Sequence[str],
        problem: str,
        weights: Sequence[float],
        record: Finished,
    ) -> None:
        """Keep what became of a call until it is learned; on disk when this returns."""
        if self.folder is None or len(self.waiting()) > MOST_WAITING:
            return
        told = {"key": key, "arms": list(arms), "problem": problem, "weights": list(weights)}
        told["finished"] = plain(record)
        self.write(f"{TOLD}/{time.time_ns()}-{os.getpid()}.json", encode(told))

    def waiting(self) -> list[str]:
        """Names of results that are not learned yet, oldest first."""
        with contextlib.suppress(OSError):
            names = os.listdir(self.folder / TOLD) if self.folder else []
            return sorted(name for name in names if name.endswith(".json") and name[0] != ".")
        return []

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
        """Put a file that is of no use where it can be looked at; the reason beside it."""
        if self.folder is None:
            return
        with contextlib.suppress(OSError):
            (self.folder / ASIDE).mkdir(mode=0o700, exist_ok=True)
            os.replace(self.folder / name, self.folder / ASIDE / os.path.basename(name))
            self.write(f"{ASIDE}/{os.path.basename(name)}.reason", f"{reason[:500]}\n")
