"""From the calls that are kept to the journal, and new picks for the next calls; in the background.

python -m pickbest.portfolio.solve.learning FOLDER

Opening a journal and asking a learner takes longer than many a problem. So calls leave a row (see
`keep`), and this process takes it to the journal and offers new sets of solvers. In the journal, an
arm is a solver and its version: `z3 4.13.0`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pickbest.core.errors import PickbestError
from pickbest.portfolio.runs import Run, RunStatus
from pickbest.portfolio.solve.calls import Call, kept
from pickbest.portfolio.solve.keep import Keep, alone
from pickbest.portfolio.solve.known import INSIDE, located, places, solver_table, version_of

if TYPE_CHECKING:
    from pickbest.portfolio.store.records import Finished

# Sets of solvers that are offered: a sample of what the learner would pick.
READY = 16
# Calls that one commit takes in.
BATCH = 256
# Calls that wait before learning starts: at least the first, at most the last, and else a share of
# what is known. Where nothing is known of their kind, it starts at once.
ENOUGH, ENOUGH_SHARE, PLENTY = 4, 0.25, 100
# A new version of a solver is taken to do as the old one did in the last of its calls.
PRIOR = 30
JOURNAL, VERSIONS = "solve.db", "versions"
# What SQLite says of a file that is none of its own, or no more.
_DAMAGED = re.compile("not a database|malformed")


class Lesson(NamedTuple):
    """One round for the journal; arms: all that could have been picked."""

    problem: str
    arms: tuple[str, ...]
    weights: tuple[float, ...]
    record: Finished


def lessons(call: Call, versions: Mapping[str, str]) -> Iterator[Lesson]:
    """What a call teaches: of those that were picked, and of one that answered in their place.

    versions: of solvers whose version the call does not say. A solver that was stopped, or had not
    begun, counts as if it had not answered: it is credited for what it adds to the others
    that ran, not for what another would have delivered anyway.
    """
    from pickbest.portfolio.store.records import Finished  # milliseconds, which a call does without

    known = {**versions, **call.versions}
    full = {arm: f"{arm} {known[arm]}" if known.get(arm) else arm for arm in call.arms}
    ran = {run.arm: replace(run, arm=full[run.arm]) for run in call.runs}
    if not call.given:
        # Those that were to join later count as those that were stopped.
        ran = {arm: Run(full[arm], RunStatus.STOPPED) for arm in call.picked} | ran
    first = [ran.pop(arm) for arm in call.picked if arm in ran]
    later = sorted(ran.values(), key=lambda run: not _answered(run))[: len(call.picked)]
    for place, runs in enumerate((first, later if any(map(_answered, later)) else [])):
        if len(runs) != len(call.picked):  # the others never started
            continue
        winner = min(filter(_answered, runs), key=lambda run: run.seconds, default=None)
        costs = tuple(run.high for run in runs)
        record = Finished(
            0,
            tuple(runs),
            low=costs,
            high=costs,
            times=costs,
            winner=winner.arm if winner else None,
            cost=winner.cost if winner else 1.0,
            # Of two rounds of one call, each has a time of its own.
            at=call.at + 1e-6 * place,
        )
        yield Lesson(call.problem, tuple(full.values()), call.weights * (place == 0), record)


def _answered(run: Run) -> bool:
    return run.status is RunStatus.FINISHED


def learn(keep: Keep) -> int:
    """Take in all calls that are not learned, and offer new sets; how many calls there were."""
    from pickbest.portfolio.store.records import DamagedError

    last, count = keep.learned, 0
    versions = noted_versions(keep)
    by_key: dict[str, list[Lesson]] = defaultdict(list)
    for number, call in islice(kept(keep, last), BATCH):
        last, count = number, count + 1
        if len(call.picked) < len(call.arms):  # else there is nothing to choose
            by_key[call.key] += lessons(call, versions)
    try:
        for key, taught in by_key.items():
            if taught:
                _learn(keep, key, taught, versions)
    except PickbestError as error:
        if not isinstance(error, DamagedError) and not _DAMAGED.search(str(error)):
            raise
        # All that it held is kept: it is learned anew.
        keep.set_aside(JOURNAL)
        last = 0
    keep.mark_learned(last)
    return count


def _learn(keep: Keep, key: str, taught: Sequence[Lesson], versions: Mapping[str, str]) -> None:
    from pickbest.portfolio.run.ask_tell import AskTell  # takes half a second of processor time

    arms, budget = taught[-1].arms, len(taught[-1].record.runs)
    journal = Path(keep.folder or "", JOURNAL)
    # Solvers that are not here now are removed; what is known of them is kept for their return.
    with AskTell(arms, budget, journal, name=key) as book:
        known = [arm for arm, tally in book.ledger.state.tallies.items() if tally.picked]
        before = _prior(keep, key, known, arms, versions)
        # A process that was killed after its commit left calls that are in the journal.
        seen = {view.at for view in book.history(2 * BATCH)}
        new = [
            (each.problem, each.weights, each.record)
            for each in (*before, *taught)
            if each.record.at not in seen
            and len(each.record.runs) == budget
            and {run.arm for run in each.record.runs} <= set(arms)
        ]
        if new:
            book.ledger.note(new)
        sets = book.ledger.look(
            lambda state: [state.live.pick(state.next_round + each)[:2] for each in range(READY)]
        )
    keep.offer(key, sets)


def _prior(
    keep: Keep, key: str, known: Iterable[str], arms: Sequence[str], versions: Mapping[str, str]
) -> Iterator[Lesson]:
    """Calls of versions before those that are new, as if they had been calls of these."""
    base = {arm.partition(" ")[0] for arm in known}
    new = {arm.partition(" ")[0] for arm in arms if arm not in known} & base
    if not new:
        return
    old = [
        call
        for number, call in kept(keep)
        if number <= keep.learned and call.key == key and new & set(call.picked)
    ]
    for call in old[-PRIOR:]:
        for each in lessons(replace(call, versions={}, weights=()), versions):
            # A round of its own, and so at a time of its own.
            yield each._replace(record=replace(each.record, at=each.record.at + 5e-6))


def due(keep: Keep, key: str) -> bool:
    """Whether it is time to learn."""
    enough = min(max(ENOUGH, ENOUGH_SHARE * keep.learned), PLENTY)
    return keep.waiting >= enough or not keep.sets(key)


def learn_in_background(folder: str) -> None:
    """Start the process that learns, unless another one is at it."""
    try:
        with alone(folder) as first:
            if not first:
                return
        subprocess.Popen(
            [sys.executable, "-P", "-m", "pickbest.portfolio.solve.learning", folder],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            start_new_session=True,
        ).returncode = 0  # nobody waits for it
    except OSError:  # a full disk, or no more processes: the next call tries again
        pass


def learn_all(folder: str | Path, wait: bool = True) -> int:
    """Until nothing is left to learn; how many calls there were. wait: for another that learns."""
    count, keep = 0, Keep(folder)
    with alone(folder, wait) as first:
        while first and (more := learn(keep)):
            count += more
    keep.close()
    return count


def noted_versions(keep: Keep) -> dict[str, str]:
    """The version of each solver that is here, as it says; what was seen is kept."""
    seen, here = seen_versions(keep), installed_versions()
    new = {
        name: version
        for name, version in here.items()
        if version and version not in seen.get(name, ())
    }
    if new:
        keep.write({VERSIONS: seen | {name: [*seen.get(name, ()), new[name]] for name in new}})
    return here


def installed_versions() -> dict[str, str]:
    found = (located(solver, places()) for solver in solver_table().values())
    return {here.name: version_of(here) for here in found if here is not None}


def seen_versions(keep: Keep) -> dict[str, list[str]]:
    """By solver, all versions that were seen."""
    found = keep.read(VERSIONS)
    listed = found.items() if isinstance(found, dict) else ()
    return {name: list(map(str, each)) for name, each in listed if isinstance(each, list)}


def main(folder: Path) -> None:
    os.environ[INSIDE] = "1"
    os.nice(10)
    learn_all(folder, wait=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
