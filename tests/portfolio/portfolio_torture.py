"""Kill a portfolio at random moments, again and again; then nothing may be lost or doubled.

    python tests/portfolio/portfolio_torture.py --kills 300 --rounds 2000

A worker process solves short rounds and notes each result after `solve` has returned. It is
killed with SIGKILL after a random time and started again. At the end the journal, the learned
state and a replay must agree bit for bit, and every noted result must be in the journal.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from pickbest.portfolio import Portfolio
from pickbest.portfolio.journal.records import Finished, Lost, Picked

ARMS = {
    "true": ["true"],
    "short": ["sleep", "0.003"],
    "false": ["false"],
    "echo": ["echo", "{problem}"],
    "longer": ["sleep", "0.01"],
}
# Seconds from the start of a worker to its end: some die while they open, most at work.
WAIT = (0.0, 0.9)


def work(storage: str, notes: Path, rounds: int) -> None:
    """Solve until so many rounds are finished; note each result once it is known."""
    with (
        Portfolio(ARMS, 2, 5.0, storage, cost="runtime", seed=1) as portfolio,
        notes.open("ab", buffering=0) as book,
    ):
        while portfolio.status().finished < rounds:
            result = portfolio.solve(f"p{random.random()}")
            note = [result.round, result.winner, result.cost, str(result.problem)]
            book.write(json.dumps(note).encode() + b"\n")


def fork_worker(storage: str, notes: Path, rounds: int) -> int:
    """A worker in a forked process: everything is imported and compiled already."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            random.seed()
            work(storage, notes, rounds)
            code = 0
        finally:
            os._exit(code)
    return pid


def torment(storage: str, notes: Path, kills: int, rounds: int, seed: int) -> int:
    """Start and kill workers, then let one finish; how many were killed in full swing."""
    rng = random.Random(seed)
    killed = 0
    for _ in range(kills):
        pid = fork_worker(storage, notes, rounds=10**9)
        time.sleep(rng.uniform(*WAIT))
        os.kill(pid, signal.SIGKILL)
        killed += os.waitpid(pid, 0)[1] == signal.SIGKILL
    pid = fork_worker(storage, notes, rounds)
    if os.waitpid(pid, 0)[1] != 0:
        raise SystemExit("the last worker failed")
    return killed


def check(storage: str, notes: Path, rounds: int) -> dict[str, int]:
    """Journal, state and replay agree; every noted result is there once. Says what was found."""
    with Portfolio(ARMS, 2, 5.0, storage, cost="runtime", seed=1) as portfolio:
        portfolio.verify()
        status = portfolio.status()
        entries = portfolio.book.ledger.entries()
    picked = [e.record.round for e in entries if isinstance(e.record, Picked)]
    finished = {e.record.round: e.record for e in entries if isinstance(e.record, Finished)}
    lost = [e.record.round for e in entries if isinstance(e.record, Lost)]
    closed = [e.record.round for e in entries if isinstance(e.record, Finished | Lost)]
    assert picked == list(range(len(picked))), "rounds have gaps"
    assert sorted(closed) == picked, "a round is open or closed twice"
    assert status.finished == status.learned == len(finished) >= rounds
    # A write that a kill cut short leaves a line without an end: that result was not yet noted.
    lines = notes.read_text().splitlines(keepends=True)
    noted = [json.loads(line) for line in lines if line.endswith("\n")]
    assert len({number for number, *_ in noted}) == len(noted), "a result was returned twice"
    for number, winner, cost, problem in noted:
        record = finished.get(number)
        assert record is not None, f"round {number} was returned, but is not in the journal"
        assert (record.winner, record.cost) == (winner, cost), f"round {number} differs"
        place = next(e.record for e in entries if getattr(e.record, "round", -1) == number)
        assert place.problem == problem
    return {"finished": len(finished), "lost": len(lost), "noted": len(noted)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--storage", help="a database of its own; default: a new SQLite file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        storage = options.storage or f"sqlite:///{folder}/torture.db"
        notes = Path(folder) / "notes"
        notes.touch()
        # Compile and import once, so that forked workers start at once.
        with contextlib.closing(Portfolio(ARMS, 2, 5.0)) as warm:
            warm.solve("warm")
        started = time.monotonic()
        killed = torment(storage, notes, options.kills, options.rounds, options.seed)
        found = check(storage, notes, options.rounds)
        found |= {"killed": killed, "seconds": round(time.monotonic() - started)}
        sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
