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
from pickbest.kernels.compiled import allocating, inlined, kernel
from pickbest.kernels.random import STEP, slot_key, uniform_at
from pickbest.kernels.rules import CompiledLearner, Pick, Rule, Told, weights_of
from pickbest.learners.hedge import check_prior

# The search for τ ends where Σ p exceeds 1 by no more than this.
CLOSED = 1e-13
TERMS = 256
# What a sum may gain by rounding for each of its terms.
ROUND = 2.3e-16
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
    """weights, known: (rows, n_arms) and (rows, n_arms + 1), see `fill_weights`; shares: scratch of
    length n_arms; order: 0, 1, 2, …"""

    weights: FloatArray
    known: FloatArray
    shares: FloatArray
    order: IntArray


@allocating
def new_work(law: Law, state: HedgePartialState, budget: int) -> Work:
    rows, n_arms = state.costs.shape
    known = np.full((rows, n_arms + 1), np.nan)
    return Work(np.empty((rows, n_arms)), known, np.empty(n_arms), np.arange(n_arms))


@inlined
def fill_weights(law: Law, costs: FloatArray, known: FloatArray, weights: FloatArray) -> int:
    """weights = w = e^(-scale (L - base)) for cumulative costs L; returns the best arm.

    The base is the lowest L, rounded down so that it seldom changes. known: the costs for which the
    weights were computed, and then the base, NaN at first: only what has changed is computed.
    """
    n_arms, best = costs.shape[0], 0
    for a in range(1, n_arms):
        if costs[a] < costs[best]:
            best = a
    base = math.floor(law.scale * costs[best]) / law.scale
    moved = base != known[n_arms]
    known[n_arms] = base
    for a in range(n_arms):
        if moved or costs[a] != known[a]:
            known[a] = costs[a]
            weights[a] = math.exp(-law.scale * (costs[a] - base))
    return best


@inlined
def fill_shares(law: Law, weights: FloatArray, best: int, shares: FloatArray) -> float:
    """Fill shares with the law of these weights, up to a factor; returns their sum, 1 / ρ.

    With v the best arm's weight and y = e^(scale (base - τ)) - v, p = ρ w / (y + v - w). The others
    add up to R(y) = Σ w / (y + v - w). 1 / R is concave, so A / (y + D) with the value and slope of
    R at any y is at most R everywhere, and the root of v / y + A / (y + D) = 1 / ρ is at most the
    wanted one. From such a root to the next the method rises to it, faster than Newton's; it begins
    with A and D for y → ∞, which are exact where the others' costs are equal.
    """
    n_arms, top = weights.shape[0], float(weights[best])
    if law.odds == np.inf:
        for a in range(n_arms):
            shares[a] = weights[a]
        return _sums(shares)[0]
    others, squares = _sums(weights)
    others -= top
    y = law.odds * top
    if others > 0.0:
        shift = top - (squares - top * top) / others
        # Rounding must not lift the first y above the root.
        y = max(y, _root(law.odds, top, others, shift) * (1.0 - n_arms * ROUND))
    weights[best] = 0.0
    while True:
        for a in range(n_arms):
            shares[a] = weights[a] / (y + (top - weights[a]))
        first, squares = _sums(shares)
        # w / (y + v - w)² for a share s = w / (y + v - w) is s (1 + s) / (y + v).
        slope = (first + squares) / (y + top)
        shares[best] = top / y
        further = y
        if law.odds * (first + shares[best]) - 1.0 > CLOSED:
            further = _root(law.odds, top, first * first / slope, first / slope - y)
        # Rounding may keep the sum above 1 + CLOSED where there are very many arms.
        if not further > y:  # nor where numbers that nobody would set give none
            weights[best] = top
            return first + top / y
        y = further


@inlined
def _sums(values: FloatArray) -> tuple[float, float]:
    """Σ values and Σ values², as sums of sums: very many terms in a row would lose too much."""
    total, squares = 0.0, 0.0
    for start in range(0, values.shape[0], TERMS):
        some, squared = 0.0, 0.0
        for value in values[start : start + TERMS]:
            some += value
            squared += value * value
        total += some
        squares += squared
    return total, squares


@kernel
def _root(odds: float, top: float, others: float, shift: float) -> float:
    """The positive root y of top / y + others / (y + shift) = 1 / odds, without cancellation."""
    shift = max(shift, 0.0)
    half = 0.5 * (odds * (top + others) - shift)
    reach = math.sqrt(half * half + odds * top * shift)
    return half + reach if half > 0.0 else odds * top * shift / (reach - half)


@inlined
def _among(arms: IntArray, arm: int) -> bool:
    found = False
    for j in range(arms.shape[0]):
        found = found or arms[j] == arm
    return found


@inlined
def pick_row(law: Law, state: HedgePartialState, row: int, work: Work, pick: Pick) -> None:
    """I and J from the law, J ≠ I; uniform arms K ≠ I; a further draw where J is one of the K.

    Given I, arm a is J or one of the K with probability 1 - (1 - r)(1 - k / (N - 1)), where r is
    a's share of the law without I and k the number of K; for B = 2 with (1 - e) r + e / (N - 1).
    """
    key, arms, weights, shares = pick.key, pick.arms, pick.weights, work.shares
    n_arms, budget = shares.shape[0], arms.shape[0]
    best = fill_weights(law, state.costs[row], work.known[row], work.weights[row])
    total = fill_shares(law, work.weights[row], best, shares)
    coins = key + STEP
    left, first = uniform_at(coins) * total, 0
    for a in range(n_arms):
        left -= shares[a]
        first = a
        if left < 0.0:
            break
    arms[0], weights[0] = first, 1.0
    rest = total - shares[first]
    shares[first] = 0.0
    if rest < 0.5 * total:  # a difference would be inexact
        rest = _sums(shares)[0]
    counter = slot_key(key, 1) + STEP
    uniform = budget - 2
    if budget == 2:
        uniform = 1 if uniform_at(counter) < law.explore else 0
    _draw_others(first, uniform, counter, work.order, arms)
    filled = 1 + uniform
    coins += STEP
    if filled < budget:
        second = _drawn(shares, arms[:1], rest, uniform_at(coins))
        if not _among(arms[1:filled], second):
            arms[filled] = second
            filled += 1
    seen = filled
    if filled < budget:
        # A draw that is left over only lowers what is paid: nothing is learned from it.
        unseen = rest
        for j in range(1, filled):
            unseen -= shares[arms[j]]
        coins += STEP
        arms[filled] = _drawn(shares, arms[:filled], unseen, uniform_at(coins))
    least = 1.0 / (n_arms - 1)
    for j in range(1, budget):
        share = shares[arms[j]] / rest if rest > 0.0 else least
        chance = (1.0 - law.explore) * share + law.explore * least
        if budget > 2:
            chance = 1.0 - (1.0 - share) * (1.0 - (budget - 2) * least)
        weights[j] = 1.0 / chance if j < seen else 0.0


@kernel
def _drawn(shares: FloatArray, taken: IntArray, total: float, uniform: float) -> int:
    """An arm drawn by its share from those that are not taken, whose shares add up to `total`.

    Uniformly where they add up to nothing.
    """
    n_free, last = shares.shape[0] - taken.shape[0], 0
    left = uniform * (total if total > 0.0 else n_free)
    for a in range(shares.shape[0]):
        if not _among(taken, a):
            left -= shares[a] if total > 0.0 else 1.0
            last = a
            if left < 0.0:
                break
    return last


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
        state.costs[row, arms[j]] += weights[j] * (seen[j] - seen[0])


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
