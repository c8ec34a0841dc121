"""Mutated inputs of every kind that pickbest reads: none may end in a traceback, a crash of the
interpreter, a hang of more than 10 s, or a process of more than 500 MB.

    python -m tests.fuzz --inputs 20000
    python -m tests.fuzz --inputs 2000 --kinds journal toml --seed 7

An input is either read and used, or refused with a PickbestError; at least a third must be used, or
what lies behind the first checks is not tried. Each runs in a worker process; one that dies, stands
still or grows is replaced, and its input is counted and kept.
"""

from __future__ import annotations

import argparse
import io
import multiprocessing
import os
import random
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzz import files, problems
from tests.fuzz.mutations import mutate_bytes

SECONDS = 10.0
MOST_MEGABYTES = 500
OUTCOMES = ("used", "refused", "traceback", "crash", "hang", "memory")


@dataclass(frozen=True)
class Kind:
    """seeds: writes some good inputs with a suffix into a folder. mutate: a good one into another.
    use: what a user would do with it."""

    suffix: str
    seeds: Callable[[Path, str], None]
    mutate: Callable[[Path, Path, random.Random], None]
    use: Callable[[Path], None]


_TABLE = files.table_seeds, files.mutate_table, files.use_table
_PROBLEM = problems.problem_seeds, problems.mutate_problem, problems.use_problem
KINDS: dict[str, Kind] = {
    "save": Kind(".npz", files.save_seeds, files.mutate_save, files.use_save),
    "journal": Kind(".db", files.journal_seeds, files.mutate_journal, files.use_journal),
    "toml": Kind(".toml", files.toml_seeds, files.mutate_toml, files.use_toml),
    **{suffix[1:]: Kind(suffix, *_TABLE) for suffix in (".csv", ".npy")},
    "dimacs": Kind(".cnf", *_PROBLEM),
    "smtlib": Kind(".smt2", *_PROBLEM),
    "session": Kind(".talk", problems.session_seeds, problems.mutate_session, problems.use_session),
    "http": Kind(".json", problems.request_seeds, problems.mutate_request, problems.use_request),
}


def work(name: str, seed: int, folder: Path, first: int, last: int, pipe: Any) -> None:
    """Try inputs; say which one begins, and what became of it."""
    from pickbest.core import MissingExtraError, PickbestError

    os.chdir(folder)
    sys.stdout = sys.stderr = io.StringIO()
    kind, seeds = KINDS[name], sorted(folder.glob(f"seeds/*{KINDS[name].suffix}"))
    path = folder / f"warm-{os.getpid()}{kind.suffix}"
    for each in seeds:  # Everything is imported and compiled: what comes now is the inputs' doing.
        shutil.copyfile(each, path)
        kind.use(path)
    pipe.send((first, "begun", ""))
    for number in range(first, last):
        rng = random.Random(f"{name} {seed} {number}")
        for left in folder.glob("*.*"):  # also what SQLite leaves beside its files
            left.unlink()
        path = folder / f"input-{number}{kind.suffix}"
        try:
            kind.mutate(rng.choice(seeds), path, rng)
        except Exception:  # It went too far for the tool that writes such files.
            mutate_bytes(rng.choice(seeds), path, rng)
        pipe.send((number, "begun", ""))
        said = ""
        try:
            kind.use(path)
            outcome = "used"
        except (PickbestError, MissingExtraError) as error:
            outcome, said = "refused", str(error)
        except BaseException:
            outcome, said = "traceback", traceback.format_exc()
        if (held := _megabytes()) > MOST_MEGABYTES:
            outcome, said = "memory", f"{held:.0f} MB"
        pipe.send((number, outcome, said))
        if outcome == "memory":
            return  # The next worker begins small again.


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


@dataclass
class Report:
    """How many inputs of a kind ended how, and the bad ones with what they said."""

    counts: Counter[str] = field(default_factory=Counter)
    bad: list[tuple[int, str, str]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def inputs(self) -> int:
        return self.counts.total()

    @property
    def clean(self) -> bool:
        return not self.bad and self.counts["used"] * 3 >= self.inputs

    def __str__(self) -> str:
        counts = ", ".join(f"{self.counts[outcome]} {outcome}" for outcome in OUTCOMES)
        return f"{self.inputs:6} inputs: {counts}; {self.seconds:.0f} s"


def fuzz(name: str, inputs: int, seed: int = 0) -> Report:
    """Try so many inputs of a kind."""
    report, begun = Report(), time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "seeds").mkdir()
        KINDS[name].seeds(folder / "seeds", KINDS[name].suffix)
        first = 0
        while first < inputs:
            first = _one_worker(name, seed, folder, first, inputs, report)
    report.seconds = time.monotonic() - begun
    return report


def _one_worker(name: str, seed: int, folder: Path, first: int, last: int, report: Report) -> int:
    """Run a worker to its end, good or bad; the number of the next input."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    worker = context.Process(target=work, args=(name, seed, folder, first, last, theirs))
    worker.start()
    theirs.close()
    running, patience = first, SECONDS + 300.0  # the first answer waits for compilers

    def note(outcome: str, said: str) -> None:
        report.counts[outcome] += 1
        if outcome not in ("used", "refused"):
            report.bad.append((running, outcome, said))

    try:
        while ours.poll(patience):
            running, outcome, said = ours.recv()
            patience = SECONDS
            if outcome != "begun":
                note(outcome, said)
                running += 1
        note("hang", f"more than {SECONDS:g} seconds")
    except EOFError:
        worker.join()
        if patience > SECONDS:
            raise RuntimeError(f"the good inputs of {name} cannot be used") from None
        if running < last and worker.exitcode != 0:
            note("crash", f"exit code {worker.exitcode}")
        else:
            return running
    finally:
        worker.kill()
        worker.join()
        ours.close()
    return running + 1


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--inputs", type=int, default=20_000, help="of each kind")
    parser.add_argument("--kinds", nargs="+", choices=sorted(KINDS), default=list(KINDS))
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    reports = []
    for name in given.kinds:
        report = fuzz(name, given.inputs, given.seed)
        reports.append(report)
        say(f"{name:10} {report}")
        for number, outcome, said in report.bad[:5]:
            say(f"  input {number}: {outcome}: {said.strip()[-600:]}")
    sys.exit(not all(report.clean for report in reports))
