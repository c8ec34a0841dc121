"""Solvers on generated problems: measure every one, replay a portfolio, run `pickbest solve` live.

    python examples/solver_study.py report smt     # replays the measured runtimes: two minutes
    python examples/solver_study.py measure sat    # every solver on every problem: 15 minutes
    python examples/solver_study.py live smt       # 300 calls of pickbest solve

Runtimes are processor seconds of the solver's process, because they are the same whoever else
uses the machine. Every run is a line that is written as it ends, so that a measurement goes on
where it stopped.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import replayed
from pickbest.portfolio.solve.known import DIMACS, SMTLIB, Installed, installed
from sat_portfolio import families
from smt_portfolio import logics

COLUMNS = ("problem", "solver", "verdict", "cpu_seconds", "wall_seconds")
SPELLED = re.compile(r"^(s )?(un)?sat(isfiable)?$", re.I | re.M)
# Where others use the machine too, a run may take so many times its processor time.
WALL_FACTOR = 60.0
PROBLEMS = 300


@dataclass(frozen=True)
class Study:
    """A stream of problems and the solvers that are compared on it.

    stream: how many and a seed, to (name, text) of problems; the group is in the name after the
        first dash. runtimes: where the table of measured runtimes is kept.
    """

    title: str
    format: str
    suffix: str
    stream: Callable[[int, int], list[tuple[str, str]]]
    solvers: tuple[str, ...]
    deadline: float
    runtimes: Path

    def problems(self, folder: Path) -> list[Path]:
        """All problems as files."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name, text in self.stream(PROBLEMS, 1):
            paths.append(folder / f"{name}{self.suffix}")
            paths[-1].write_text(text)
        return paths

    def takers(self, problem: Path) -> list[Installed]:
        """The solvers of the study that take a problem."""
        logic = "ALL" if self.format == DIMACS else group_of(problem.stem)
        found = installed(self.format, logic)
        return [found[name] for name in self.solvers if name in found]


def group_of(name: str) -> str:
    return name.partition("-")[2]


def measure(study: Study, out: Path, workers: int) -> None:
    """Run what was not run yet, and write the table."""
    raw = out / "runs.csv"
    problems = study.problems(out / "problems")
    here = {name for problem in problems for name in (each.name for each in study.takers(problem))}
    if missing := set(study.solvers) - here:
        raise SystemExit(f"install {', '.join(sorted(missing))} first: see README.md")
    done = {(row["problem"], row["solver"]) for row in rows(raw)} if raw.exists() else set()
    waiting = [
        (problem, solver)
        for problem in problems
        for solver in study.takers(problem)
        if (problem.stem, solver.name) not in done
    ]
    lock, started = threading.Lock(), time.monotonic()
    with raw.open("a", newline="") as file, ThreadPoolExecutor(workers) as pool:
        writer = csv.writer(file, lineterminator="\n")
        if not done:
            writer.writerow(COLUMNS)

        def one(problem: Path, solver: Installed) -> None:
            verdict, cpu, wall = run(solver.on(str(problem)), study.deadline)
            with lock:
                writer.writerow([problem.stem, solver.name, verdict, f"{cpu:.4f}", f"{wall:.4f}"])
                file.flush()

        for count, each in enumerate([pool.submit(one, *pair) for pair in waiting], 1):
            each.result()
            if count % 50 == 0 or count == len(waiting):
                took = time.monotonic() - started
                print(f"{count} of {len(waiting)} runs, {took:.0f} s", flush=True)
    write_table(study, rows(raw))


def run(argv: Sequence[str], deadline: float) -> tuple[str, float, float]:
    """(verdict or "", processor seconds, seconds) of one run."""

    def limited() -> None:
        # Whole seconds is what the kernel offers; what is over the deadline does not count.
        most = math.ceil(deadline)
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
        _, status, used = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = 0
        output.seek(0)
        spelled = SPELLED.search(output.read().decode(errors="replace"))
    cpu = used.ru_utime + used.ru_stime
    verdict = "" if spelled is None else "unsat" if spelled[2] else "sat"
    ended_by_itself = os.WIFEXITED(status) and cpu <= deadline
    return (verdict if ended_by_itself else ""), cpu, time.monotonic() - started


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write_table(study: Study, read: Sequence[dict[str, str]]) -> None:
    """One row per problem; no two verdicts on a problem may differ."""
    verdicts: defaultdict[str, set[str]] = defaultdict(set)
    seconds = {}
    for row in read:
        if row["verdict"] and float(row["cpu_seconds"]) < study.deadline:
            verdicts[row["problem"]].add(row["verdict"])
            seconds[row["problem"], row["solver"]] = row["cpu_seconds"]
    if odd := [problem for problem, found in verdicts.items() if len(found) > 1]:
        raise SystemExit(f"the solvers contradict each other about {', '.join(odd)}")
    with study.runtimes.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["problem", "group", "verdict", *study.solvers])
        for problem in sorted({row["problem"] for row in read}):
            cells = [seconds.get((problem, solver), "") for solver in study.solvers]
            said = next(iter(verdicts[problem]), "none")
            writer.writerow([problem, group_of(problem), said, *cells])


