"""What a guard with a constant bound would cost `auto`: hedge-partial with two arms beside it.

python benchmarks/constant_guard.py [--aslib FOLDER] [--replicates 20]

Each learner sees its own arms only, so both play by themselves, and the smaller of their costs is
paid: `auto` with B - 2 arms and hedge-partial with two, beside `auto` with B. `auto` with B - 1
arms shows the least that any guard costs which spends an arm of its own. Shares of the gap between
random sets and the best set in hindsight, medians over environments.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from rich.progress import track

from pickbest.catalog import make_learner
from pickbest.core import Environment
from pickbest.simulation.simulate import simulate
from studies.benchmark.environments import environments_at_hand
from studies.paper.recorded_rewards import PUBLISHED

BUDGETS = (3, 4)
WAYS = ("auto", "auto, B - 1 arms", "auto, B - 2 arms, and hedge-partial")


LEAST_GAP = 1e-3


def shares(environment: Environment, budget: int, replicates: int) -> list[float] | None:
    """Of the gap, by way; None where there is no gap."""
    sizes = {"all": budget, "fewer": budget - 1, "two fewer": budget - 2}
    players = {
        name: make_learner("auto", environment.n_arms, size, environment.rounds)
        for name, size in sizes.items()
    }
    for name, size in (("hedge-partial", 2), ("uniform", budget)):
        players[name] = make_learner(name, environment.n_arms, size, environment.rounds)
    played = simulate(players, environment, replicates, seed=1)
    best = float(played.hindsight_costs("all", "best_subset").mean()) / environment.rounds
    random = played.mean_cost("uniform")
    if random - best < LEAST_GAP:
        return None
    both = np.minimum(played.costs("two fewer"), played.costs("hedge-partial"))
    paid = (played.mean_cost("all"), played.mean_cost("fewer"), float(both.mean()))
    return [(random - one) / (random - best) for one in paid]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--aslib", type=Path, help="a folder of ASlib scenarios")
    parser.add_argument("--replicates", type=int, default=20)
    options = parser.parse_args()
    places = environments_at_hand(options.aslib, PUBLISHED)
    for budget in BUDGETS:
        rows = [
            shares(place.environment, budget, options.replicates)
            for place in track(places, f"B = {budget}")
            if not place.environment.adaptive and place.environment.n_arms > budget
        ]
        table = np.array([row for row in rows if row is not None])
        print(f"B = {budget}, {len(table)} environments")
        for way, column in zip(WAYS, table.T, strict=True):
            behind = column - table[:, 0]
            ahead = int((behind > 0.0).sum())
            print(
                f"  {way}: {np.median(column):.3f}, beside auto {np.median(behind):+.3f}, "
                f"ahead in {ahead}"
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
