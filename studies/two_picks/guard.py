"""What a guard with a constant bound would cost `auto`: hedge-partial with two of its arms.

Each learner sees its own arms only, so both play on their own, and the smaller of their costs is
paid: `auto` with B - 2 arms and hedge-partial with two, compared with `auto` with B. `auto` with
B - 1 arms shows the least that any guard costs which spends an arm of its own.
"""

from pathlib import Path

import numpy as np

from pickbest.catalog import make_learner
from pickbest.core import Environment
from pickbest.core.progress import Progress
from pickbest.simulation.simulate import simulate
from studies.benchmark.environments import environments_at_hand

GUARDED = (3, 4)
# Environments in which the best set is no better than random ones have no gap to share.
LEAST_GAP = 1e-3


def guard_rows(
    aslib: Path, replicates: int, progress: Progress | None = None
) -> dict[str, list[list[float]]]:
    """By budget: [auto's share of the gap, what B - 1 arms lose of it, what the guard loses].

    Shares of the gap between random sets and the best set in hindsight, medians over environments.
    """
    places = [
        place.environment for place in environments_at_hand(aslib) if not place.environment.adaptive
    ]
    found: dict[str, list[list[float]]] = {}
    for budget in GUARDED:
        rows = []
        for number, environment in enumerate(places, start=1):
            if environment.n_arms > budget:
                rows.append(_shares(environment, budget, replicates))
            if progress:
                progress(number, len(places), f"guard, B = {budget}")
        table = np.array([row for row in rows if row is not None])
        lost = np.median(table[:, :1] - table[:, 1:], axis=0)
        found[f"guard/{budget}"] = [
            [round(float(value), 4) for value in (np.median(table[:, 0]), *lost)]
        ]
    return found


def _shares(environment: Environment, budget: int, replicates: int) -> list[float] | None:
    sizes = {"all": budget, "fewer": budget - 1, "two fewer": budget - 2}
    size = (environment.n_arms, environment.rounds)
    players = {name: make_learner("auto", size[0], b, size[1]) for name, b in sizes.items()}
    for name, b in (("hedge-partial", 2), ("uniform", budget)):
        players[name] = make_learner(name, size[0], b, size[1])
    played = simulate(players, environment, replicates, seed=1, progress=False)
    best = float(played.hindsight_costs("all", "best_subset").mean()) / environment.rounds
    random = played.mean_cost("uniform")
    if random - best < LEAST_GAP:
        return None
    both = np.minimum(played.costs("two fewer"), played.costs("hedge-partial"))
    paid = (played.mean_cost("all"), played.mean_cost("fewer"), float(both.mean()))
    return [(random - one) / (random - best) for one in paid]
