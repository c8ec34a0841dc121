"""From the results of calls to the journal, and new picks for the next calls; in the background.

python -m pickbest.portfolio.solve.learning FOLDER

Opening a journal and asking a learner takes longer than many a problem. So calls leave results in
the `stock`, and this process takes them to the journal and offers new sets of solvers.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pickbest.core.codec import decode, encode
from pickbest.core.errors import PickbestError
from pickbest.portfolio.solve.stock import TOLD, Stock, alone
from pickbest.portfolio.store.records import Finished

if TYPE_CHECKING:
    from pickbest.portfolio.run.ask_tell import AskTell

# Sets of solvers that are offered: a sample of what the learner would pick.
READY = 16
# Results that one commit takes in.
BATCH = 256
# Learning starts when so many results wait, or when nothing is offered yet.
ENOUGH = 4
JOURNAL = "solve.db"


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


def learn(folder: Path) -> int:
    """Take in all results there are and offer new sets; how many results there were."""
    stock = Stock(folder)
    by_key: dict[str, list[tuple[str, dict[str, Any]]]] = defaultdict(list)
    for name in stock.waiting():
        told = stock.read(f"{TOLD}/{name}")
        if isinstance(told, dict) and isinstance(told.get("key"), str):
            by_key[told["key"]].append((name, told))
        elif told is not None:
            stock.set_aside(f"{TOLD}/{name}", "not what a call writes")
    for key, told in by_key.items():
        for start in range(0, len(told), BATCH):
            _learn(stock, folder, key, told[start : start + BATCH])
    return sum(map(len, by_key.values()))


def _learn(
    stock: Stock, folder: Path, key: str, told: Sequence[tuple[str, dict[str, Any]]]
) -> None:
    rounds = []
    for name, content in told:
        try:
            record = decode(Finished, encode(content["finished"]))
            weights = tuple(map(float, content["weights"]))
            arms = [*map(str, content["arms"])]
            rounds.append((name, str(content["problem"]), weights, arms, record))
        except (KeyError, TypeError, ValueError) as error:
            stock.set_aside(f"{TOLD}/{name}", repr(error))
    if not rounds:
        return
    *_, arms, latest = rounds[-1]
    budget = len(latest.runs)
    with book_for(folder, key, arms, budget) as book:
        # A process that was killed after its commit left results that are in the journal.
        known = {view.at for view in book.history(BATCH)}
        new = [
            (problem, weights, record)
            for _, problem, weights, _, record in rounds
            if record.at not in known
            and len(record.runs) == budget
            and {run.arm for run in record.runs} <= set(arms)
        ]
        if new:
            book.ledger.note(new)
        sets = book.ledger.look(
            lambda state: [state.live.pick(state.next_round + each)[:2] for each in range(READY)]
        )
    stock.offer(key, sets)
    for name, *_ in rounds:
        (folder / TOLD / name).unlink(missing_ok=True)


def due(stock: Stock, key: str) -> bool:
    """Whether it is time to learn."""
    return len(stock.waiting()) >= ENOUGH or not stock.sets(key)


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


def main(folder: Path) -> None:
    """Until nothing is left to learn."""
    os.nice(10)
    with alone(folder) as first:
        while first and learn(folder):
            pass


if __name__ == "__main__":
    main(Path(sys.argv[1]))
