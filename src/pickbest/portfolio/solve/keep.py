"""What calls leave on disk for each other and for learning: one small database in the data folder.

    calls    one row per call; see `calls`
    kept     by name: who solved a problem, by the digest of its content and by that of its name;
             sets of solvers that the learner picked ahead; versions, sessions

A call picks at random among the sets, so that calls that come in bursts need no lock and never run
out: the sets are a sample of what the learner would pick now. Where the disk is full, read only or
not ours, calls are answered all the same; a file that is damaged is set aside.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

FILE = "calls.db"
# Seconds that a call waits for others that write.
PATIENCE = 5.0
# So many calls, and so many problems, are remembered; the oldest are forgotten.
MOST_CALLS, MOST_SOLVED = 100_000, 65_536
# One that has become slow is not given as much more time at once: the others must have a chance.
SLOWER = 1.25
_SCHEMA = """
create table if not exists calls(number integer primary key, id text unique, body text);
create table if not exists kept(number integer primary key, name text unique, body text);
"""


def data_folder() -> str | None:
    """Where what was learned is kept: $XDG_DATA_HOME/pickbest/solve; None where it cannot be."""
    home = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    folder = os.path.join(home, "pickbest", "solve")
    try:
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)
        mine = os.stat(folder).st_uid == os.geteuid()
    except OSError:
        return None
    return folder if mine and os.access(folder, os.W_OK | os.X_OK) else None


@contextlib.contextmanager
def alone(folder: str | Path, wait: bool = False) -> Iterator[bool]:
    """Whether no other process is learning in this folder, for as long as this one does."""
    path = os.path.join(folder, "learning.lock")
    with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError:
            yield False
        else:
            yield True


class Solved(NamedTuple):
    """Who solved a problem in an earlier call, and about how quickly."""

    solver: str
    seconds: float


class Keep:
    """The database of a data folder; None: nothing is kept."""

    def __init__(self, folder: str | Path | None) -> None:
        self.folder = folder
        self._path = folder and os.path.join(folder, FILE)
        self._connection: sqlite3.Connection | None = None
        self.damaged = ""  # what should be said of it

    # Problems

    def solved(self, digest: str) -> Solved | None:
        """What is known of a problem, by one of its digests."""
        with contextlib.suppress(TypeError, ValueError):
            solver, seconds = self.read(f"solved {digest}")
            return Solved(str(solver), float(seconds))
        return None

    # Picks

    def picked(
        self, key: str, arms: Sequence[str], budget: int, chosen_by: str = ""
    ) -> tuple[tuple[str, ...], tuple[float, ...]]:
        """(some of the arms, as the learner would pick them now; the weights of that pick).

        chosen_by: makes the same choice each time; "": at random. Where nothing is known, the
        first arm is joined by others at random, or by those that come next in the table.
        """
        sets = [
            each
            for each in self.sets(key)
            if len(each[0]) == len(set(each[0])) == budget and set(each[0]) <= set(arms)
        ]
        import random  # milliseconds, which a session does without

        rng = random.Random(chosen_by or None)
        if sets:
            return rng.choice(sets)
        rest = list(arms[1:])
        return (*arms[:1], *(rest if chosen_by else rng.sample(rest, len(rest))))[:budget], ()

    def sets(self, key: str) -> list[tuple[tuple[str, ...], tuple[float, ...]]]:
        """What the learner picked ahead: names without versions, and weights."""
        with contextlib.suppress(TypeError, ValueError, LookupError):
            return [
                (tuple(str(arm).partition(" ")[0] for arm in arms), tuple(map(float, weights)))
                for arms, weights in self.read(f"picks {key}")
            ]
        return []

    def offer(self, key: str, sets: Sequence[tuple[Sequence[str], Sequence[float] | None]]) -> None:
        """Sets that the learner picked ahead."""
        self.write({f"picks {key}": [(arms, weights or ()) for arms, weights in sets]})

    # Calls

    def tell(self, id: str, body: str, solver: str, seconds: float, digests: Sequence[str]) -> None:
        """Keep a call, and who solved its problem; on disk when this returns.

        body: "": it is not to be learned. solver: "": nobody did. digests: of the problem.
        """
        found: dict[str, Any] = {}
        for digest in digests if solver else ():
            before = self.solved(digest)
            slower = before is not None and before.solver == solver
            most = SLOWER * before.seconds if before and slower else seconds
            found[f"solved {digest}"] = solver, min(seconds, most)
        self.write(found, [(id, body)] if body else [])

    def calls(self, after: int = 0) -> Iterator[tuple[int, str]]:
        """(number, body) of the calls that are kept, the oldest first."""
        yield from self._rows(
            "select number, body from calls where number > ? order by number", after
        )

    @property
    def learned(self) -> int:
        """The last call that was learned."""
        found = self.read("learned")
        return found if isinstance(found, int) and found > 0 else 0

    @property
    def waiting(self) -> int:
        """How many calls are not learned."""
        rows = self._rows("select count(*) from calls where number > ?", self.learned)
        return int(rows[0][0]) if rows else 0

    def mark_learned(self, number: int) -> None:
        """So far all is learned; what is too old is forgotten."""
        self.write({"learned": number})
        oldest = "select number from {} order by number desc limit 1 offset ?"
        problems = "kept where name like 'solved %'"
        self._write(
            [
                (f"delete from calls where number <= ({oldest.format('calls')})", (MOST_CALLS,)),
                (
                    f"delete from {problems} and number <= ({oldest.format(problems)})",
                    (MOST_SOLVED,),
                ),
            ]
        )

    # Whatever else

    def read(self, name: str) -> Any:
        """What is kept under a name; None where there is nothing, or nothing that we wrote."""
        rows = self._rows("select body from kept where name = ?", name)
        with contextlib.suppress(ValueError, RecursionError, TypeError):
            return json.loads(rows[0][0]) if rows else None
        return None

    def write(self, named: Mapping[str, Any], calls: Sequence[tuple[str, str]] = ()) -> None:
        """Keep things under their names, and calls by their ids: all of it or nothing."""
        self._write(
            [
                *(("insert or ignore into calls(id, body) values(?, ?)", call) for call in calls),
                *(
                    (
                        "insert or replace into kept(name, body) values(?, ?)",
                        (name, json.dumps(each)),
                    )
                    for name, each in named.items()
                ),
            ]
        )

    def set_aside(self, name: str) -> None:
        """Put a file that is of no use where it can be looked at."""
        path = os.path.join(self.folder or "", name)
        with contextlib.suppress(OSError):
            os.replace(path, f"{path}.damaged")

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _rows(self, command: str, *values: Any) -> list[Any]:
        try:
            if self._connection is None and (self._path is None or not os.path.exists(self._path)):
                return []
            return self._opened().execute(command, values).fetchall()
        except (sqlite3.Error, OSError) as error:
            self._failed(error)
            return []

    def _write(self, commands: Iterable[tuple[str, Sequence[Any]]]) -> None:
        """All of it or nothing; nothing where the disk is full, or read only."""
        if self._path is None:
            return
        try:
            with self._opened() as connection:
                connection.execute("begin immediate")
                for command, values in commands:
                    connection.execute(command, values)
        except (sqlite3.Error, OSError) as error:
            self._failed(error)

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None and self._path is not None:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            os.close(os.open(self._path, flags, 0o600))
            self._connection = sqlite3.connect(self._path, PATIENCE, isolation_level=None)
            self._connection.executescript(f"pragma synchronous = off; {_SCHEMA}")
        assert self._connection is not None
        return self._connection

    def _failed(self, error: Exception) -> None:
        # Of what is damaged, SQLite says nothing more precise; all else is a kind of its own.
        if type(error) is sqlite3.DatabaseError:
            self.close()
            self.set_aside(FILE)
            self.damaged = f"{FILE} was damaged ({error}), and is set aside as {FILE}.damaged"
