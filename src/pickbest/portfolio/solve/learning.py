"""From the log of calls to the journal, and new picks for the next calls; in the background.

python -m pickbest.portfolio.solve.learning FOLDER

Opening a journal and asking a learner takes longer than many a problem. So calls leave a line in
the log, and this process takes it to the journal and offers new sets of solvers (see `stock`).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pickbest.core.errors import PickbestError
from pickbest.portfolio.runs import Run, RunStatus
from pickbest.portfolio.solve.known import (
    INSIDE,
    RUNNER,
    located,
    module_version,
    places,
    said_version,
    solver_table,
)
from pickbest.portfolio.solve.stock import VERSIONS_FILE, Stock, alone
from pickbest.portfolio.store.records import DamagedError, Finished

if TYPE_CHECKING:
    from pickbest.portfolio.run.ask_tell import AskTell

# Sets of solvers that are offered: a sample of what the learner would pick.
READY = 16
# Calls that one commit takes in.
BATCH = 256
# Bytes of the log that wait before learning starts, about four calls; less, where nothing is known.
ENOUGH = 2_000
JOURNAL = "solve.db"
# What SQLite says of a file that is none of its own, or no more.
_DAMAGED = re.compile("not a database|malformed")


class Lesson(NamedTuple):
    """One round for the journal; arms: all that could have been picked."""

    problem: str
    arms: tuple[str, ...]
    weights: tuple[float, ...]
    record: Finished


def lessons(call: Mapping[str, Any]) -> Iterator[Lesson]:
    """What a call teaches: of those that were picked, and of one that answered in their place.

    A solver that was stopped counts as if it had not answered: it is credited for what it adds to
    the solvers beside it, not for what another would have delivered anyway. ValueError, TypeError
    or KeyError for a line that no call wrote.
    """
    picked, arms = [str(arm) for arm in call["picked"]], tuple(map(str, call["arms"]))
    ran = [
        Run(
            str(run["arm"]), RunStatus(run["status"]), run["cost"], float(run["seconds"]),
            str(run["reason"]), verdict=str(run["verdict"]), checked=run["checked"] is True,
            accepted=run["accepted"] is True,
        )
        for run in call["runs"]
    ]  # fmt: skip
    first = sorted((r for r in ran if r.arm in picked), key=lambda run: picked.index(run.arm))
    later = sorted((r for r in ran if r.arm not in picked), key=lambda run: not run.accepted)
    later = later[: len(picked)] if any(run.accepted for run in later) else []
    for place, runs in enumerate((first, later)):
        if len(runs) != len(picked):  # the others never started
            continue
        winner = min((r for r in runs if r.accepted), key=lambda run: run.seconds, default=None)
        costs = tuple(run.high for run in runs)
        record = Finished(
            0,
            tuple(run.kept() for run in runs),
            low=costs,
            high=costs,
            times=costs,
            winner=winner.arm if winner else None,
            cost=winner.cost if winner else 1.0,
            # Of two rounds of one call, each has a time of its own.
            at=float(call["at"]) + 1e-6 * place,
        )
        weights = tuple(map(float, call["weights"])) if place == 0 else ()
        yield Lesson(str(call["problem"]), arms, weights, record)


def learn(folder: Path) -> int:
    """Take in all calls that are not learned, and offer new sets; how many calls there were."""
    stock = Stock(folder)
    start = place = stock.learned
    count = 0
    by_key: dict[str, list[Lesson]] = defaultdict(list)
    for end, call in stock.calls(start):
        place = end
        try:
            found = list(lessons(call)) if call["learns"] is True else []
        except (KeyError, TypeError, ValueError, PickbestError):
            continue
        by_key[str(call["key"])] += found
        count += 1
        if count == BATCH:
            break
    try:
        for key, taught in by_key.items():
            if taught:
                _learn(stock, folder, key, taught)
    except PickbestError as error:
        if not isinstance(error, DamagedError) and not _DAMAGED.search(str(error)):
            raise
        # All that it held is in the log: it is learned anew.
        stock.set_aside(JOURNAL, str(error))
        place = 0
    stock.mark_learned(place)
    return count


def _learn(stock: Stock, folder: Path, key: str, taught: Sequence[Lesson]) -> None:
    arms, budget = taught[-1].arms, len(taught[-1].record.runs)
    with book_for(folder, key, arms, budget) as book:
        # A process that was killed after its commit left calls that are in the journal.
        known = {view.at for view in book.history(2 * BATCH)}
        new = [
            (each.problem, each.weights, each.record)
            for each in taught
            if each.record.at not in known
            and len(each.record.runs) == budget
            and {run.arm for run in each.record.runs} <= set(arms)
        ]
        if new:
            book.ledger.note(new)
        sets = book.ledger.look(
            lambda state: [state.live.pick(state.next_round + each)[:2] for each in range(READY)]
        )
    stock.offer(key, sets)


def book_for(folder: Path, key: str, arms: Sequence[str], budget: int) -> AskTell:
    """The learner of a key. Solvers that are not here now are paused, not forgotten."""
    from pickbest.portfolio.run.ask_tell import AskTell  # takes half a second of processor time

    path = folder / JOURNAL
    known: Sequence[str] = ()
    if path.exists():
        try:
            with AskTell.reopened(path, key) as book:
                roster = book.ledger.state.roster
                known = roster.arms if roster else ()
        except PickbestError:  # there is no such portfolio yet
            known = ()
    all_of_them = [*known, *(arm for arm in arms if arm not in known)]
    paused = [arm for arm in known if arm not in arms]
    return AskTell(all_of_them, budget, path, name=key, paused=paused)


def due(stock: Stock, key: str) -> bool:
    """Whether it is time to learn."""
    return stock.size - stock.learned >= ENOUGH or not stock.sets(key)


def learn_in_background(folder: Path) -> None:
    """Start the process that learns, unless another one is at it."""
    try:
        with alone(folder) as first:
            if not first:
                return
        subprocess.Popen(
            [sys.executable, "-P", "-m", "pickbest.portfolio.solve.learning", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            start_new_session=True,
        ).returncode = 0  # nobody waits for it
    except OSError:  # a full disk, or no more processes: the next call tries again
        pass


def learn_all(folder: Path, wait: bool = True) -> int:
    """Until nothing is left to learn; how many calls there were. wait: for another that learns."""
    count = 0
    with alone(folder, wait) as first:
        while first and (more := learn(folder)):
            count += more
    return count


def note_versions(stock: Stock) -> None:
    """Keep which versions of solvers were seen; programs that have not changed are not asked."""
    found = stock.read(VERSIONS_FILE)
    known = found if isinstance(found, dict) else {}
    asked, seen = dict(known.get("asked") or {}), stock.versions()
    for solver in solver_table():
        here = located(solver, places())
        if here is None:
            continue
        is_module = RUNNER in here.argv
        place = solver.module if is_module else here.argv[0]
        stamp = module_version(place) if is_module else str(os.stat(place).st_mtime_ns)
        if asked.get(place) == stamp:
            continue
        text = stamp if is_module else said_version(place)
        version = re.search(r"\d+(\.\d+)+", text)
        asked[place] = stamp
        if version and version[0] not in seen.setdefault(solver.name, []):
            seen[solver.name].append(version[0])
    if known.get("asked") != asked:
        stock.write_json(VERSIONS_FILE, {"asked": asked, "solvers": seen})


def main(folder: Path) -> None:
    os.nice(10)
    os.environ[INSIDE] = "1"
    learn_all(folder, wait=False)
    with suppress(OSError, PickbestError):
        note_versions(Stock(folder))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
