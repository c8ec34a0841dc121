"""Complementary sets behind a guard: what `learners.auto` picks and learns.

The set of `kernels.pairs` is the proposal C: its first half (rounded down) comes from the anchor,
which remembers everything, the rest from the memory that has predicted best lately. So it
follows the latest problems, and is insured against the next.

With probability `share`, the last arm of C gives way to the leader f of an FPML with one arm (the
guard), unless f is in C. Given C, the arms before the last are certain, the last one stays with
probability 1 - share + share P(f in C), and any other arm comes with share · P(f is that arm):
so all weights are exact, and the guard's estimates are unbiased whatever the proposals are.

The guard's own expected cost is known the same way. Where the costs paid exceed its sum by more
than chance explains, the share doubles; at 1 the guard's arm is always among those picked.
"""

from __future__ import annotations

import math

import numpy as np

from pickbest.core import FloatArray, IntArray, KeyArray
from pickbest.kernels.compiled import kernel
from pickbest.kernels.first_leader import first_probability, first_slack, rate_of, shortfall
from pickbest.kernels.leaders import fill_spread
from pickbest.kernels.pairs import build_set, learn_set, memory_in_use, share_of_arms
from pickbest.kernels.random import STEP, round_key, slot_key, uniform_at
from pickbest.kernels.wear import watch_wear, wears_off

# The guard of one replicate: its slack (see kernels.adaptive), its share of the rounds, by how
# much the costs paid exceed its own since the share changed, and a bound on that sum's variance.
SLACK, SHARE, EXCESS, VARIANCE, GUARD = 0, 1, 2, 3, 4
FIRST_SHARE = 1.0 / 32.0
# Chance stays below the test's bound with probability 1 - exp(-DOUBT) (Freedman 1975).
DOUBT = 6.0


@kernel
def start_guard(guard: FloatArray, n_arms: int) -> None:
    """What `guard` holds before the first round."""
    guard[SLACK], guard[SHARE] = first_slack(n_arms), FIRST_SHARE
    guard[EXCESS] = guard[VARIANCE] = 0.0


@kernel
def pick_row(
    arms: FloatArray,
    pairs: FloatArray,
    memory: FloatArray,
    wear: FloatArray,
    costs: FloatArray,
    guard: FloatArray,
    key: np.uint64,
    chosen: IntArray,
    weights: FloatArray,
    scratch: FloatArray,
) -> None:
    """The pick of one replicate; scratch is (2, n_arms)."""
    n_arms, last = costs.shape[0], chosen.shape[0] - 1
    _propose(arms, pairs, memory, wears_off(wear, last + 1), key, chosen, scratch[0])
    spread = scratch[1]
    rate = rate_of(n_arms, guard[SLACK])
    fill_spread(costs, np.zeros(0, np.bool_), rate, chosen[:1], scratch[0], spread)
    least = spread.min()
    counter = slot_key(key, 2) + STEP
    takes = uniform_at(counter) < guard[SHARE]
    leader, lowest = 0, np.inf
    for a in range(n_arms):
        counter += STEP
        value = uniform_at(counter) * spread[a]
        if value < lowest:
            leader, lowest = a, value
    among = False
    for j in range(last + 1):
        among = among or chosen[j] == leader
        weights[j] = 1.0
    share = guard[SHARE]
    if takes and not among:
        chosen[last] = leader
        weights[last] = 1.0 / (share * first_probability(spread, least, leader))
        return
    inside = 0.0
    for j in range(last + 1):
        inside += first_probability(spread, least, chosen[j])
    weights[last] = 1.0 / (1.0 - share + share * min(inside, 1.0))


@kernel
def _propose(
    arms: FloatArray,
    pairs: FloatArray,
    memory: FloatArray,
    flat: bool,
    key: np.uint64,
    chosen: IntArray,
    scores: FloatArray,
) -> None:
    """The set C; its first arms are the anchor's."""
    budget, anchor = chosen.shape[0], arms.shape[0] - 1
    used = memory_in_use(memory, share_of_arms(budget, arms.shape[2]))
    kept = 0 if flat else budget // 2
    if kept > 0:
        own = slot_key(key, 3)
        build_set(arms[anchor], pairs[anchor], memory[anchor], False, 0, kept, own, chosen, scores)
    build_set(arms[used], pairs[used], memory[used], flat, kept, budget, key, chosen, scores)


