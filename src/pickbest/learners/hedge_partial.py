"""Hedge-partial: a law over costs relative to an arm that was drawn from it, B ≥ 2.

With feedback of the picked arms only, its expected regret against the best arm is bounded by
`theory.hedge_partial_bound`, of order N / B, for every number of rounds (docs/two-picks.md; costs
fixed in advance). The law is Bose and Einstein's,

    p(a) = ρ / (e^(scale (L(a) - τ)) - 1),    τ below all L such that Σ p = 1,

for cumulative estimates L; for ρ → ∞ it is Hedge's, p(a) ∝ e^(-scale L(a)).
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, NamedTuple

import numpy as np

from pickbest.core import (
    Choice,
    Draws,
    Feedback,
    FloatArray,
    IntArray,
    PickbestError,
    Seen,
    check_budget,
    check_positive,
)
from pickbest.core.states import sums
from pickbest.kernels.compiled import allocating, exp_or_inf, inlined, kernel
from pickbest.kernels.random import STEP, slot_key, uniform_at
from pickbest.kernels.rules import CompiledLearner, Pick, Rule, Told, weights_of
from pickbest.learners.hedge import check_prior

# The last step for τ is taken where Σ p differs from 1 by no more than this.
CLOSE = 3e-5
# After so many of Halley's steps, the search goes on with Newton's.
HALLEY = 8
TERMS = 256
# The base of weights is a multiple of this: weights need not be computed anew while it stays, and
# it does where the largest weight lies between these.
BLOCK = 64.0
SMALL, LARGE = math.exp(-0.49 * BLOCK), math.exp(0.49 * BLOCK)
# Weights of arms that are explored less would be too large to add up.
LEAST_EXPLORED = 1e-9
# Beyond these, exponentials of costs overflow.
RATES = (1e-12, 1e6)
# The share of races that is watched unless another is asked for.
RACES_WATCHED = 0.1


class HedgePartialState(NamedTuple):
    """costs: cumulative estimates of costs relative to those of the drawn arms."""

    costs: Annotated[FloatArray, sums(-1)]


class Law(NamedTuple):
    """scale, odds: of the head of this module, odds is ρ; explore: where B = 2, the chance that the
    second arm is a uniform one (for more arms, all but two are)."""

    scale: float
    odds: float
    explore: float


class Work(NamedTuple):
    """weights: (rows, places), see `weight_of`, for an even number of places, the last one perhaps
    empty; base: (rows,), NaN where there are no weights yet; shares: scratch of length places;
    order: 0, 1, 2, … n_arms - 1."""

    weights: FloatArray
    base: FloatArray
    shares: FloatArray
    order: IntArray


@allocating
def new_work(law: Law, state: HedgePartialState, budget: int) -> Work:
    rows, n_arms = state.costs.shape
    places = n_arms + n_arms % 2
    weights, base = np.zeros((rows, places)), np.full(rows, np.nan)
    return Work(weights, base, np.zeros(places), np.arange(n_arms))


@inlined
def weight_of(law: Law, cost: float, base: float) -> float:
    """w = e^(base - scale L), where the base is near the lowest scale L of a row.

    It is infinite where an estimate fell far below all others: then the base moves.
    """
    return exp_or_inf(base - law.scale * cost)


@inlined
def fill_weights(law: Law, costs: FloatArray, row: int, work: Work) -> tuple[float, float]:
    """Compute all weights where the base has moved: a multiple of BLOCK near the lowest cost.

    Returns the largest weight, and the sum of their fourth powers.
    """
    top, fourths = _largest(work.weights[row])
    if SMALL < top < LARGE:
        return top, fourths
    lowest = costs[0]
    for a in range(1, costs.shape[0]):
        lowest = min(lowest, costs[a])
    base = BLOCK * math.floor(law.scale * lowest / BLOCK + 0.5)
    if base != work.base[row]:
        work.base[row] = base
        for a in range(costs.shape[0]):
            work.weights[row, a] = weight_of(law, costs[a], base)
    return _largest(work.weights[row])


@inlined
def _largest(weights: FloatArray) -> tuple[float, float]:
    """The largest of an even number of weights, and the sum of their fourth powers."""
    top, other, fourths, others = 0.0, 0.0, 0.0, 0.0
    for a in range(0, weights.shape[0], 2):
        x, y = weights[a], weights[a + 1]
        top = max(top, x)
        other = max(other, y)
        fourths += x * x * (x * x)
        others += y * y * (y * y)
    return max(top, other), fourths + others


@inlined
def fill_shares(
    law: Law, weights: FloatArray, known: tuple[float, float], shares: FloatArray
) -> float:
    """Fill shares with the law of these weights, up to a factor; returns their sum, 1 / ρ.

    known: what `fill_weights` returns. With v the largest weight and y = e^(base - scale τ) - v ≥
    ρ v, p = ρ w / (y + v - w), and S(y) = Σ w / (y + v - w) must be 1 / ρ. Halley's method for
    1 / S(y) = ρ, exact for equal weights, needs two or three steps. Should it not close, Newton's
    does: 1 / S is concave, so from its first step on it rises to the root.

    The last step moves the shares themselves. With d = y + v - w, s = w / d and 1 / d =
    (1 + s) / (y + v), they become w / (d + Δy) = s / (1 + x), x = (1 + s) Δy / (y + v).
    """
    places, (top, fourths) = weights.shape[0], known
    if law.odds == np.inf:
        for a in range(places):
            shares[a] = weights[a]
        return _powers(shares)[0]
    least = law.odds * top
    # A first guess that is exact where one arm leads or all are equal.
    y = law.odds * fourths / (top * top * top)
    steps = 0
    while True:
        for a in range(places):
            shares[a] = weights[a] / (y + (top - weights[a]))
        total, squares, cubes = _powers(shares)
        excess = law.odds * total - 1.0
        # w / d² is s (1 + s) / (y + v), and so on.
        slope = total + squares
        bend = total * (slope + squares + cubes) - slope * slope if steps < HALLEY else 0.0
        bent = slope * slope - min(excess * bend, 0.75 * slope * slope)
        step = total * excess * slope / bent
        if not abs(excess) > CLOSE:
            for a in range(places):
                x = step * (1.0 + shares[a])
                shares[a] *= 1.0 - x * (1.0 - x * (1.0 - x))
            return 1.0 / law.odds
        y = max(least, y + (y + top) * step)
        steps += 1


@inlined
def _powers(values: FloatArray) -> tuple[float, float, float]:
    """Σ x, Σ x² and Σ x³ of an even number of values x, as sums of sums.

    Very many terms in a row would lose too much, and two sums at a time take half as long.
    """
    total, squares, cubes = 0.0, 0.0, 0.0
    for start in range(0, values.shape[0], TERMS):
        x_sum, y_sum, x_squares, y_squares, x_cubes, y_cubes = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for a in range(start, min(start + TERMS, values.shape[0]), 2):
            x, y = values[a], values[a + 1]
            x_sum += x
            y_sum += y
            x_squares += x * x
            y_squares += y * y
            x_cubes += x * x * x
            y_cubes += y * y * y
        total += x_sum + y_sum
        squares += x_squares + y_squares
        cubes += x_cubes + y_cubes
    return total, squares, cubes


@inlined
def _among(arms: IntArray, arm: int) -> bool:
    found = False
    for j in range(arms.shape[0]):
        found = found or arms[j] == arm
    return found


@inlined
def pick_row(law: Law, state: HedgePartialState, row: int, work: Work, pick: Pick) -> None:
    """I and J from the law, J ≠ I; uniform arms K ≠ I; a further draw where J is one of the K.

    Given I, arm a is J or one of the K with probability f + (1 - f) r, where r is a's share of the
    law without I and f = (B - 2) / (N - 1); for B = 2 with e / (N - 1) + (1 - e) r.
    """
    key, arms, weights, shares = pick.key, pick.arms, pick.weights, work.shares
    n_arms, budget = work.order.shape[0], arms.shape[0]
    known = fill_weights(law, state.costs[row], row, work)
    total = fill_shares(law, work.weights[row], known, shares)
    coins = key + STEP
    first = _drawn(shares, uniform_at(coins) * total)
    arms[0], weights[0] = first, 1.0
    rest = total - shares[first]
    shares[first] = 0.0
    if rest < 0.5 * total:  # a difference would be inexact
        rest = _rest(n_arms, shares, arms[:1])
    counter = slot_key(key, 1) + STEP
    uniform = budget - 2
    if budget == 2:
        uniform = 1 if uniform_at(counter) < law.explore else 0
    _draw_others(first, uniform, counter, work.order, arms)
    filled = 1 + uniform
    coins += STEP
    if filled < budget:
        second = _drawn(shares, uniform_at(coins) * rest)
        if not _among(arms[1:filled], second):
            arms[filled] = second
            filled += 1
    floor = (law.explore if budget == 2 else budget - 2.0) / (n_arms - 1)
    own = 1.0 - (law.explore if budget == 2 else floor)
    for j in range(1, filled):
        weights[j] = 1.0 / (own * (shares[arms[j]] / rest) + floor)
    if filled < budget:
        # A draw that is left over only lowers what is paid: nothing is learned from it.
        unseen = _rest(n_arms, shares, arms[:filled])
        coins += STEP
        arms[filled], weights[filled] = _drawn(shares, uniform_at(coins) * unseen), 0.0


@inlined
def _drawn(shares: FloatArray, left: float) -> int:
    """The arm at which the shares add up to more than `left`."""
    last = 0
    for a in range(shares.shape[0]):
        left -= shares[a]
        if shares[a] > 0.0:
            last = a
        if left < 0.0:
            break
    return last


@kernel
def _rest(n_arms: int, shares: FloatArray, taken: IntArray) -> float:
    """The sum of the shares without those of taken arms; where it is nothing, all others get 1."""
    for j in range(taken.shape[0]):
        shares[taken[j]] = 0.0
    rest = _powers(shares)[0]
    if rest <= 0.0:
        for a in range(n_arms):
            if not _among(taken, a):
                shares[a] = 1.0
                rest += 1.0
    return rest


@kernel
def _draw_others(
    first: int, count: int, counter: np.uint64, order: IntArray, arms: IntArray
) -> None:
    """arms[1 : 1 + count] = uniform arms other than `first`, without repetition.

    order holds 0, 1, 2, … and is left so.
    """
    n_arms = order.shape[0]
    order[first], order[n_arms - 1] = n_arms - 1, first
    places = arms[1 : 1 + count]
    for j in range(count):
        counter += STEP
        place = j + int(uniform_at(counter) * (n_arms - 1 - j))
        order[j], order[place] = order[place], order[j]
        places[j] = order[j]
    for j in range(count):
        order[places[j]] = places[j]
        order[j] = j
    order[first], order[n_arms - 1] = first, n_arms - 1


@inlined
def learn_row(law: Law, state: HedgePartialState, row: int, work: Work, told: Told) -> None:
    """Estimates of c(a) - c(I): all arms are shifted by the same c(I), which Hedge does not see."""
    arms, weights, seen = told.arms, told.weights, told.costs
    for j in range(1, arms.shape[0]):
        arm = arms[j]
        state.costs[row, arm] += weights[j] * (seen[j] - seen[0])
        work.weights[row, arm] = weight_of(law, state.costs[row, arm], work.base[row])


RULE = Rule(new_work, pick_row, learn_row)


@dataclass(frozen=True)
class HedgePartial(CompiledLearner[Law, HedgePartialState, Work]):
    """Bounded regret from the costs of its own arms, at least two per round.

    The first arm is drawn from the law; what the others cost more or less than it is learned.
    So the estimates vary only where the likely arms differ, and there the second draw pays.

    rate: of the law, between 0 and 1. stretch: of the law; 1 is the plain one, infinity is Hedge's.
    explore: where the budget is 2, the chance that the second arm is drawn uniformly.
    watched: in races whose losers are stopped, the least chance that a round is watched.
    prior: the first law, as positive numbers, one per arm; None: all arms are alike.
    `theory.relative_tuning` has the numbers that the bound is proved for.

    >>> from pickbest.core import replicate_keys, rng_for
    >>> learner = HedgePartial(n_arms=5, budget=3, rate=0.9271, stretch=1.4)
    >>> learner.pick(learner.start(1), rng_for(replicate_keys(0, 1), 0)).arms.shape
    (1, 3)
    """

    n_arms: int
    budget: int
    rate: float
    stretch: float
    explore: float = 0.23
    watched: float = 1.0
    prior: tuple[float, ...] | None = None
    feedback = Feedback.PICKED
    unbiased = True
    rule = RULE

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        if self.budget < 2:
            raise PickbestError(f"hedge-partial needs a budget of at least 2, got {self.budget}")
        if not RATES[0] <= check_positive("rate", self.rate) <= RATES[1]:
            raise PickbestError(
                f"rate must be between {RATES[0]:g} and {RATES[1]:g}, got {self.rate!r}"
            )
        if not self.stretch >= 1.0:
            raise PickbestError(f"stretch must be at least 1, got {self.stretch!r}")
        if not LEAST_EXPLORED <= self.explore < 1.0:
            raise PickbestError(
                f"explore must be at least {LEAST_EXPLORED:g} and below 1, got {self.explore!r}"
            )
        if not 0.0 < self.watched <= 1.0:
            raise PickbestError(f"watched must be above 0 and at most 1, got {self.watched!r}")
        check_prior(self.prior, self.n_arms)

    def in_races(self) -> "HedgePartial":
        """The learner for races whose losers are stopped: a tenth of them is watched."""
        return replace(self, watched=RACES_WATCHED) if self.watched == 1.0 else self

    def pick(
        self, state: HedgePartialState, draws: Draws, features: FloatArray | None = None
    ) -> Choice:
        choice = super().pick(state, draws)
        return replace(choice, watch=np.full(len(choice.arms), self.watched))

    def learn(
        self,
        state: HedgePartialState,
        choice: Choice,
        seen: Seen,
        features: FloatArray | None = None,
    ) -> HedgePartialState:
        """Of races, only watched ones teach, with estimates divided by the chance of that.

        A race that happened to be seen whole does not count: its costs are not typical.
        """
        if seen.watch is None or seen.watched is None:
            return super().learn(state, choice, seen)
        scale = np.where(seen.watched, 1.0 / np.maximum(seen.watch, 1e-300), 0.0)
        weights = weights_of(choice) * scale[:, None]
        return super().learn(state, Choice(choice.arms, weights), Seen.of(seen.low))

    @cached_property
    def law(self) -> Law:
        uniform = self.explore if self.budget == 2 else float(self.budget - 2)
        uniform /= self.n_arms - 1
        own = 1.0 - (self.explore if self.budget == 2 else uniform)
        return Law(self.watched * uniform * self.rate, self.stretch * uniform / own, self.explore)

    def start(self, replicates: int) -> HedgePartialState:
        """An arm with a prior starts with the estimate that gives it that share of the law."""
        costs = np.zeros((replicates, self.n_arms))
        if self.prior is not None:
            shares = np.array(self.prior) / sum(self.prior)
            logs = (
                -np.log(shares) if math.isinf(self.law.odds) else np.log1p(self.law.odds / shares)
            )
            costs += (logs - logs.min()) / self.law.scale
        return HedgePartialState(costs)
