"""The guard: the leader f of an FPML with one arm, let into proposed sets at times.

With probability `share`, the last arm of a proposal C gives way to f, unless f is in C. Given C,
the arms before the last are certain, the last one stays with probability 1 - share + share P(f in
C), and any other arm comes with share · P(f is that arm): so all weights are exact, and the guard's
estimates are unbiased whatever the proposals are.

The guard's own expected cost is known the same way. Where the costs paid exceed its sum by more
than chance explains, the share doubles; at 1 the guard's arm is always among those picked.

Its rate adapts to what was seen. With p the law of f, ĉ the weighted costs and rate η, a round
adds δ = Σ p ĉ (1 - exp(-η ĉ)) to the slack Δ, and the next rate is (1 + ln N) / Δ, as AdaHedge's.
docs/learners.md derives the regret bound 2 Δ from it.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from pickbest.core import FloatArray, PickbestError
from pickbest.core.states import counts, sums
from pickbest.kernels.compiled import allocating, exp_or_inf, inlined, kernel
from pickbest.kernels.inclusion import FEW_ARMS, inclusion_probabilities
from pickbest.kernels.integrals import LANES, NODE_WEIGHTS, NODES
from pickbest.kernels.leaders import BLOCK
from pickbest.kernels.random import STEP, slot_key, uniform_at
from pickbest.kernels.rules import Pick, Told

# From .1 to 2 it makes no difference that can be seen: the rate adapts.
FIRST_RATE = 0.5
# The guard's share of the rounds in the beginning. With 1/1000, tables in random order lose .02.
FIRST_SHARE = 1.0 / 32.0
# Costs paid exceed the guard's by more than the test's bound with probability exp(-DOUBT), were
# the variance known and the test made once. With 3, no recorded table has another score.
DOUBT = 6.0


class GuardState(NamedTuple):
    """costs: cumulative estimated costs; slack: Δ of the module.

    share: the probability that the last arm gives way to the guard's leader.
    excess, variance: by how much the costs paid exceed the guard's own since the share changed,
        and a bound on that sum's variance.
    """

    costs: Annotated[FloatArray, sums(-1)]
    slack: Annotated[FloatArray, sums()]
    share: Annotated[FloatArray, counts()]
    excess: Annotated[FloatArray, sums()]
    variance: Annotated[FloatArray, sums()]

    def check(self) -> None:
        """Refuse what no game leads to."""
        shared = np.all((self.share > 0.0) & (self.share <= 1.0))
        if not shared or np.any(self.slack <= 0.0) or np.any(self.variance < 0.0):
            raise PickbestError(
                "guard: share must be above 0 and at most 1, slack above 0, variance at least 0"
            )


def start_guard(replicates: int, n_arms: int) -> GuardState:
    """Nothing seen yet; the slack is that of the first rate."""
    return GuardState(
        costs=np.zeros((replicates, n_arms)),
        slack=np.full(replicates, (1.0 + math.log(n_arms)) / FIRST_RATE),
        share=np.full(replicates, FIRST_SHARE),
        excess=np.zeros(replicates),
        variance=np.zeros(replicates),
    )


@kernel
def rate_of(n_arms: int, slack: float) -> float:
    """η of the next round. E[the largest of N Exp(1) draws] is at most 1 + ln N."""
    return (1.0 + math.log(n_arms)) / slack


@kernel
def spread_leader(costs: FloatArray, rate: float, spread: FloatArray) -> float:
    """spread[a] = h_a at rate η (see `kernels.leaders`); returns the smallest of them."""
    lowest, least = np.inf, np.inf
    for a in range(costs.shape[0]):
        lowest = min(lowest, rate * costs[a])
    base = np.floor(lowest / BLOCK) * BLOCK
    for a in range(costs.shape[0]):
        spread[a] = exp_or_inf(rate * costs[a] - base)
        least = min(least, spread[a])
    return least


def many_arms(n_arms: int) -> bool | None:
    """What `first_probability` must be told of the number of arms: None where they are few.

    None is a type of its own to the compiler, which then leaves the integrals for many arms
    out: they take longer to compile than all the rest.
    """
    return True if n_arms > FEW_ARMS else None


@allocating
def first_probability(spread: FloatArray, least: float, arm: int, many: bool | None) -> float:
    """P(the arm is the first leader); least is the smallest of spread, many: see `many_arms`.

    w ∫_0^1 Π (1 - z w_b) dz over the other arms b, with w = least / spread: a polynomial in z,
    for which Gauss-Legendre nodes are exact.
    """
    n_arms = spread.shape[0]
    if not spread[arm] < np.inf:
        return 0.0
    if many is not None:
        one, out = np.empty(1, np.int64), np.empty(1)
        one[0] = arm
        inclusion_probabilities(spread, one, out)
        return float(out[0])
    chunks = (n_arms - 1) // (2 * LANES) + 1
    total = 0.0
    for chunk in range(chunks):
        first = chunk * LANES
        a, b, c, d = 1.0, 1.0, 1.0, 1.0
        for other in range(n_arms):
            weight = least / spread[other] if other != arm else 0.0
            a *= 1.0 - NODES[chunks, first] * weight
            b *= 1.0 - NODES[chunks, first + 1] * weight
            c *= 1.0 - NODES[chunks, first + 2] * weight
            d *= 1.0 - NODES[chunks, first + 3] * weight
        total += a * NODE_WEIGHTS[chunks, first] + b * NODE_WEIGHTS[chunks, first + 1]
        total += c * NODE_WEIGHTS[chunks, first + 2] + d * NODE_WEIGHTS[chunks, first + 3]
    return float(min(1.0, total * least / spread[arm]))


@inlined
def guard_last(
    guard: GuardState, row: int, many: bool | None, spread: FloatArray, pick: Pick
) -> None:
    """Let the last arm of C give way to the guard's leader at times; fills pick.weights.

    many: see `many_arms`. spread: scratch of length n_arms.
    """
    key, arms, weights = pick.key, pick.arms, pick.weights
    rate = rate_of(spread.shape[0], guard.slack[row])
    least = spread_leader(guard.costs[row], rate, spread)
    last, share = arms.shape[0] - 1, guard.share[row]
    counter = slot_key(key, 2) + STEP
    yields = uniform_at(counter) < share
    leader, lowest = 0, np.inf
    for a in range(spread.shape[0]):
        counter += STEP
        value = uniform_at(counter) * spread[a]
        if value < lowest:
            leader, lowest = a, value
    for j in range(last + 1):
        yields = yields and arms[j] != leader
        weights[j] = 1.0
    certain, first = 1.0 - share, 0
    if yields:
        arms[last] = leader
        certain, first = 0.0, last
    # P(the guard's leader is what the last place now has, or any arm of C if that is C's).
    inside = 0.0
    for j in range(first, last + 1):
        inside += first_probability(spread, least, arms[j], many)
    weights[last] = 1.0 / (certain + share * min(inside, 1.0))


@inlined
def learn_guard(
    guard: GuardState, row: int, many: bool | None, spread: FloatArray, told: Told
) -> None:
    """Add the weighted costs, and hold what was paid against what the guard would have paid."""
    arms, weights, seen = told.arms, told.weights, told.costs
    rate = rate_of(spread.shape[0], guard.slack[row])
    least = spread_leader(guard.costs[row], rate, spread)
    own, certain, lowest = 0.0, 0.0, 1.0
    for j in range(arms.shape[0]):
        chance = first_probability(spread, least, arms[j], many)
        cost = weights[j] * seen[j]
        own += chance * cost
        guard.slack[row] += chance * cost * -math.expm1(-rate * cost)  # δ of the module
        guard.costs[row, arms[j]] += cost
        lowest = min(lowest, seen[j])
        if j < arms.shape[0] - 1:
            certain += chance
    share = guard.share[row]
    if share >= 1.0:
        return
    guard.excess[row] += lowest - own
    guard.variance[row] += told.spread * (1.0 + max(1.0 - certain, 0.0) / share)
    chance = math.sqrt(2.0 * DOUBT * guard.variance[row]) + DOUBT / (3.0 * share)
    if guard.excess[row] > chance:
        guard.share[row] = min(2.0 * share, 1.0)
        guard.excess[row] = guard.variance[row] = 0.0