@kernel
def learn_row(
    arms: FloatArray,
    pairs: FloatArray,
    memory: FloatArray,
    wear: FloatArray,
    use: FloatArray,
    costs: FloatArray,
    guard: FloatArray,
    discounts: FloatArray,
    chosen: IntArray,
    weights: FloatArray,
    seen: FloatArray,
    scratch: FloatArray,
) -> float:
    """Fold a round into one replicate; returns the smallest cost."""
    spread = scratch[1]
    rate = rate_of(costs.shape[0], guard[SLACK])
    fill_spread(costs, np.zeros(0, np.bool_), rate, chosen[:1], scratch[0], spread)
    least = spread.min()
    own, certain, lowest = 0.0, 0.0, 1.0
    for j in range(chosen.shape[0]):
        chance = first_probability(spread, least, chosen[j])
        cost = weights[j] * seen[j]
        own += chance * cost
        guard[SLACK] += shortfall(chance, cost, rate)
        costs[chosen[j]] += cost
        lowest = min(lowest, seen[j])
        if j < chosen.shape[0] - 1:
            certain += chance
    _compare(guard, lowest - own, max(1.0 - certain, 0.0))
    watch_wear(wear, use, arms[0], chosen, seen)
    learn_set(arms, pairs, memory, discounts, chosen, seen)
    return lowest


@kernel
def _compare(guard: FloatArray, excess: float, uncertain: float) -> None:
    """Double the guard's share where the costs paid exceed its own beyond chance."""
    share = guard[SHARE]
    if share >= 1.0:
        return
    guard[EXCESS] += excess
    guard[VARIANCE] += 1.0 + uncertain / share
    if guard[EXCESS] > math.sqrt(2.0 * DOUBT * guard[VARIANCE]) + DOUBT / (3.0 * share):
        guard[SHARE] = min(2.0 * share, 1.0)
        guard[EXCESS] = guard[VARIANCE] = 0.0


@kernel
def pick_auto(
    arms: FloatArray,
    pairs: FloatArray,
    memory: FloatArray,
    wear: FloatArray,
    costs: FloatArray,
    guard: FloatArray,
    keys: KeyArray,
    chosen: IntArray,
    weights: FloatArray,
) -> None:
    """pick_row for every replicate."""
    scratch = np.empty((2, costs.shape[1]))
    for r in range(costs.shape[0]):
        pick_row(
            arms[r],
            pairs[r],
            memory[r],
            wear[r],
            costs[r],
            guard[r],
            keys[r],
            chosen[r],
            weights[r],
            scratch,
        )


@kernel
def learn_auto(
    arms: FloatArray,
    pairs: FloatArray,
    memory: FloatArray,
    wear: FloatArray,
    use: FloatArray,
    costs: FloatArray,
    guard: FloatArray,
    discounts: FloatArray,
    chosen: IntArray,
    weights: FloatArray,
    seen: FloatArray,
) -> None:
    """learn_row for every replicate."""
    scratch = np.empty((2, costs.shape[1]))
    for r in range(costs.shape[0]):
        learn_row(
            arms[r],
            pairs[r],
            memory[r],
            wear[r],
            use[r],
            costs[r],
            guard[r],
            discounts,
            chosen[r],
            weights[r],
            seen[r],
            scratch,
        )


@kernel
def play_auto(
    arms: FloatArray,
    pairs: FloatArray,
    memory: FloatArray,
    wear: FloatArray,
    use: FloatArray,
    costs: FloatArray,
    guard: FloatArray,
    discounts: FloatArray,
    table: FloatArray,
    lasting: KeyArray,
    first_round: int,
    budget: int,
    paid: FloatArray,
) -> None:
    """Whole games, equal bit for bit to picking and learning round by round."""
    scratch = np.empty((2, costs.shape[1]))
    chosen, weights, seen = np.empty(budget, np.int64), np.empty(budget), np.empty(budget)
    for r in range(costs.shape[0]):
        game = table[r if table.shape[0] > 1 else 0]
        for t in range(game.shape[0]):
            key = round_key(lasting[r], first_round + t)
            pick_row(
                arms[r],
                pairs[r],
                memory[r],
                wear[r],
                costs[r],
                guard[r],
                key,
                chosen,
                weights,
                scratch,
            )
            for j in range(budget):
                seen[j] = game[t, chosen[j]]
            paid[r, t] = learn_row(
                arms[r],
                pairs[r],
                memory[r],
                wear[r],
                use[r],
                costs[r],
                guard[r],
                discounts,
                chosen,
                weights,
                seen,
                scratch,
            )
