"""`auto` beside FPML-partial as run on tables that nobody chose its settings on, as far as one can.

Each ASlib scenario of a folder gives several tables: a random subset of its algorithms, a random
stretch of its instances, forwards or backwards; played in that order and shuffled. What is drawn
from the scenarios is not independent of them, but it shows how often `auto` loses elsewhere.

    python -m studies.benchmark.resampled ASLIB-FOLDER
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import typer

from pickbest.catalog import make_learner
from pickbest.environments import Shuffled, Table, read_scenarios
from pickbest.simulation.simulate import simulate
from pickbest.simulation.statistics import standard_error

FEWEST_ARMS, MOST_ARMS, FEWEST_ROUNDS = 4, 14, 250
BUDGETS = range(1, 7)
CLEARLY = 3.0


def resampled(folder: Path, each: int, seed: int) -> Iterator[Table]:
    """`each` tables of every scenario."""
    rng = np.random.default_rng(seed)
    for scenario in read_scenarios(folder):
        costs = scenario.costs().costs_table
        rounds, n_arms = costs.shape
        for _ in range(each):
            most = min(n_arms, MOST_ARMS)
            count = int(rng.integers(min(FEWEST_ARMS, most), most + 1))
            arms = np.sort(rng.choice(n_arms, count, replace=False))
            begin, end = 0, rounds
            if rounds > FEWEST_ROUNDS:
                begin = int(rng.integers(0, rounds // 3))
                end = int(rng.integers(2 * rounds // 3, rounds + 1))
            part = costs[begin:end, arms]
            yield Table(part[::-1] if rng.integers(2) else part)


def difference(environment: Table | Shuffled, budget: int, replicates: int) -> tuple[float, float]:
    """By how much `auto` earns more a round, and its z."""
    n_arms, rounds = environment.n_arms, environment.rounds
    learners = {
        "auto": make_learner("auto", n_arms, budget),
        "as run": make_learner("fpml-partial", n_arms, budget, rounds, "as_run"),
    }
    runs = simulate(learners, environment, replicates, seed=0, progress=False).runs
    gains = (runs["as run"].paid - runs["auto"].paid).mean(axis=1)
    mean = float(gains.mean())
    return mean, mean / max(standard_error(gains), 1e-9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path, help="ASlib scenarios")
    parser.add_argument("--each", type=int, default=12, help="tables of each scenario")
    parser.add_argument("--replicates", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    tables = list(resampled(asked.folder, asked.each, asked.seed))
    for name, environments in (
        ("in order", tables),
        ("shuffled", [Shuffled(table) for table in tables]),
    ):
        found = np.array(
            [
                difference(environment, budget, asked.replicates)
                for environment in environments
                for budget in BUDGETS
                if budget < environment.n_arms
            ]
        )
        gains, z = found.T
        worse = z < -CLEARLY
        typer.echo(
            f"{name}: {len(gains)} cells, auto earns {gains.mean():+.4f} a round more, "
            f"better in {(z > CLEARLY).sum()}, worse in {worse.sum()}"
            + (f", there by {-gains[worse].mean():.4f} on average" if worse.any() else "")
        )


if __name__ == "__main__":
    main()
