"""A set of proofs as a Makefile would run them: z3 alone, `pickbest solve` cold, and warm.

    python benchmarks/solve_suite.py OUT [--proofs 60] [--jobs 2] [--deadline 10] [--runs 1]

Proofs are generated (examples/smt_portfolio), ten logics mixed, all new for a cold run. Each way
gets the same proofs in the same order, `jobs` at a time, as `make -j` runs them. Cold: nothing is
known when the first call is made. Warm: the same proofs again, with what the cold run left. What is
done is kept in OUT/calls.csv; the script goes on from there, and then prints the table.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

from pickbest.portfolio.solve.known import SMTLIB, installed, places, which
from smt_portfolio import logics

COLUMNS = ("run", "way", "proof", "verdict", "wall", "processor")
WAYS = ("z3", "cold", "warm")


def proofs(folder: Path, count: int) -> list[Path]:
    """Files with so many proofs."""
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for name, text in logics.stream(count, 1):
        path = folder / f"{name.replace(' ', '-')}.smt2"
        path.write_text(text)
        found.append(path)
    return found


def command(way: str, path: Path, deadline: float) -> list[str]:
    if way == "z3":
        return [str(which("z3", places())), f"-T:{deadline:g}", str(path)]
    call = [sys.executable, "-P", "-m", "pickbest.cli.solve"]
    return [*call, f"--deadline={deadline:g}", str(path)]


def measured(words: Sequence[str], environment: dict[str, str]) -> tuple[str, float, float]:
    """(verdict, seconds, seconds of processor time of the call and all below it)."""
    code = (
        "import resource, subprocess, sys, time\n"
        "began = time.monotonic()\n"
        "done = subprocess.run(sys.argv[1:], capture_output=True, text=True)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "word = (done.stdout.split() or ['none'])[0]\n"
        "print(word, time.monotonic() - began, used.ru_utime + used.ru_stime)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    verdict, wall, processor = done.stdout.split()
    return verdict, float(wall), float(processor)


def run_way(
    out: Path, run: int, way: str, paths: Sequence[Path], jobs: int, deadline: float
) -> list[dict[str, str]]:
    """One pass over all proofs."""
    environment = {**os.environ, "XDG_DATA_HOME": str(out / f"data-{run}")}

    def one(path: Path) -> dict[str, str]:
        verdict, wall, processor = measured(command(way, path, deadline), environment)
        row = (run, way, path.stem, verdict, f"{wall:.3f}", f"{processor:.3f}")
        return dict(zip(COLUMNS, map(str, row), strict=True))

    began = time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        rows = list(pool.map(one, paths))
    total = f"{time.monotonic() - began:.3f}"
    if way == "cold":  # so that the warm run starts when everything is learned
        learn = [sys.executable, "-P", "-m", "pickbest.cli.solve", "--learn"]
        subprocess.run(learn, env=environment, check=True, capture_output=True)
    whole = (run, way, "(all)", "", total, f"{sum(float(row['processor']) for row in rows):.3f}")
    return [*rows, dict(zip(COLUMNS, map(str, whole), strict=True))]


def table(rows: Iterable[dict[str, str]]) -> str:
    """A line for each way of each run, and who contradicts whom."""
    listed = list(rows)
    lines = [
        "| run | way | proofs | answered | wall, s | processor, s |",
        "|---|---|---:|---:|---:|---:|",
    ]
    verdicts: dict[str, set[str]] = {}
    for row in listed:
        if row["verdict"] in ("sat", "unsat"):
            verdicts.setdefault(row["proof"], set()).add(row["verdict"])
    for run in sorted({row["run"] for row in listed}):
        for way in WAYS:
            mine = [row for row in listed if (row["run"], row["way"]) == (run, way)]
            calls = [row for row in mine if row["proof"] != "(all)"]
            if not calls:
                continue
            (whole,) = [row for row in mine if row["proof"] == "(all)"]
            solved = sum(row["verdict"] in ("sat", "unsat") for row in calls)
            lines.append(
                f"| {run} | {way} | {len(calls)} | {solved} | {float(whole['wall']):.1f} | "
                f"{float(whole['processor']):.1f} |"
            )
    disputed = [proof for proof, said in verdicts.items() if len(said) > 1]
    lines.append(f"\ncontradictions: {', '.join(disputed) or 'none'}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--proofs", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--deadline", type=float, default=10.0)
    parser.add_argument("--runs", type=int, default=1)
    given = parser.parse_args()
    paths = proofs(given.out / "proofs", given.proofs)
    log = given.out / "calls.csv"
    rows: list[dict[str, str]] = []
    if log.exists():
        with log.open(newline="") as file:
            rows = list(csv.DictReader(file))
    print(f"solvers: {', '.join(installed(SMTLIB, 'QF_BV'))}; {os.cpu_count()} cores")
    for run in range(given.runs):
        for way in WAYS:
            if any((row["run"], row["way"]) == (str(run), way) for row in rows):
                continue
            rows += run_way(given.out, run, way, paths, given.jobs, given.deadline)
            with log.open("w", newline="") as file:
                writer = csv.DictWriter(file, COLUMNS)
                writer.writeheader()
                writer.writerows(rows)
            print(f"run {run}, {way}: done", flush=True)
    print(table(rows))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{used.ru_utime + used.ru_stime:.0f} s of processor time in this session")


if __name__ == "__main__":
    main()
