"""The cheapest plan: sets of arms, or one arm for a slice of time and then a set instead.

What a plan costs follows from the survival curves of `auto.kinds`: with S(t) the probability
that nobody has answered until t, the time that passes is ∫ S and so is the processor time of each
arm that runs. Sets are built greedily, as long as another arm pays for itself.
"""

from typing import NamedTuple

import numpy as np

from pickbest.core import FloatArray, IntArray
from pickbest.kernels.compiled import inlined, kernel
from pickbest.learners.auto.kinds import BINS, EDGES, KINDS, bin_of

# Only that many arms, those that cost least alone, are tried as the first: with more, planning
# takes longer and finds the same.
MOST_FIRST = 8


class Prices(NamedTuple):
    """What is charged, in shares of the cost of a deadline.

    seconds, calls: of each arm, (arms,), as long as the deadline, and for a start. time: of the
    time that passes. unsolved: of a problem without an answer.
    """

    seconds: FloatArray
    calls: FloatArray
    time: float
    unsolved: float


class Scratch(NamedTuple):
    """Of one planner; together, trial: (kinds, bins + 1); weights, later: (kinds,)."""

    hazards: FloatArray
    survival: FloatArray
    pooled: FloatArray
    together: FloatArray
    trial: FloatArray
    weights: FloatArray
    later: FloatArray
    chosen: IntArray
    alone: FloatArray


@inlined
def expected(
    weights: FloatArray, survival: FloatArray, until: float, rate: float, unsolved: float
) -> float:
    """Σ over kinds of weight · (rate · ∫ survival up to `until` + unsolved · survival there)."""
    last = bin_of(until)
    part = (until - EDGES[last]) / (EDGES[last + 1] - EDGES[last])
    part = min(max(part, 0.0), 1.0)
    total = 0.0
    for k in range(KINDS):
        area = 0.0
        for j in range(last):
            area += (EDGES[j + 1] - EDGES[j]) * 0.5 * (survival[k, j] + survival[k, j + 1])
        end = survival[k, last] + part * (survival[k, last + 1] - survival[k, last])
        area += part * (EDGES[last + 1] - EDGES[last]) * 0.5 * (survival[k, last] + end)
        total += weights[k] * (rate * area + unsolved * end)
    return total


@kernel
def best_set(
    prices: Prices,
    scratch: Scratch,
    weights: FloatArray,
    until: float,
    skipped: int,
    whole: bool,
    chosen: IntArray,
) -> float:
    """What the greedy set costs that starts now and runs `until`; chosen: its arms, then -1.

    weights: of the kinds. skipped: an arm that is left out. whole: whether all places are filled.
    """
    n_arms = scratch.survival.shape[1]
    together, trial = scratch.together, scratch.trial
    reached = 0.0
    for k in range(KINDS):
        reached += weights[k]
        for j in range(BINS + 1):
            together[k, j] = 1.0
    for b in range(chosen.shape[0]):
        chosen[b] = -1
    lowest, rate, calls = np.inf, prices.time, 0.0
    for b in range(chosen.shape[0]):
        best, cost = -1, np.inf
        for a in range(n_arms):
            taken = a == skipped
            for i in range(b):
                taken = taken or chosen[i] == a
            if taken:
                continue
            for k in range(KINDS):
                for j in range(BINS + 1):
                    trial[k, j] = together[k, j] * scratch.survival[k, a, j]
            value = expected(weights, trial, until, rate + prices.seconds[a], prices.unsolved)
            value += reached * (calls + prices.calls[a])
            if value < cost:
                best, cost = a, value
        if best < 0 or (cost >= lowest and not whole):
            break
        chosen[b] = best
        lowest = cost
        rate += prices.seconds[best]
        calls += prices.calls[best]
        for k in range(KINDS):
            for j in range(BINS + 1):
                together[k, j] *= scratch.survival[k, best, j]
    return lowest


@kernel
def best_plan(prices: Prices, scratch: Scratch, mass: FloatArray, arms: IntArray) -> float:
    """Fills arms as `core.Plans` says, for curves in scratch.survival; the slice."""
    n_arms = scratch.survival.shape[1]
    weights, later = scratch.weights, scratch.later
    total = 0.0
    for k in range(KINDS):
        total += mass[k]
    for k in range(KINDS):
        weights[k] = mass[k] / total
    arms[0] = -1
    lowest, slice_ = best_set(prices, scratch, weights, 1.0, -1, False, arms[1:]), 0.0
    for a in range(n_arms):
        rate = prices.time + prices.seconds[a]
        scratch.alone[a] = expected(weights, scratch.survival[:, a], 1.0, rate, prices.unsolved)
    for _ in range(min(n_arms, MOST_FIRST)):
        first = 0
        for a in range(n_arms):
            if scratch.alone[a] < scratch.alone[first]:
                first = a
        scratch.alone[first] = np.inf
        rate = prices.time + prices.seconds[first]
        for place in range(4, BINS, 2):
            until = EDGES[place]
            cost = prices.calls[first]
            cost += expected(weights, scratch.survival[:, first], until, rate, 0.0)
            if cost >= lowest or n_arms == 1:
                break
            for k in range(KINDS):
                later[k] = weights[k] * scratch.survival[k, first, place]
            cost += best_set(prices, scratch, later, 1.0 - until, first, False, scratch.chosen)
            if cost < lowest:
                lowest, slice_, arms[0] = cost, until, first
                for b in range(scratch.chosen.shape[0]):
                    arms[1 + b] = scratch.chosen[b]
    return slice_
