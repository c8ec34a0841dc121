"""What the ways to stop a race and to learn from it are worth, on replayed runtimes.

    python -m pickbest.experiments.races runtimes.csv --deadline 5 --budget 2

The file has one row a problem, one column a solver, and the seconds in which it answers; empty
or at least the deadline where it does not. A folder in the format of ASlib will do too. Races
are replayed, not run: a stopped solver is seen exactly as far as a live race would have.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np

from pickbest.catalog import make_learner
from pickbest.core import FloatArray, PickbestError, replicate_keys, rng_for
from pickbest.environments.aslib.description import RUNTIME
from pickbest.environments.aslib.scenario import read_scenario
from pickbest.portfolio.censoring import Censored, Stop, Stopping, learned_costs
from pickbest.portfolio.costs import Cost, as_cost
from pickbest.portfolio.runs import Run, RunStatus
from pickbest.portfolio.settings import DEFAULT_LEARNER
from pickbest.portfolio.state.live_learner import WATCH_STREAM
from pickbest.simulation.statistics import standard_error

POLICIES: dict[str, Stopping] = {
    "deadline": Stopping(Stop.DEADLINE),
    "first, watch 1/4": Stopping(Stop.FIRST, Censored.WATCH, 0.25),
    "first, optimistic": Stopping(Stop.FIRST, Censored.OPTIMISTIC),
    "first, pessimistic": Stopping(Stop.FIRST, Censored.PESSIMISTIC),
}


@dataclass(frozen=True)
class Row:
    """A policy's means over rounds and replicates; error: standard error over replicates."""

    policy: str
    cost: float
    error: float
    solved: float
    cpu_seconds: float


def compare(
    runtimes: FloatArray,
    deadline: float,
    budget: int,
    cost: str = "solved",
    learner: str = DEFAULT_LEARNER,
    replicates: int = 20,
    seed: int = 0,
) -> list[Row]:
    """Each policy on the same problems, in `replicates` random orders; then two yardsticks."""
    judge = as_cost(cost)
    orders = [
        np.random.default_rng([seed, replicate]).permutation(len(runtimes))
        for replicate in range(replicates)
    ]
    rows = [
        _row(
            name,
            [
                _replay(runtimes[order], deadline, budget, judge, learner, policy, replicate)
                for replicate, order in enumerate(orders)
            ],
        )
        for name, policy in POLICIES.items()
    ]
    return [*rows, *_yardsticks(runtimes, deadline, budget, judge)]


def _replay(
    runtimes: FloatArray,
    deadline: float,
    budget: int,
    cost: Cost,
    learner_name: str,
    stopping: Stopping,
    seed: int,
) -> FloatArray:
    """(rounds, 3): cost paid, solved, processor seconds spent."""
    n_arms = runtimes.shape[1]
    learner = make_learner(learner_name, n_arms, budget)
    state = learner.start(1)
    keys, watch_keys = replicate_keys(seed, 1), replicate_keys(seed, 1, stream=WATCH_STREAM)
    rows = np.empty((len(runtimes), 3))
    for number, times in enumerate(runtimes):
        choice = learner.pick(state, rng_for(keys, number))
        draw = float(rng_for(watch_keys, number).uniforms(1)[0, 0])
        watched = draw < stopping.watch_probability
        runs = race(times[choice.arms[0]], deadline, cost, stopping, watched)
        costs, scale = learned_costs(runs, stopping, watched)
        if costs is not None:
            weights = None if choice.weights is None else choice.weights * scale
            scaled = type(choice)(choice.arms, weights)
            state = learner.learn(state, scaled, np.array([costs]))
        known = [run.cost for run in runs if run.cost is not None]
        solved = bool(times[choice.arms[0]].min() < deadline)
        rows[number] = min(known), solved, sum(run.seconds for run in runs)
    return rows


def race(
    times: Sequence[float] | FloatArray,
    deadline: float,
    cost: Cost,
    stopping: Stopping,
    watched: bool,
) -> list[Run]:
    """The runs of a race whose arms would take these times (infinite: never)."""
    first = min(*times, deadline) if len(times) > 1 else min(times[0], deadline)
    stops = stopping.stop is Stop.FIRST and not watched
    runs = []
    for place, time in enumerate(times):
        end = min(time, first if stops else deadline)
        status = RunStatus.FINISHED if time <= end and time < deadline else RunStatus.STOPPED
        if status is RunStatus.STOPPED and end >= deadline:
            status = RunStatus.TIMEOUT
        run = Run(str(place), status, seconds=end)
        if status is RunStatus.STOPPED:
            runs.append(replace(run, bounds=cost.span(run, deadline)))
        else:
            paid = cost.judge(run, status is RunStatus.FINISHED, deadline).cost
            runs.append(replace(run, cost=paid))
    return runs


def _yardsticks(runtimes: FloatArray, deadline: float, budget: int, cost: Cost) -> list[Row]:
    subsets = list(combinations(range(runtimes.shape[1]), budget))
    first = np.stack([runtimes[:, list(arms)].min(axis=1) for arms in subsets])
    solved = first < deadline
    paid = np.array(
        [
            [
                cost.judge(
                    Run("", RunStatus.FINISHED, seconds=time), time < deadline, deadline
                ).cost
                for time in row
            ]
            for row in first
        ]
    )
    spent = budget * np.minimum(first, deadline)
    best = int(paid.mean(axis=1).argmin())
    return [
        Row("random subsets", paid.mean(), 0.0, solved.mean(), spent.mean()),
        Row("best fixed subset", paid[best].mean(), 0.0, solved[best].mean(), spent[best].mean()),
    ]


def _row(name: str, replays: Sequence[FloatArray]) -> Row:
    means = np.stack([replay.mean(axis=0) for replay in replays])
    cost, solved, seconds = means.mean(axis=0).tolist()
    return Row(name, cost, standard_error(means[:, 0]), solved, seconds)


def read_runtimes(path: Path) -> tuple[list[str], FloatArray]:
    """Names of solvers, and (problems, solvers) seconds; empty cells are infinite."""
    if path.is_dir():
        scenario = read_scenario(path, RUNTIME)
        seconds = np.where(scenario.solved > 0.5, scenario.performance, np.inf)
        return list(scenario.algorithms), seconds
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    try:
        table = np.array([[float(cell) if cell else np.inf for cell in row[1:]] for row in rows])
    except ValueError as error:
        raise PickbestError(f"{path}: runtimes must be numbers or empty ({error})") from error
    if table.ndim != 2 or table.shape[1] != len(header) - 1:
        raise PickbestError(f"{path}: every row must have {len(header)} cells")
    return header[1:], table


def main() -> None:
    """Print the comparison for a file of runtimes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("runtimes", type=Path)
    parser.add_argument("--deadline", type=float, required=True)
    parser.add_argument("--budget", type=int, default=2)
    parser.add_argument("--replicates", type=int, default=20)
    options = parser.parse_args()
    from rich.console import Console
    from rich.table import Table

    _, table = read_runtimes(options.runtimes)
    for cost in ("solved", "runtime"):
        shown = Table("policy", "mean cost", "± s.e.", "solved", "cpu s / round", title=cost)
        for row in compare(
            table, options.deadline, options.budget, cost, replicates=options.replicates
        ):
            numbers = (row.cost, row.error, row.solved, row.cpu_seconds)
            shown.add_row(row.policy, *(f"{number:.4f}" for number in numbers))
        Console().print(shown)


if __name__ == "__main__":
    main()
