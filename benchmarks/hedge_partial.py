"""Hedge-partial beside Hedge's law, drawn by Gumbel noise (as in 0.2.0) and with kept weights.

The noise needs a fresh logarithm and a fresh exponential for every arm in every round. Kept weights
are what today's code does without a law to solve: how much of a round the solution takes.

    python benchmarks/run.py --only hedge_partial
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from pickbest.catalog import make_learner
from pickbest.core import BoolArray, IntArray
from pickbest.environments import Table
from pickbest.kernels.compiled import allocating, inlined
from pickbest.kernels.leaders import Scratch, draw_gumbel, new_scratch
from pickbest.kernels.random import STEP, slot_key, uniform_at
from pickbest.kernels.rules import Pick, Rule, Told
from pickbest.learners import HedgePartial
from pickbest.learners.hedge_partial import HedgePartialState, Law, _among, _draw_others
from pickbest.simulation.games import deal_all, play_dealt
from simulation import recorded_table
from timing import Row, ratio_row, seconds


class Work(NamedTuple):
    """ranked, order: scratch of length n_arms; drawn: of length budget; nobody: no arm is taken."""

    ranked: Scratch
    order: IntArray
    drawn: IntArray
    nobody: BoolArray


@allocating
def new_work(law: Law, state: HedgePartialState, budget: int) -> Work:
    ranked, order = new_scratch(law, state, budget), np.arange(state.costs.shape[1])
    return Work(ranked, order, np.empty(budget, np.int64), np.zeros(0, np.bool_))


@inlined
def pick_row(law: Law, state: HedgePartialState, row: int, work: Work, pick: Pick) -> None:
    """The first of the noisy ranks are I and J; then as `HedgePartial` has it."""
    key, arms, weights, drawn = pick.key, pick.arms, pick.weights, work.drawn
    costs = state.costs[row]
    n_arms, budget = costs.shape[0], arms.shape[0]
    draw_gumbel(costs, law.scale, work.nobody, key, drawn, work.ranked)
    first = drawn[0]
    arms[0], weights[0] = first, 1.0
    counter = slot_key(key, 1) + STEP
    uniform = budget - 2
    if budget == 2:
        uniform = 1 if uniform_at(counter) < law.explore else 0
    _draw_others(first, uniform, counter, work.order, arms)
    filled, seen = 1 + uniform, 1 + uniform
    for j in range(1, budget):
        if filled < budget and not _among(arms[:filled], drawn[j]):
            arms[filled] = drawn[j]
            filled += 1
            seen += 1 if j == 1 else 0
    lowest, total = np.inf, 0.0
    for a in range(n_arms):
        if a != first:
            lowest = min(lowest, costs[a])
    for a in range(n_arms):
        if a != first:
            total += math.exp(-law.scale * (costs[a] - lowest))
    least = 1.0 / (n_arms - 1)
    for j in range(1, budget):
        share = math.exp(-law.scale * (costs[arms[j]] - lowest)) / total
        chance = (1.0 - law.explore) * share + law.explore * least
        if budget > 2:
            chance = 1.0 - (1.0 - share) * (1.0 - (budget - 2) * least)
        weights[j] = 1.0 / chance if j < seen else 0.0


@inlined
def learn_row(law: Law, state: HedgePartialState, row: int, work: Work, told: Told) -> None:
    """As `HedgePartial` learns; nothing but the costs is kept."""
    arms, weights, seen = told.arms, told.weights, told.costs
    for j in range(1, arms.shape[0]):
        state.costs[row, arms[j]] += weights[j] * (seen[j] - seen[0])


@dataclass(frozen=True)
class GumbelDraws(HedgePartial):
    """Hedge-partial as 0.2.0 played it; give it the numbers of `law=variances`."""

    rule = Rule(new_work, pick_row, learn_row)


# What may be asked of the ratio to Gumbel noise: few arms need little of it, and there the two are
# level.
FEW, LEVEL, QUICKER = 10, 0.9, 1.5
PLAYED, REPEATS = 40_000, 60


def rows() -> list[Row]:
    """A round of whole tables, the three laws in turn, the best of many runs of each."""
    found = []
    for n_arms in (10, 32, 100, 1_000):
        rounds = PLAYED // n_arms
        dealt = deal_all(Table(recorded_table(rounds, n_arms)), 1, seed=0)
        for budget in (2, 3, 6):
            kept = make_learner("hedge-partial:law=variances", n_arms, budget)
            learners = {
                "": make_learner("hedge-partial", n_arms, budget),
                "Gumbel noise": GumbelDraws(**vars(kept)),
                "kept weights": kept,
            }
            games = {name: partial(play_dealt, own, dealt, 1, 0) for name, own in learners.items()}
            turns = [{name: seconds(game) for name, game in games.items()} for _ in range(REPEATS)]
            best = {name: min(turn[name] for turn in turns[1:]) / rounds for name in games}
            what = f"hedge-partial, a round, N={n_arms:,} B={budget}, beside Hedge's law"
            noise = LEVEL if n_arms <= FEW else QUICKER
            for name, target in (("Gumbel noise", noise), ("kept weights", 0.4)):
                found.append(ratio_row(f"{what} by {name}", best[""], best[name], target))
    return found
