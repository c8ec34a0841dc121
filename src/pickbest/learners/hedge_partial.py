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

# Newton's method ends where Σ p exceeds 1 by no more than this.
CLOSED = 1e-13
TERMS = 256
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
    """weights, shares: of length n_arms, see `fill_shares`; order: 0, 1, 2, …"""

    weights: FloatArray
    shares: FloatArray
    order: IntArray


@allocating
def new_work(law: Law, state: HedgePartialState, budget: int) -> Work:
    n_arms = state.costs.shape[1]
    return Work(np.empty(n_arms), np.empty(n_arms), np.arange(n_arms))


@inlined
def fill_shares(law: Law, costs: FloatArray, weights: FloatArray, shares: FloatArray) -> float:
    """Fill shares with the law of cumulative costs, up to a factor; their sum, which is 1 / ρ.

    With w = e^(-scale (L - min L)) and y = e^(scale (min L - τ)) - 1, p = ρ w / (y + 1 - w), and
    h(y) = 1 / Σ w / (y + 1 - w), which must be ρ, is increasing and concave. So Newton's method
    approaches the root from below, from any start below it: the best arm alone gives y ≥ ρ, and
    Jensen's inequality y ≥ ρ Σ w - 1 + Σ w² / Σ w, which is the root where all costs are equal.
    """
    n_arms = costs.shape[0]
    lowest = costs[0]
    for a in range(1, n_arms):
        lowest = min(lowest, costs[a])
    total, squares = 0.0, 0.0
    for a in range(n_arms):
        weight = math.exp(-law.scale * (costs[a] - lowest))
        weights[a] = weight
        total += weight
        squares += weight * weight
    if law.odds == np.inf:
        for a in range(n_arms):
            shares[a] = weights[a]
        return total
    y = max(law.odds, law.odds * total - 1.0 + squares / total)
    while True:
        first, second = 0.0, 0.0
        # Sums of sums: a hundred thousand terms in a row would lose more than CLOSED.
        for start in range(0, n_arms, TERMS):
            some = 0.0
            for a in range(start, min(start + TERMS, n_arms)):
                inverse = 1.0 / (y + (1.0 - weights[a]))
                share = weights[a] * inverse
                shares[a] = share
                some += share
                second += share * inverse
            first += some
        excess = law.odds * first - 1.0
        further = y + first * excess / second
        # Rounding may keep the excess above CLOSED where there are very many arms.
        if excess <= CLOSED or further <= y:
            return first
        y = further


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
    total = fill_shares(law, state.costs[row], work.weights, shares)
    coins = key + STEP
    left, first = uniform_at(coins) * total, 0
    for a in range(n_arms):
        left -= shares[a]
        first = a
        if left < 0.0:
            break
    arms[0], weights[0] = first, 1.0
    shares[first] = 0.0
    rest = 0.0
    for a in range(n_arms):
        rest += shares[a]
    coins += STEP
    second = _drawn(shares, arms[:1], rest, uniform_at(coins))
    counter = slot_key(key, 1) + STEP
    uniform = budget - 2
    if budget == 2:
        uniform = 1 if uniform_at(counter) < law.explore else 0
    _draw_others(first, uniform, counter, work.order, arms)
    filled = 1 + uniform
    if filled < budget and not _among(arms[:filled], second):
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
    feedback = Feedback.PICKED
    unbiased = True
    rule = RULE

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        if self.budget < 2:
            raise PickbestError(f"hedge-partial needs a budget of at least 2, got {self.budget}")
        check_positive("rate", self.rate)
        if not self.stretch >= 1.0:
            raise PickbestError(f"stretch must be at least 1, got {self.stretch!r}")
        if not 0.0 < self.explore < 1.0:
            raise PickbestError(f"explore must be between 0 and 1, got {self.explore!r}")
        if not 0.0 < self.watched <= 1.0:
            raise PickbestError(f"watched must be above 0 and at most 1, got {self.watched!r}")

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
        return HedgePartialState(np.zeros((replicates, self.n_arms)))
