"""Two of seven SAT solvers on each of 200 formulas, live; then what every choice would have cost.

    python examples/sat_portfolio/run.py --out out/sat_portfolio

First a portfolio of each learner runs on the stream: it picks two solvers per formula, races
them, checks the answer and learns. Then every solver runs once on every formula, offline, two
at a time as in the live run, and the report compares. Needs pickbest[portfolio,sat].
"""

from __future__ import annotations

import argparse
import csv
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import families
import numpy as np
from pysat.formula import CNF

from pickbest.portfolio import Limits, Portfolio, sat_solver
from pickbest.portfolio.engine.local import LocalEngine
from pickbest.portfolio.run.answers.dimacs import broken_clause, literals_of, solve_by_pysat
from pickbest.portfolio.store.live_learner import DEFAULT_LEARNER

BUDGET = 2
# The default learner, sound against any sequence, and one that trusts problems to be alike.
LEARNERS = (DEFAULT_LEARNER, "thompson")
# Solvers of one lineage differ least; these are of different ones, where the wheel has them.
SOLVERS = (
    "cadical195", "glucose4", "minisat22", "mergesat3", "maplechrono", "lingeling", "kissat404",
)  # fmt: skip


@dataclass(frozen=True)
class Live:
    """What happened in the live run, a round an entry."""

    costs: list[float]
    arms: list[tuple[str, ...]]
    answers: list[str | None]


def works(solver: str) -> bool:
    try:
        return solve_by_pysat([[1, 2], [-1]], solver)[0] == "SAT"
    except Exception:
        return False


def write_problems(folder: Path, count: int, seed: int) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, clauses in families.stream(count, seed):
        paths.append(folder / f"{name.replace(' ', '-')}.cnf")
        CNF(from_clauses=clauses).to_file(str(paths[-1]), comments=[f"c {name}"])
    return paths


def run_live(
    problems: list[Path], solvers: list[str], deadline: float, storage: Path, learner: str
) -> Live:
    """A portfolio on the stream; every model is checked once more, here."""
    live = Live([], [], [])
    with Portfolio(
        {solver: sat_solver(solver) for solver in solvers},
        BUDGET,
        deadline,
        storage,
        cost="runtime",
        learner=learner,
        rounds=len(problems),
    ) as portfolio:
        for number, problem in enumerate(problems):
            result = portfolio.solve(str(problem))
            answer = None
            if result.answer is not None:
                answer, model = result.answer
                if answer == "SAT" and broken_clause(array("q", model), literals_of(problem)):
                    raise SystemExit(f"{result.winner} gave a wrong model for {problem}")
            live.costs.append(1.0 if result.cost is None else result.cost)
            live.arms.append(result.arms)
            live.answers.append(answer)
            won = f"{result.winner} says {answer}" if answer else "not solved"
            print(f"{number + 1:4} {problem.name}: {won} ({result.seconds:.2f} s)", flush=True)
        portfolio.verify()
    return live


def run_offline(
    problems: list[Path], solvers: list[str], deadline: float, lives: Mapping[str, Live]
) -> np.ndarray:
    """Seconds of every solver on every problem, infinite where it is not solved in time.

    No two answers to a problem may differ, those of the live runs included.
    """
    seconds = np.full((len(problems), len(solvers)), np.inf)
    engine = LocalEngine()
    try:
        for row, problem in enumerate(problems):
            found = {live.answers[row] for live in lives.values()} - {None}
            for first in range(0, len(solvers), BUDGET):
                pair = solvers[first : first + BUDGET]
                tasks = [
                    sat_solver(name).task(name, str(problem), deadline, Limits()) for name in pair
                ]
                for run in engine.race(tasks, lambda run: False, lambda: False):
                    if run.answer is not None:
                        seconds[row, solvers.index(run.arm)] = run.seconds
                        found.add(run.answer[0])
            if len(found) > 1:
                raise SystemExit(f"the solvers disagree about {problem}")
            if (row + 1) % 10 == 0:
                print(f"offline: {row + 1} of {len(problems)}", flush=True)
    finally:
        engine.close()
    return seconds


