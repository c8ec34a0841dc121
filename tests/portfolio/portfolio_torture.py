"""Kill a portfolio at random moments, again and again; then nothing may be lost, doubled or left.

    python tests/portfolio/portfolio_torture.py --kills 300 --rounds 2000

A worker process solves short rounds and notes each result after `solve` has returned. After a
random time some of its processes get SIGKILL at once: the worker itself, its keeper, its guards,
or any of these together; a worker that lives on is killed a little later, and the next one is
started. Some arms leave daemons behind, with and without an environment.

After each kill every process of the killed worker must be gone within seconds, unless keeper and
guards died in the same instant: nobody knows any more what their arms had started, so this script
ends it. At the end the journal, the learned state and a replay must agree bit for bit, and every
noted result must be in the journal.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
from pickbest.portfolio import Portfolio
from pickbest.portfolio.engine import tree
from pickbest.portfolio.store.records import Finished, Lost, Picked
from tests.portfolio import postgres
from tests.portfolio.helpers import alive, running

# Seconds that a daemon sleeps: no other process on the machine has this argument.
DAEMON = f"7777.{os.getpid()}"
ARMS = {
    "true": ["true"],
    "short": ["sleep", "0.003"],
    "false": ["false"],
    "echo": ["echo", "{problem}"],
    "longer": ["sleep", "0.01"],
    "daemon": ["sh", "-c", f"setsid sleep {DAEMON} & sleep 0.02"],
    "nameless": ["sh", "-c", f"setsid env -i sleep {DAEMON} & sleep 0.02"],
}
# Seconds from the start of a worker to its end: some die while they open, most at work.
WAIT = (0.0, 0.9)
# Which processes are killed together.
VICTIMS = (
    {"worker"},
    {"keeper"},
    {"guards"},
    {"worker", "keeper"},
    {"worker", "guards"},
    {"keeper", "guards"},
    {"worker", "keeper", "guards"},
)
# Seconds in which a guard should be seen, and in which nothing of a killed worker may be left.
PATIENCE, GONE = 5.0, 10.0


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


def torment(storage: str, notes: Path, kills: int, rounds: int, seed: int) -> dict[str, int]:
    """Start and kill workers, then let one finish; how many of what were killed."""
    rng = random.Random(seed)
    killed: Counter[str] = Counter()
    for _ in range(kills):
        pid = fork_worker(storage, notes, rounds=10**9)
        time.sleep(rng.uniform(*WAIT))
        victims = rng.choice(VICTIMS)
        keepers, guards = kept_by(pid)
        until = time.monotonic() + PATIENCE
        while "guards" in victims and not guards and time.monotonic() < until:
            keepers, guards = kept_by(pid)  # a guard lives as long as its arm
        chosen = {"worker": [pid], "keeper": keepers, "guards": guards}
        for role in sorted(victims, key=lambda role: rng.random()):
            for each in chosen[role]:
                tree.kill(each)
                killed[role] += 1
        if "worker" not in victims:
            # It must live on without them.
            time.sleep(rng.uniform(1.0, 1.5))
            if os.waitpid(pid, os.WNOHANG) != (0, 0):
                raise SystemExit(f"a worker did not survive the end of its {victims}")
            tree.kill(pid)
        os.waitpid(pid, 0)
        processes = [*keepers, *guards]
        if {"keeper", "guards"} <= victims:
            for each in running(DAEMON):
                tree.kill(each)
        if orphans := wait_until_gone(processes):
            raise SystemExit(f"{victims} were killed, and {orphans} are left")
    pid = fork_worker(storage, notes, rounds)
    if os.waitpid(pid, 0)[1] != 0:
        raise SystemExit("the last worker failed")
    return dict(killed)


def kept_by(worker: int) -> tuple[list[int], list[int]]:
    """The keepers and the guards of a worker."""
    keepers = tree.children(worker)
    return keepers, [guard for keeper in keepers for guard in tree.children(keeper)]


def wait_until_gone(processes: list[int]) -> list[int]:
    """Which of these processes, and which daemons, are still there after a while."""
    left: list[int] = []
    for _ in range(round(GONE / 0.02)):
        left = [pid for pid in processes if alive(pid)] + running(DAEMON)
        if not left:
            break
        time.sleep(0.02)
    return left


def check(storage: str, notes: Path, rounds: int) -> dict[str, int]:
    """Journal, state and replay agree; every noted result is there once. Says what was found."""
    with Portfolio(ARMS, 2, 5.0, storage, cost="runtime", seed=1) as portfolio:
        portfolio.verify()
        status = portfolio.status()
        entries = list(portfolio.ledger.journal.entries())
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
    parser.add_argument("--postgres", action="store_true", help="a server instead of SQLite")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        storage = f"sqlite:///{folder}/torture.db"
        if options.postgres:
            storage = stack.enter_context(postgres.server()).url
        notes = Path(folder) / "notes"
        notes.touch()
        # Compile and import once, so that forked workers start at once.
        with contextlib.closing(Portfolio(ARMS, 2, 5.0)) as warm:
            warm.solve("warm")
        started = time.monotonic()
        killed = torment(storage, notes, options.kills, options.rounds, options.seed)
        found = check(storage, notes, options.rounds)
        orphans = len(wait_until_gone([]))
        seconds = round(time.monotonic() - started)
        figures = {**found, "killed": killed, "orphans": orphans, "seconds": seconds}
        sys.stdout.write(json.dumps(figures) + "\n")
        if orphans:
            raise SystemExit("processes were left")


if __name__ == "__main__":
    main()
