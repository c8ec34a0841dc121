"""Mutated inputs of every kind that pickbest reads: none may end in a traceback, a crash of the
interpreter, a hang of more than 10 s, or a process of more than 500 MB.

    python -m tests.fuzz --inputs 20000             every kind
    python -m tests.fuzz --inputs 2000 --kinds journal toml --seed 7

An input is either read and used, or refused with a PickbestError; at least a third must be used, or
what lies behind the first checks is not tried. Each runs in a worker process; one that dies, stands
still or grows is replaced, and its input is counted and kept.
"""

from __future__ import annotations

import argparse
import io
import json
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fuzz import files, problems
from tests.fuzz.mutations import mutate_bytes

SECONDS = 10.0
MOST_MEGABYTES = 500
OUTCOMES = ("used", "refused", "traceback", "crash", "hang", "memory")


@dataclass(frozen=True)
class Kind:
    """seeds: writes some good inputs into a folder. mutate: a good one into another.
    use: what a user would do with it."""

    suffix: str
    seeds: Callable[[Path], list[Path]]
    mutate: Callable[[Path, Path, random.Random], None]
    use: Callable[[Path], None]


def _save(suffix: str) -> Kind:
    return Kind(suffix, files.save_seeds(suffix), files.mutate_save, files.use_save)


def _table(suffix: str) -> Kind:
    return Kind(suffix, files.table_seeds(suffix), files.mutate_table, files.use_table)


def _problem(suffix: str) -> Kind:
    seeds = problems.problem_seeds(suffix)
    return Kind(suffix, seeds, problems.mutate_problem, problems.use_problem)


KINDS: dict[str, Kind] = {
    "save.json": _save(".json"),
    "save.npz": _save(".npz"),
    "journal": Kind(".db", files.journal_seeds, files.mutate_journal, files.use_journal),
    "export": Kind(".jsonl", files.export_seeds, files.mutate_lines, files.use_export),
    "toml": Kind(".toml", files.toml_seeds, files.mutate_toml, files.use_toml),
    **{suffix[1:]: _table(suffix) for suffix in (".csv", ".npy", ".npz", ".parquet")},
    "dimacs": _problem(".cnf"),
    "smtlib": _problem(".smt2"),
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

    counts: Counter[str]
    bad: list[tuple[int, str, str]]
    seconds: float

    @property
    def clean(self) -> bool:
        return not self.bad


def fuzz(name: str, inputs: int, seed: int = 0, seconds: float = SECONDS) -> Report:
    """Try so many inputs of a kind."""
    report, begun = Report(Counter(), [], 0.0), time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "seeds").mkdir()
        KINDS[name].seeds(folder / "seeds")
        first = 0
        while first < inputs:
            first = _one_worker(name, seed, folder, first, inputs, seconds, report)
    report.seconds = time.monotonic() - begun
    return report


def _one_worker(
    name: str, seed: int, folder: Path, first: int, last: int, seconds: float, report: Report
) -> int:
    """Run a worker to its end, good or bad; the number of the next input."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    worker = context.Process(target=work, args=(name, seed, folder, first, last, theirs))
    worker.start()
    theirs.close()
    running, patience = first, seconds + 300.0  # the first answer waits for compilers

    def note(outcome: str, said: str) -> None:
        report.counts[outcome] += 1
        if outcome not in ("used", "refused"):
            report.bad.append((running, outcome, said))

    try:
        while ours.poll(patience):
            running, outcome, said = ours.recv()
            patience = seconds
            if outcome != "begun":
                note(outcome, said)
                running += 1
        note("hang", f"more than {seconds:g} seconds")
    except EOFError:
        worker.join()
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
    parser.add_argument("--out", type=Path, help="the bad ones as JSON")
    given = parser.parse_args()
    bad: dict[str, Any] = {}
    for name in given.kinds:
        report = fuzz(name, given.inputs, given.seed)
        few = report.counts["used"] * 3 < given.inputs
        counts = ", ".join(f"{report.counts[outcome]} {outcome}" for outcome in OUTCOMES)
        say(f"{name:10} {given.inputs:6} inputs: {counts}; {report.seconds:.0f} s")
        for number, outcome, said in report.bad[:5]:
            say(f"  input {number}: {outcome}: {said.strip()[-600:]}")
        if few:
            say("  fewer than a third were used")
        bad[name] = report.bad or few
    if given.out is not None:
        given.out.write_text(json.dumps(bad, indent=1))
    sys.exit(any(bad.values()))
