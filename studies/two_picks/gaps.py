"""Shares of the gap between random sets and the best set in hindsight, on tables at hand.

Laws: `hedge-partial` with its law and with Hedge's at the rate of `variance_bound`, on recorded
tables. Guard: what a guard with a constant bound would cost `auto`. Each learner sees its own arms
only, so both play on their own, and the smaller of their costs is paid: `auto` with B - 2 arms and
hedge-partial with two, compared with `auto` with B.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from pickbest.catalog import make_learner
from pickbest.core import Environment, FloatArray
from pickbest.core.progress import Progress
from pickbest.simulation.result import Simulation
from pickbest.simulation.simulate import simulate
from studies.benchmark.environments import REAL, environments_at_hand

LAWS, GUARDED = (2, 3), (3, 4)
# Environments in which the best set is no better than random ones have no gap to share.
LEAST_GAP = 1e-3

# (learner, budget) by the name under which it plays.
Players = Mapping[str, tuple[str, int]]


def gap_rows(
    aslib: Path, replicates: int, progress: Progress | None = None
) -> dict[str, list[list[float]]]:
    """laws/B: [share, share with Hedge's law, mean difference, its standard error, tables].
    guard/B: [auto's share, what the guard loses of it], medians over environments."""
    places = [p for p in environments_at_hand(aslib) if not p.environment.adaptive]
    real = [p.environment for p in places if p.group == REAL]
    found: dict[str, list[list[float]]] = {}
    for budget in LAWS:
        players = {"own": ("hedge-partial", budget), "old": ("hedge-partial:law=variances", budget)}
        shares = _shares(real, players, budget, replicates, _each, progress)
        apart = shares[:, 0] - shares[:, 1]
        error = apart.std(ddof=1) / np.sqrt(len(apart))
        found[f"laws/{budget}"] = [[*shares.mean(axis=0), apart.mean(), error, len(apart)]]
    for budget in GUARDED:
        players = {
            "all": ("auto", budget),
            "fewer": ("auto", budget - 2),
            "two": ("hedge-partial", 2),
        }
        everywhere = [p.environment for p in places]
        shares = _shares(everywhere, players, budget, replicates, _guarded, progress)
        lost = shares[:, 0] - shares[:, 1]
        found[f"guard/{budget}"] = [[np.median(shares[:, 0]), np.median(lost)]]
    return {key: [[round(float(x), 4) for x in row] for row in rows] for key, rows in found.items()}


def _each(played: Simulation) -> list[float]:
    return [played.mean_cost("own"), played.mean_cost("old")]


def _guarded(played: Simulation) -> list[float]:
    both = np.minimum(played.costs("fewer"), played.costs("two"))
    return [played.mean_cost("all"), float(both.mean())]


def _shares(
    environments: list[Environment],
    players: Players,
    budget: int,
    replicates: int,
    paid: Callable[[Simulation], list[float]],
    progress: Progress | None,
) -> FloatArray:
    """(environments with a gap, what `paid` gives) shares of the gap."""
    rows = []
    for number, environment in enumerate(environments, start=1):
        if environment.n_arms > budget:
            size = (environment.n_arms, environment.rounds)
            named = {**players, "uniform": ("uniform", budget)}
            learners = {
                k: make_learner(spec, size[0], b, size[1]) for k, (spec, b) in named.items()
            }
            played = simulate(learners, environment, replicates, seed=1, progress=False)
            best = float(played.hindsight_costs("uniform", "best_subset").mean()) / size[1]
            random = played.mean_cost("uniform")
            if random - best >= LEAST_GAP:
                rows.append([(random - one) / (random - best) for one in paid(played)])
        if progress:
            progress(number, len(environments), f"B = {budget}")
    return np.array(rows)
