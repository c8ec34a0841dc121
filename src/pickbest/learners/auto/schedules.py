"""Schedules: how many arms run, and which one before others, where processor time has a price.

Thompson sampling: every round draws survival curves from what is known of them (`auto.kinds`)
and plays the plan that would be cheapest if they were true: a set of arms, or one arm for a slice
of time and then a set instead. With S(t) the probability that nobody has answered until t, the time
that passes is ∫ S, and so is the processor time of each arm that runs. Sets are built greedily, as
long as another arm pays for itself.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pickbest.core import (
    Choice,
    Draws,
    Feedback,
    FloatArray,
    IntArray,
    KeyArray,
    PickbestError,
    Plans,
    Runs,
    Seen,
    check_budget,
)
from pickbest.core.checks import check_not_negative
from pickbest.kernels.compiled import allocating, compiled, inlined, kernel
from pickbest.learners.auto.kinds import (
    BINS,
    EDGES,
    KINDS,
    Ended,
    KindsState,
    bin_of,
    draw_survival,
    fill_hazards,
    learn_kinds,
    start_kinds,
)

# Only that many arms, those that cost least alone, are tried as the first: with more, planning
# takes longer and finds the same.
MOST_FIRST = 8


class Prices(NamedTuple):
    """What is charged, in shares of the cost of a deadline.

    processor: of an arm that runs as long as the deadline. calls: of a start of each arm, (arms,).
    time: of the time that passes. unsolved: of a problem without an answer.
    """

    processor: float
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
            value = expected(weights, trial, until, rate + prices.processor, prices.unsolved)
            value += reached * (calls + prices.calls[a])
            if value < cost:
                best, cost = a, value
        if best < 0 or (cost >= lowest and not whole):
            break
        chosen[b] = best
        lowest = cost
        rate += prices.processor
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
    rate = prices.time + prices.processor
    for a in range(n_arms):
        scratch.alone[a] = expected(weights, scratch.survival[:, a], 1.0, rate, prices.unsolved)
    for _ in range(min(n_arms, MOST_FIRST)):
        first = 0
        for a in range(n_arms):
            if scratch.alone[a] < scratch.alone[first]:
                first = a
        scratch.alone[first] = np.inf
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


@dataclass(frozen=True)
class Schedules:
    """Plans of at most `budget` arms at a time, whose total cost is learned to be low.

    The total cost is that of the answer, and a price for the processor time of all arms.

    price: of a processor for as long as the deadline.
    call_price: of each start of an arm; or one for each arm.
    cost: "runtime": the time until the answer, as a share of the deadline, 1 without one;
        "solved": 0, or 1 without one.

    >>> Schedules(n_arms=3, budget=2, call_price=0.5).prices.calls.tolist()
    [0.5, 0.5, 0.5]
    """

    n_arms: int
    budget: int
    price: float = 0.0
    call_price: float | tuple[float, ...] = 0.0
    cost: str = "runtime"
    feedback = Feedback.PICKED
    unbiased = False

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        if self.cost not in ("runtime", "solved"):
            raise PickbestError(f"cost must be runtime or solved, got {self.cost!r}")
        check_not_negative("price", self.price)
        calls = np.atleast_1d(np.asarray(self.call_price, float))
        if calls.shape not in ((1,), (self.n_arms,)) or not (
            np.isfinite(calls).all() and calls.min() >= 0.0
        ):
            raise PickbestError(
                f"call_price must be a number of at least 0, or one for each of {self.n_arms} "
                f"arms, got {self.call_price!r}"
            )

    @cached_property
    def prices(self) -> Prices:
        calls = np.broadcast_to(np.asarray(self.call_price, float), (self.n_arms,)).copy()
        timed = self.cost == "runtime"
        return Prices(float(self.price), calls, 1.0 if timed else 0.0, 0.0 if timed else 1.0)

    def start(self, replicates: int) -> KindsState:
        return start_kinds(replicates, self.n_arms)

    def plan(self, state: KindsState, draws: Draws) -> Plans:
        arms = np.empty((len(draws.keys), 1 + self.budget), np.int64)
        slices = np.empty(len(draws.keys))
        _plan_rows.suited()(self.prices, state, draws.keys, False, arms, slices)
        return Plans(arms, slices)

    def learn_runs(self, state: KindsState, plans: Plans, runs: Runs) -> KindsState:
        arms = np.where(runs.ran, plans.arms, -1)
        _learn_rows.suited()(state, arms, runs.times, runs.answered.astype(float))
        return state

    def pick(self, state: KindsState, draws: Draws, features: FloatArray | None = None) -> Choice:
        """Where all arms must start at once: the set that is best whatever processors cost."""
        arms = np.empty((len(draws.keys), 1 + self.budget), np.int64)
        free = self.prices._replace(processor=0.0, calls=np.zeros(self.n_arms))
        _plan_rows.suited()(free, state, draws.keys, True, arms, np.empty(len(draws.keys)))
        return Choice(np.ascontiguousarray(arms[:, 1:]))

    def learn(
        self, state: KindsState, choice: Choice, seen: Seen, features: FloatArray | None = None
    ) -> KindsState:
        """Where nobody says how long arms took, costs stand for times."""
        times = seen.high if seen.times is None else seen.times
        answered = (seen.low == seen.high) & (times < 1.0)
        _learn_rows.suited()(state, choice.arms, times, answered.astype(float))
        return state


@allocating
def _new_scratch(n_arms: int, budget: int) -> Scratch:
    return Scratch(
        np.empty((KINDS, n_arms, BINS)),
        np.empty((KINDS, n_arms, BINS + 1)),
        np.empty(BINS),
        np.empty((KINDS, BINS + 1)),
        np.empty((KINDS, BINS + 1)),
        np.empty(KINDS),
        np.empty(KINDS),
        np.empty(budget, np.int64),
        np.empty(n_arms),
    )


@compiled
def _plan_rows(
    prices: Prices,
    state: KindsState,
    keys: KeyArray,
    whole: bool,
    arms: IntArray,
    slices: FloatArray,
) -> None:
    """whole: whether all places are filled with arms that start at once."""
    n_arms = prices.calls.shape[0]
    scratch, every = _new_scratch(n_arms, arms.shape[1] - 1), np.arange(n_arms)
    for row in range(keys.shape[0]):
        fill_hazards(state, row, every, scratch.pooled, scratch.hazards)
        draw_survival(state, row, keys[row], scratch.hazards, scratch.survival)
        if whole:
            arms[row, 0], slices[row] = -1, 0.0
            best_set(prices, scratch, state.mass[row], 1.0, -1, True, arms[row, 1:])
        else:
            slices[row] = best_plan(prices, scratch, state.mass[row], arms[row])


@compiled
def _learn_rows(state: KindsState, arms: IntArray, times: FloatArray, answered: FloatArray) -> None:
    n_arms = state.answers.shape[2]
    scratch, every = _new_scratch(n_arms, 1), np.arange(n_arms)
    for row in range(arms.shape[0]):
        fill_hazards(state, row, every, scratch.pooled, scratch.hazards)
        ended = Ended(arms[row], times[row], answered[row])
        learn_kinds(state, row, scratch.hazards, scratch.weights, ended)
