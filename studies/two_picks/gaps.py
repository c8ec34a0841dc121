"""Shares of the gap between random sets and the best set in hindsight, on recorded tables.

`hedge-partial` plays with its law, and with Hedge's at the rate of `variance_bound`.
"""

from pathlib import Path

import numpy as np

from pickbest.catalog import make_learner
from pickbest.core import FloatArray
from pickbest.core.progress import Progress
from pickbest.simulation.simulate import simulate
from studies.benchmark.environments import REAL, environments_at_hand

BUDGETS = (2, 3)
PLAYERS = {"own": "hedge-partial", "old": "hedge-partial:law=variances", "random": "uniform"}
# Environments in which the best set is no better than random ones have no gap to share.
LEAST_GAP = 1e-3


def gap_rows(
    aslib: Path, replicates: int, progress: Progress | None = None
) -> dict[str, list[list[float]]]:
    """laws/B: [share, share with Hedge's law, mean difference, its standard error, tables]."""
    found = {}
    for budget in BUDGETS:
        shares = _shares(aslib, budget, replicates, progress)
        apart = shares[:, 0] - shares[:, 1]
        error = apart.std(ddof=1) / np.sqrt(len(apart))
        row = [*shares.mean(axis=0), apart.mean(), error, len(apart)]
        found[f"laws/{budget}"] = [[round(float(x), 4) for x in row]]
    return found


def _shares(aslib: Path, budget: int, replicates: int, progress: Progress | None) -> FloatArray:
    """(tables with a gap, 2): the shares of both laws."""
    rows = []
    real = [each.environment for each in environments_at_hand(aslib) if each.group == REAL]
    for number, environment in enumerate(real, start=1):
        if environment.n_arms > budget:
            game = (environment.n_arms, budget, environment.rounds)
            learners = {name: make_learner(spec, *game) for name, spec in PLAYERS.items()}
            played = simulate(learners, environment, replicates, seed=1, progress=False)
            best = played.hindsight_costs("random", "best_subset").mean() / environment.rounds
            random = played.mean_cost("random")
            if random - best >= LEAST_GAP:
                both = (played.mean_cost("own"), played.mean_cost("old"))
                rows.append([(random - one) / (random - best) for one in both])
        if progress:
            progress(number, len(real), f"B = {budget}")
    return np.array(rows)
