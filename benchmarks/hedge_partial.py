"""Hedge-partial beside Hedge's law, which needs no solution: how much of a round that takes.

python benchmarks/run.py --only hedge_partial
"""

from __future__ import annotations

from functools import partial

from pickbest.catalog import make_learner
from pickbest.environments import Table
from pickbest.simulation.games import deal_all, play_dealt
from simulation import recorded_table
from timing import Row, ratio_row, seconds

PLAYED, REPEATS = 40_000, 60


def rows() -> list[Row]:
    """A round of whole tables, the two laws in turn, the best of many runs of each."""
    found = []
    for n_arms in (10, 32, 100, 1_000):
        rounds = PLAYED // n_arms
        dealt = deal_all(Table(recorded_table(rounds, n_arms)), 1, seed=0)
        for budget in (2, 3, 6):
            names = "hedge-partial", "hedge-partial:law=shannon"
            learners = {name: make_learner(name, n_arms, budget) for name in names}
            games = {name: partial(play_dealt, own, dealt, 1, 0) for name, own in learners.items()}
            turns = [{name: seconds(game) for name, game in games.items()} for _ in range(REPEATS)]
            ours, hedge = (min(turn[name] for turn in turns[1:]) / rounds for name in names)
            what = f"hedge-partial, a round, N={n_arms:,} B={budget}, beside Hedge's law"
            found.append(ratio_row(what, ours, hedge, 0.4))
    return found
