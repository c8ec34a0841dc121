"""Regret that does not grow with time: every environment of the catalog, laws, and races.

Cells are kept in a JSON file as they are finished: run it again, and it goes on. A cell's name says
all: what is measured, where, T, N and B.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from pickbest import theory
from pickbest.catalog import environment_names, make_environment, make_learner
from pickbest.core import FloatArray, replicate_keys, rng_for
from pickbest.core.progress import Progress
from pickbest.core.workers import each_finished
from pickbest.portfolio.run.costs import NAMED
from pickbest.simulation.games import play
from pickbest.simulation.replay import Races, replay
from pickbest.simulation.simulate import simulate
from studies.paper.recorded_rewards import DATA
from studies.two_picks.probing import guan_costs

KEPT = DATA / "two_picks.json"
LENGTHS = tuple(10**k for k in range(2, 7))
BUDGETS = (2, 3, 4, 5, 6)
BOUNDS: dict[str, Callable[..., float]] = {
    "hedge": theory.hedge_bound,
    "hedge-partial": theory.hedge_partial_bound,
}
# Environments that react to the player are played round by round: a million rounds take minutes.
MOST_ADAPTIVE = 10_000
# The costs of all replicates together, as numbers.
MOST_COSTS = 40_000_000

# Laws side by side: one good arm of N, T = 10^5 for the curves, 300 N for the growth with N.
LAWS = ("bose-einstein", "shannon", "guan")
CURVE_ARMS, CURVE_ROUNDS = 32, 100_000
GROWTH_ARMS = (4, 8, 16, 32, 64, 128)

# Races: arms that succeed or fail together, one of them a little more often.
RACE_ARMS, RACE_BUDGET, GAP = 10, 2, 0.004
RACE_LENGTHS = (10_000, 100_000, 400_000)
RACERS = {
    "hedge-partial, 1 in 10 watched": "hedge-partial:watched=0.1",
    "hedge-partial, half watched": "hedge-partial:watched=0.5",
    "fpml-partial, winners only": "fpml-partial",
}

# What a cell holds: [mean regret, standard error, bound or nothing]; a curve: several of these.
Cell = list[float]


def cells(most: int) -> Iterator[tuple[str, Callable[[int], list[Cell]]]]:
    """(name, what measures it for a number of replicates), up to `most` rounds."""
    for name in environment_names():
        standard = make_environment(name)
        # Halving is over after log2(N) rounds.
        for rounds in [standard.rounds] if name == "halving" else LENGTHS:
            if rounds > (min(most, MOST_ADAPTIVE) if standard.adaptive else most):
                continue
            yield f"catalog/{name}/{rounds}", partial(catalog_cell, name, rounds)
    for law in LAWS:
        for budget in (2,) if law == "guan" else (2, 3):
            if most >= CURVE_ROUNDS:
                yield f"curve/{law}/{budget}", partial(curve_cell, law, budget)
            for n_arms in GROWTH_ARMS:
                yield f"growth/{law}/{n_arms}/{budget}", partial(growth_cell, law, n_arms, budget)
    for racer in RACERS:
        for rounds in RACE_LENGTHS:
            if rounds <= most:
                yield f"race/{racer}/{rounds}", partial(race_cell, racer, rounds)


def measure(
    most: int,
    replicates: int,
    kept: Path = KEPT,
    workers: int = 1,
    progress: Progress | None = None,
) -> None:
    """Measure all cells that are not kept yet."""
    found = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    work = [item for item in cells(most) if item[0] not in found]
    finished = each_finished(partial(_measured, replicates), work, workers, _length)
    for number, ((name, _), rows) in enumerate(finished, start=1):
        found[name] = rows
        keep(found, kept)
        if progress:
            progress(number, len(work), name)


def _measured(replicates: int, item: tuple[str, Callable[[int], list[Cell]]]) -> list[Cell]:
    return [[round(value, 4) for value in row] for row in item[1](replicates)]


def _length(item: tuple[str, Callable[[int], list[Cell]]]) -> float:
    """The longest games begin first: rounds stand in a cell's name."""
    return max((float(part) for part in item[0].split("/") if part.isdigit()), default=1e5)


