"""A round beside the code that the paper's authors ran, in one process and one run.

    python benchmarks/authors.py CLONE/src/blackboxbandits/bandits.py

CLONE: of d-falck/blackboxbandits (MIT), which is not shipped here. Times are processor seconds of
the best of several runs; both sides play the same costs with the same parameters.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from pickbest.catalog import make_learner
from pickbest.environments import Table
from pickbest.simulation.games import deal_all, play_dealt
from simulation import N_ARMS, REPLICATES, ROUNDS, recorded_table

COSTS = recorded_table()
GAME = {"n_arms": N_ARMS, "rounds": ROUNDS, "tuning": "as_run"}


def theirs(make: Callable[[], Any], rounds: int = ROUNDS, repeats: int = 3) -> float:
    """Seconds of a round of a bandit of theirs."""
    best = np.inf
    for _ in range(repeats):
        np.random.seed(0)  # noqa: NPY002 (theirs draws from it)
        bandit = make()
        start = time.process_time()
        for costs in COSTS[:rounds]:
            arms = bandit.select_arms()
            bandit.observe_rewards(arms, [1.0 - float(costs[arm]) for arm in arms])
        best = min(best, time.process_time() - start)
    return best / rounds


def ours(learner: Any, repeats: int = 7) -> float:
    """Seconds of a round of ours, compiled before."""
    dealt = deal_all(Table(COSTS), REPLICATES, seed=0)
    play_dealt(learner, dealt, REPLICATES, seed=0)
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        play_dealt(learner, dealt, REPLICATES, seed=0)
        best = min(best, time.process_time() - start)
    return best / REPLICATES / ROUNDS


def load(path: str) -> ModuleType:
    """Their module, from its file."""
    spec = importlib.util.spec_from_file_location("bandits", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    authors = load(sys.argv[1])

    def show(what: str, slow: float, fast: float) -> None:
        print(f"| {what} | {fast * 1e9:.0f} ns | {slow * 1e6:.0f} µs | {slow / fast:,.0f} |")

    for budget in range(1, 7):
        learner = make_learner("fpml-partial", budget=budget, weights="geometric", **GAME)
        given = {"A": N_ARMS, "T": budget, "n": ROUNDS, "epsilon": learner.epsilon}
        slow = theirs(lambda given=given: authors.FPMLWithGR(**given), 60)
        show(f"FPML-partial with resampling, B = {budget}", slow, ours(learner))
    for budget, size in ((4, 2), (6, 3)):
        learner = make_learner("og-hybrid", budget=budget, slot_budget=size, **GAME)
        slots = budget // size
        given = {"A": N_ARMS, "T": budget, "T_1": size, "T_2": slots, "n": ROUNDS, "gamma": 0,
                 "gr": True, "epsilon": learner.inner.epsilon}  # fmt: skip
        slow = theirs(lambda given=given: authors.StreeterFPML(**given), 60)
        show(f"OG_hybrid, {slots} slots of {size}", slow, ours(learner))
    for budget in (2, 4, 6):
        learner = make_learner("og", budget=budget, **GAME)
        given = {"A": N_ARMS, "T": budget, "n": ROUNDS, "gamma": learner.inner.gamma}
        slow = theirs(lambda given=given: authors.Streeter(**given))
        show(f"OG with Exp3, B = {budget}", slow, ours(learner))


if __name__ == "__main__":
    main()