def report(
    lives: Mapping[str, Live], seconds: np.ndarray, solvers: list[str], deadline: float
) -> str:
    """Markdown: mean cost (runtime / deadline, 1 if unsolved) of every way to choose."""
    table = np.minimum(seconds / deadline, 1.0)
    half = len(table) // 2
    subsets = list(combinations(range(len(solvers)), BUDGET))
    pairs = np.stack([table[:, list(subset)].min(axis=1) for subset in subsets])
    best = int(pairs.mean(axis=1).argmin())
    names = " + ".join(solvers[place] for place in subsets[best])
    rows: list[tuple[str, np.ndarray]] = []
    for learner, live in lives.items():
        chosen = np.array([[solvers.index(arm) for arm in arms] for arms in live.arms])
        picks = np.take_along_axis(table, chosen, axis=1).min(axis=1)
        rows.append((f"**portfolio, {learner}, live**", np.array(live.costs)))
        rows.append(("… its picks, at the offline runtimes", picks))
        rows.append(("… the second half of them", picks[half:]))
    order = np.argsort(table.mean(axis=0))
    rows += [(f"{solvers[place]} alone", table[:, place]) for place in order]
    rows.append(("average single solver", table))
    rows.append(("random pairs", pairs))
    rows.append((f"best pair in hindsight: {names}", pairs[best]))
    rows.append(("all solvers at once", table.min(axis=1)))
    what = f"{len(table)} formulas, {len(solvers)} solvers, deadline {deadline:g} s"
    lines = [f"| {what} | mean cost | solved |", "|---|---|---|"]
    lines += [f"| {name} | {cost.mean():.4f} | {(cost < 1).mean():.1%} |" for name, cost in rows]
    for learner, live in lives.items():
        paid = float(np.mean(live.costs))
        lines += [
            "",
            f"{learner}: {1.0 - paid / table.mean():.1%} below the average single solver (with "
            f"two cores instead of one), {1.0 - paid / pairs.mean():.1%} below random pairs. "
            f"Answers: {live.answers.count('SAT')} SAT (every model checked), "
            f"{live.answers.count('UNSAT')} UNSAT, {live.answers.count(None)} open.",
        ]
    lines += ["", "No two solvers contradicted each other."]
    return "\n".join(lines) + "\n"


def children() -> list[int]:
    """Processes that this one started and that are still there (Linux)."""
    listings = Path("/proc/self/task").glob("*/children")
    return [int(pid) for listing in listings for pid in listing.read_text().split()]


def write_runtimes(
    path: Path, problems: list[Path], solvers: list[str], seconds: np.ndarray
) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["problem", *solvers])
        for problem, row in zip(problems, seconds, strict=True):
            writer.writerow([problem.stem, *(f"{s:.4f}" if np.isfinite(s) else "" for s in row)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--deadline", type=float, default=1.0)
    parser.add_argument("--learner", action="append", help=f"repeatable; default {LEARNERS}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("out/sat_portfolio"))
    options = parser.parse_args()
    solvers = [name for name in SOLVERS if works(name)]
    problems = write_problems(options.out / "problems", options.problems, options.seed)
    lives = {}
    for learner in options.learner or LEARNERS:
        storage = options.out / f"{learner}.db"
        if storage.exists():
            raise SystemExit(f"{storage} exists, but the run must start from nothing: remove it")
        lives[learner] = run_live(problems, solvers, options.deadline, storage, learner)
    seconds = run_offline(problems, solvers, options.deadline, lives)
    write_runtimes(options.out / "runtimes.csv", problems, solvers, seconds)
    text = report(lives, seconds, solvers, options.deadline)
    (options.out / "report.md").write_text(text)
    if left := children():
        raise SystemExit(f"processes were left behind: {left}")
    print("\n" + text)


if __name__ == "__main__":
    main()
