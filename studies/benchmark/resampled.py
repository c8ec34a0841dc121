"""`auto` beside FPML-partial as run on tables that nobody chose its settings on, as far as one can.

Each ASlib scenario of a folder gives several tables: a random subset of its algorithms, a random
stretch of its instances, forwards or backwards; played in that order and shuffled. What is drawn
from the scenarios is not independent of them, but it shows how often `auto` loses elsewhere.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pickbest.catalog import make_learner
from pickbest.core.progress import Progress
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


def compare(
    folder: Path, each: int, replicates: int, seed: int, progress: Progress | None = None
) -> dict[str, Any]:
    """Gains of `auto` over all tables and budgets, in order and shuffled."""
    tables = list(resampled(folder, each, seed))
    cells = [(table, budget) for table in tables for budget in BUDGETS if budget < table.n_arms]
    orders = []
    for number, order in enumerate(("in order", "shuffled")):
        found = []
        for done, (table, budget) in enumerate(cells, start=1 + number * len(cells)):
            environment = Shuffled(table) if order == "shuffled" else table
            found.append(difference(environment, budget, replicates))
            if progress:
                progress(done, 2 * len(cells))
        gains, z = np.array(found).T
        worse = z < -CLEARLY
        orders.append(
            {
                "order": order,
                "cells": len(gains),
                "gain": float(gains.mean()),
                "better": int((z > CLEARLY).sum()),
                "worse": int(worse.sum()),
                "loss_where_worse": float(-gains[worse].mean()) if worse.any() else None,
            }
        )
    return {"tables": len(tables), "replicates": replicates, "seed": seed, "orders": orders}
