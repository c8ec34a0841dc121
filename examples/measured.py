"""Every solver on every problem, once: the table from which the portfolio examples compute.

Runtimes are processor seconds of the solver's processes, because they are the same whoever else
uses the machine; a solver that uses `deadline` of them is ended. Every run is a line that is
written as it ends, so that a measurement goes on where it stopped.
"""

from __future__ import annotations

import csv
import os
import re
import resource
import subprocess
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from pickbest.portfolio.solve.known import Installed

COLUMNS = ("problem", "solver", "verdict", "cpu_seconds", "wall_seconds")
VERDICTS = {"sat": "sat", "s satisfiable": "sat", "unsat": "unsat", "s unsatisfiable": "unsat"}
SPELLED = re.compile(r"^(s )?(un)?sat(isfiable)?$", re.I | re.M)
# A machine that others use too may take so many times longer than the processor time says.
WALL_FACTOR = 60.0


def measure(
    problems: Sequence[Path],
    solvers: Sequence[tuple[str, Mapping[str, Installed]]],
    deadline: float,
    path: Path,
    workers: int = 2,
) -> None:
    """Run what is not in the table yet; solvers: (a problem's stem, who takes it) for each."""
    done = {(row["problem"], row["solver"]) for row in rows(path)} if path.exists() else set()
    waiting = [
        (problem, installed)
        for problem, (_, takers) in zip(problems, solvers, strict=True)
        for installed in takers.values()
        if (problem.stem, installed.name) not in done
    ]
    lock = threading.Lock()
    with path.open("a", newline="") as file, ThreadPoolExecutor(workers) as pool:
        writer = csv.writer(file, lineterminator="\n")
        if not done:
            writer.writerow(COLUMNS)

        def one(problem: Path, installed: Installed) -> None:
            verdict, cpu, wall = run(installed.on(str(problem)), deadline)
            with lock:
                writer.writerow(
                    [problem.stem, installed.name, verdict, f"{cpu:.4f}", f"{wall:.4f}"]
                )
                file.flush()

        started = time.monotonic()
        pending = [pool.submit(one, *each) for each in waiting]
        for count, each in enumerate(pending, 1):
            each.result()
            if count % 50 == 0 or count == len(pending):
                took = time.monotonic() - started
                print(f"{count} of {len(pending)} runs, {took:.0f} s", flush=True)


def run(argv: Sequence[str], deadline: float) -> tuple[str, float, float]:
    """(verdict or "", processor seconds, seconds) of one run."""

    def limited() -> None:
        # Whole seconds is what the kernel offers; what is over the deadline is cut below.
        most = int(-(-deadline // 1))
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))

    started = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=limited,
        )
        timer = threading.Timer(WALL_FACTOR * deadline, process.kill)
        timer.start()
        assert process.stdout is not None
        while chunk := process.stdout.read(1 << 16):
            output.write(chunk)
        _, _, used = os.wait4(process.pid, 0)
        timer.cancel()
        wall = time.monotonic() - started
        process.returncode = 0
        output.seek(0)
        spelled = SPELLED.search(output.read().decode(errors="replace"))
    cpu = used.ru_utime + used.ru_stime
    found = spelled[0].lower() if spelled else ""
    verdict = "unsat" if "uns" in found else "sat" if found else ""
    return (verdict if cpu <= deadline else ""), cpu, wall


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def table(path: Path, deadline: float) -> tuple[list[str], list[str], np.ndarray]:
    """(problems, solvers, processor seconds): infinite where unsolved; a solver that was not
    run on a problem does not take its logic. No two verdicts on a problem may differ."""
    read = rows(path)
    problems = sorted({row["problem"] for row in read})
    solvers = list(dict.fromkeys(row["solver"] for row in read))
    verdicts: defaultdict[str, set[str]] = defaultdict(set)
    seconds = np.full((len(problems), len(solvers)), np.inf)
    for row in read:
        if row["verdict"] and float(row["cpu_seconds"]) <= deadline:
            verdicts[row["problem"]].add(row["verdict"])
            place = problems.index(row["problem"]), solvers.index(row["solver"])
            seconds[place] = float(row["cpu_seconds"])
    if odd := [problem for problem, found in verdicts.items() if len(found) > 1]:
        raise SystemExit(f"the solvers contradict each other about {', '.join(odd)}")
    return problems, solvers, seconds