def live(study: Study, out: Path) -> str:
    """Every problem through `pickbest solve`, from nothing; a report of it."""
    known = {row["problem"]: row["verdict"] for row in rows(study.runtimes)}
    problems = study.problems(out / "problems")
    won: Counter[str] = Counter()
    open_ones, seconds, told = [], 0.0, 0
    with tempfile.TemporaryDirectory(dir=out) as data:
        environment = {**os.environ, "XDG_DATA_HOME": data}
        for count, problem in enumerate(problems, 1):
            call = [sys.executable, "-P", "-m", "pickbest.cli.solve", "--json", "--deadline"]
            done = subprocess.run(
                [*call, str(10 * study.deadline), str(problem)],
                env=environment, capture_output=True, text=True, check=False,
            )  # fmt: skip
            answer = json.loads(done.stdout)
            seconds += answer["seconds"]
            winner = next((r for r in answer["runs"] if r["arm"] == answer["winner"]), None)
            if winner is None:
                open_ones.append(problem.stem)
                continue
            won[winner["arm"]] += 1
            told += answer["runs"].index(winner) < 2
            said = winner["verdict"].lower()
            if known[problem.stem] not in (said, "none"):
                raise SystemExit(f"{problem.stem}: {winner['arm']} says {said}, others do not")
            if count % 50 == 0:
                print(f"{count} of {len(problems)}, {seconds:.0f} s", flush=True)
    lines = [
        f"{len(problems)} calls of `pickbest solve`, from nothing, with a deadline of "
        f"{10 * study.deadline:g} s: {sum(won.values())} answers in {seconds:.0f} s, "
        f"{told} of them by a solver that was picked (else the picked ones gave up at once, and "
        f"the others had their turn). No answer contradicts the measurement.",
        "",
        "| winner | problems |",
        "|---|---:|",
        *(f"| {name} | {count} |" for name, count in won.most_common()),
    ]
    if open_ones:
        lines += ["", f"Open: {', '.join(open_ones)}."]
    return "\n".join(lines) + "\n"


def formulas(count: int, seed: int) -> list[tuple[str, str]]:
    """(name, DIMACS) of so many formulas."""
    return [
        (name.replace(" ", "-"), dimacs(clauses)) for name, clauses in families.stream(count, seed)
    ]


def dimacs(clauses: families.Clauses) -> str:
    variables = max(abs(literal) for clause in clauses for literal in clause)
    lines = [" ".join(map(str, [*clause, 0])) for clause in clauses]
    return "\n".join([f"p cnf {variables} {len(clauses)}", *lines]) + "\n"


HERE = Path(__file__).parent
SAT = "cadical kissat minisat cryptominisat picosat clasp yices-sat"
SMT = "z3 cvc5 cvc4 yices bitwuzla boolector"
STUDIES = {
    "smt": Study(
        "SMT: 300 problems of ten logics",
        SMTLIB,
        ".smt2",
        logics.stream,
        tuple(SMT.split()),
        2.0,
        HERE / "smt_portfolio" / "measured.csv",
    ),
    "sat": Study(
        "SAT: 300 formulas of five families",
        DIMACS,
        ".cnf",
        formulas,
        tuple(SAT.split()),
        1.0,
        HERE / "sat_portfolio" / "measured.csv",
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Measure solvers, replay a portfolio, run it live."
    )
    parser.add_argument("what", choices=["measure", "report", "live"])
    parser.add_argument("study", choices=list(STUDIES))
    parser.add_argument("--out", type=Path, default=Path("out/solver_study"))
    parser.add_argument("--workers", type=int, default=2, help="solvers at a time (2)")
    options = parser.parse_args()
    study, out = STUDIES[options.study], options.out / options.study
    out.mkdir(parents=True, exist_ok=True)
    if options.what == "measure":
        measure(study, out, options.workers)
        return
    if options.what == "live":
        text = live(study, out)
    else:
        table = replayed.Measured.read(study.runtimes, study.format, study.deadline)
        found = replayed.ways(table, lambda name: print(f"replaying: {name}", flush=True))
        text = replayed.report(table, found, study.title)
    (out / f"{options.what}.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