def keep(found: dict[str, list[Cell]], kept: Path = KEPT) -> None:
    """Write cells, one a line."""
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(found[key])}" for key in sorted(found))
    kept.write_text("{\n" + lines + "\n}\n", encoding="utf-8")


def catalog_games(n_arms: int) -> list[tuple[str, int]]:
    """(learner, B) of the rows of a cell of the catalog."""
    return [(spec, budget) for spec in BOUNDS for budget in BUDGETS if budget < n_arms]


def catalog_cell(name: str, rounds: int, replicates: int) -> list[Cell]:
    """The regret of learners in an environment of the catalog, beside their bounds."""
    environment = make_environment(name if name == "halving" else f"{name}:rounds={rounds}")
    n_arms = environment.n_arms
    some = min(replicates, max(3, MOST_COSTS // (rounds * n_arms)))
    games = catalog_games(n_arms)
    players = {f"{spec}/{b}": make_learner(spec, n_arms, b, rounds) for spec, b in games}
    played = simulate(players, environment, some, seed=1, progress=False)
    return [
        summary(played.regret(f"{spec}/{b}"), BOUNDS[spec](n_arms=n_arms, budget=b))
        for spec, b in games
    ]


def curve_cell(law: str, budget: int, replicates: int) -> list[Cell]:
    """Regret at T = 10^2, 10^3, … on one good arm."""
    paid = good_arm_costs(law, CURVE_ARMS, budget, CURVE_ROUNDS, replicates)
    totals = np.cumsum(paid, axis=1)
    bound = law_bound(law, CURVE_ARMS, budget)
    return [summary(totals[:, t - 1], bound) for t in LENGTHS if t <= CURVE_ROUNDS]


def growth_cell(law: str, n_arms: int, budget: int, replicates: int) -> list[Cell]:
    paid = good_arm_costs(law, n_arms, budget, 300 * n_arms, replicates)
    return [summary(paid.sum(axis=1), law_bound(law, n_arms, budget))]


def good_arm_costs(law: str, n_arms: int, budget: int, rounds: int, replicates: int) -> FloatArray:
    """(replicates, rounds): what is paid where one arm costs 0 and all others 1."""
    if law == "guan":
        costs = np.ones(n_arms)
        costs[-1] = 0.0
        return guan_costs(costs, rounds, replicates, seed=1)
    learner = make_learner(f"hedge-partial:law={law}", n_arms, budget)
    environment = make_environment("one-good-arm", n_arms=n_arms, rounds=rounds)
    return play(learner, environment, replicates, seed=1).paid


def law_bound(law: str, n_arms: int, budget: int) -> float:
    if law == "guan":
        return theory.guan_bound(n_arms=n_arms, budget=budget)
    return theory.hedge_partial_bound(n_arms=n_arms, budget=budget, law=law)


def race_cell(racer: str, rounds: int, replicates: int) -> list[Cell]:
    """Regret in races whose losers are stopped, against the best arm run alone."""
    environment = make_environment("together", n_arms=RACE_ARMS, rounds=rounds, gap=GAP)
    keys = replicate_keys(0, 1)
    costs = np.array([environment.costs((), t, rng_for(keys, t))[0] for t in range(rounds)])
    # What a stopped run would have cost is not known at all.
    failed, cost = (costs == 1.0).astype(np.float64), NAMED["solved"]()
    races = Races(1.0, cost, costs, failed, np.zeros_like(costs), np.ones_like(costs))
    learner = make_learner(RACERS[racer], RACE_ARMS, RACE_BUDGET, rounds)
    watched = getattr(learner, "watched", 0.0)
    some = max(3, min(replicates, 4_000_000 // rounds))
    order = np.tile(np.arange(rounds), (some, 1))
    # A learner that knows no intervals is told that losers failed: it sees winners only.
    played = replay(races, learner, watched, order, seed=1)
    regret = played.paid.sum(axis=1) - failed.sum(axis=0).min()
    game = {"n_arms": RACE_ARMS, "budget": RACE_BUDGET}
    bound = theory.watched_bound(**game, watched=watched) if watched else np.inf
    return [summary(regret, bound)]


def summary(regret: FloatArray, bound: float) -> Cell:
    error = float(np.std(regret, ddof=1) / np.sqrt(len(regret)))
    return [float(np.mean(regret)), error, *([bound] if np.isfinite(bound) else [])]
