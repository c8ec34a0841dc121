"""AdaHedge (de Rooij, van Erven, Grünwald and Koolen 2014): Hedge that finds its own rate.

The rate is ln N / gap, where gap adds up by how much Hedge's expected cost exceeded its mix
cost, -ln Σ p exp(-rate · cost) / rate, in the rounds so far. What later slots of OG can gain is far
below 1, so a rate for costs that may fill [0, 1] learns them slowly; this rate follows the costs.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

import numpy as np

from pickbest.core import Feedback, FloatArray, check_count
from pickbest.core.states import sums
from pickbest.kernels.compiled import inlined, kernel
from pickbest.kernels.leaders import Scratch, new_scratch
from pickbest.kernels.rules import CompiledLearner, Pick, Rule, Told
from pickbest.kernels.softmax import draw_share, fill_shares

# In place of an infinite rate while there is no gap: only the leaders have weight.
LEAST_GAP = 1e-9
# Weights below exp of this count as 0.
LEAST_LOG = -700.0


@kernel
def adaptive_rate(gap: float, n_arms: int) -> float:
    """ln N / gap, with one arm taken as two."""
    return math.log(max(n_arms, 2)) / max(gap, LEAST_GAP)


@kernel
def mixability_gap(gains: FloatArray, rate: float, costs: FloatArray) -> float:
    """Expected cost minus mix cost of a round, for Hedge with these gains and this rate."""
    highest = gains[0]
    for a in range(1, gains.shape[0]):
        highest = max(highest, gains[a])
    lowest = np.inf
    for a in range(gains.shape[0]):
        # An arm whose weight is 0 is no part of the mix, however little it costs.
        if rate * (gains[a] - highest) > LEAST_LOG and costs[a] < lowest:
            lowest = costs[a]
    total = expected = mixed = 0.0
    for a in range(gains.shape[0]):
        log_share = rate * (gains[a] - highest)
        if log_share > LEAST_LOG:
            share = math.exp(log_share)
            total += share
            expected += share * (costs[a] - lowest)
            mixed += share * math.exp(-rate * (costs[a] - lowest))
    return max(expected / total + math.log(mixed / total) / rate, 0.0)


class AdaHedgeState(NamedTuple):
    """gains: minus cumulative costs; gap: sum of the mixability gaps."""

    gains: Annotated[FloatArray, sums(-1)]
    gap: Annotated[FloatArray, sums()]


class Law(NamedTuple):
    """Nothing is set: one arm counts as two in the rate."""

    n_arms: int


@inlined
def pick_row(law: Law, state: AdaHedgeState, row: int, work: Scratch, pick: Pick) -> None:
    taken, key, arms, weights = pick.taken, pick.key, pick.arms, pick.weights
    rate = adaptive_rate(state.gap[row], law.n_arms)
    fill_shares(state.gains[row], taken, rate, np.nan, work.values)
    arms[0], weights[0] = draw_share(work.values, taken, 0.0, key)


@inlined
def learn_row(law: Law, state: AdaHedgeState, row: int, work: Scratch, told: Told) -> None:
    seen = told.costs
    rate = adaptive_rate(state.gap[row], law.n_arms)
    state.gap[row] += mixability_gap(state.gains[row], rate, seen)
    for a in range(seen.shape[0]):
        state.gains[row, a] -= seen[a]


RULE = Rule(new_scratch, pick_row, learn_row, weighted=False, fills_slots=True)


@dataclass(frozen=True)
class AdaHedge(CompiledLearner[Law, AdaHedgeState, Scratch]):
    """Hedge with the rate ln N / (sum of mixability gaps); one arm per round, full feedback."""

    n_arms: int
    budget = 1
    feedback = Feedback.FULL
    unbiased = False
    rule = RULE

    def __post_init__(self) -> None:
        check_count("n_arms", self.n_arms)

    @cached_property
    def law(self) -> Law:
        return Law(self.n_arms)

    def start(self, replicates: int) -> AdaHedgeState:
        return AdaHedgeState(np.zeros((replicates, self.n_arms)), np.zeros(replicates))
