"""What the portfolio itself costs: a round beside two bare processes, and ask + tell."""

from __future__ import annotations

import contextlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from pickbest.portfolio import AskTell, Portfolio
from timing import Row, row, seconds

ARMS = ("a", "b", "c", "d", "e")
ROUNDS = 60
BATCH, BATCHES = 50, 12
ROW = "x" * 300
RATE_TARGETS = {"SQLite": 1000, "PostgreSQL": 300}


def rows() -> list[Row]:
    """The table's rows; see benchmarks/run.py."""
    with tempfile.TemporaryDirectory() as folder:
        disk, memory = f"sqlite:///{folder}/rounds.db", "sqlite://"
        found = [
            round_row("journalled on SQLite", disk, "≤ 25 ms", lambda ours, _: ours <= 0.025),
            round_row(
                "journal in memory", memory, "≤ 3 times", lambda ours, bare: ours <= 3 * bare
            ),
            *ask_tell_rows("SQLite", f"sqlite:///{folder}/ask.db", folder),
        ]
        with contextlib.ExitStack() as stack:
            server = postgres(stack)
            if server is not None:
                found += ask_tell_rows("PostgreSQL", server, folder)
    return found


def round_row(journal: str, storage: str, target: str, met: Callable[[float, float], bool]) -> Row:
    """Ask, start and reap two trivial processes, journal, tell; in turns with bare processes."""
    arms = {"true": ["true"], "also": ["true"]}
    with Portfolio(arms, 2, 60.0, storage, stop="deadline") as portfolio:
        portfolio.solve("warm")
        ours, bare = [], []
        for _ in range(ROUNDS):
            bare.append(seconds(two_processes))
            ours.append(seconds(lambda: portfolio.solve("p")))
    median, reference = statistics.median(ours), statistics.median(bare)
    name = f"a round of two trivial processes, {journal}"
    return row(name, median, reference, target, met(median, reference))


def ask_tell_rows(database: str, storage: str, folder: str) -> list[Row]:
    """Ask + tell with one commit each, and in batches of 50 (one commit a batch)."""
    book = AskTell(ARMS, 2, storage)
    book.tell(book.ask(), [0.0, 1.0])

    def one_by_one() -> None:
        book.tell(book.ask("p"), [0.25, 0.75])

    def batch() -> None:
        tickets = book.ask_many(["p"] * BATCH)
        book.tell_many([(ticket, [0.25, 0.75]) for ticket in tickets])

    # In turns, because the disk is quicker at some times than at others.
    with contextlib.closing(bare_database(folder)) as bare:
        singles, commits = [], []
        for _ in range(40):
            commits.append(seconds(lambda: bare.execute("INSERT INTO rows VALUES (?)", (ROW,))))
            singles.append(seconds(one_by_one))
    single, commit = statistics.median(singles), statistics.median(commits)
    many = statistics.median(seconds(batch) for _ in range(BATCHES)) / BATCH
    book.close()
    target = RATE_TARGETS[database]
    name, bare_batch = f"ask + tell on {database}", 2.0 * commit / BATCH
    rate = f"≥ {target:,} per second"
    return [
        row(f"{name}, batches of {BATCH}", many, bare_batch, rate, many <= 1.0 / target),
        row(f"{name}, one by one (two commits on disk)", single, 2.0 * commit, "none: the disk "
            "decides", True),
    ]  # fmt: skip


def bare_database(folder: str) -> sqlite3.Connection:
    """SQLite without us: every insert is a commit that has reached the disk."""
    bare = sqlite3.connect(f"{folder}/bare.db", isolation_level=None)
    bare.execute("PRAGMA journal_mode=WAL")
    bare.execute("PRAGMA synchronous=FULL")
    bare.execute("CREATE TABLE IF NOT EXISTS rows (body TEXT)")
    return bare


def two_processes() -> None:
    """The bare cost: start two processes, reap them."""
    started = [subprocess.Popen(["true"], start_new_session=True) for _ in range(2)]
    for process in started:
        process.wait()


def postgres(stack: contextlib.ExitStack) -> str | None:
    """A PostgreSQL server of our own, as the tests start it; None where there is none."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "portfolio"))
    try:
        import postgres

        return stack.enter_context(postgres.server())
    except (ImportError, RuntimeError) as error:
        print(f"PostgreSQL is left out: {error}")
        return None
    finally:
        sys.path.pop(0)
