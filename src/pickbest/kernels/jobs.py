"""Monotone submodular jobs, round by round and in whole games of OG and OG_hybrid.

A job is a weighted sum over items, and a schedule is known by one number per item, its summary:

    MAX   the best entry that a pulled arm has for the item: best-of, coverage, facility
          location, time to solve
    MISS  the probability that every pulled arm failed on the item: probabilistic coverage

Entries are (n_items, n_arms), in [0, 1]; weights are (n_items,) and add up to at most 1.
"""

from __future__ import annotations

import math

import numpy as np

from pickbest.core import (
    BoolArray,
    FloatArray,
    IntArray,
    KeyArray,
)
from pickbest.kernels.adahedge import adaptive_rate, mixability_gap
from pickbest.kernels.compiled import kernel
from pickbest.kernels.inclusion import inclusion_probabilities
from pickbest.kernels.leaders import decayed, fill_spread, pick_row
from pickbest.kernels.random import STEP, round_key, slot_key, uniform_at
from pickbest.kernels.softmax import draw_share, fill_shares

MAX, MISS = 0, 1
# The part of a round's randomness that the coins of durations come from (`Draws.child`).
COINS = 1 << 20


@kernel
def gain_of(
    kind: int, entries: FloatArray, arm: int, weights: FloatArray, summary: FloatArray
) -> float:
    """What an arm adds to a schedule with this summary."""
    total = 0.0
    for i in range(entries.shape[0]):
        if kind == MAX:
            better = entries[i, arm] - summary[i]
            total += weights[i] * (better if better > 0.0 else 0.0)
        else:
            total += weights[i] * summary[i] * entries[i, arm]
    # Weights add up to 1 but for rounding; a gain is never more.
    return min(total, 1.0)


@kernel
def all_gains(
    kind: int, entries: FloatArray, weights: FloatArray, summary: FloatArray, out: FloatArray
) -> None:
    """out[a] = gain_of arm a, to the last bit.

    Items are the outer loop, so the inner one has no sum that runs through it and uses the
    processor's vector units; items from which nothing can be gained are left out.
    """
    out[:] = 0.0
    for i in range(entries.shape[0]):
        row = entries[i]
        if kind == MAX:
            weight, best = weights[i], summary[i]
            if weight > 0.0 and best < 1.0:
                for a in range(row.shape[0]):
                    better = row[a] - best
                    out[a] += weight * (better if better > 0.0 else 0.0)
        else:
            weight = weights[i] * summary[i]
            if weight > 0.0:
                for a in range(row.shape[0]):
                    out[a] += weight * row[a]
    for a in range(out.shape[0]):
        out[a] = min(out[a], 1.0)


@kernel
def extend(kind: int, entries: FloatArray, arm: int, summary: FloatArray) -> None:
    """The summary with one more arm."""
    for i in range(entries.shape[0]):
        if kind == MAX:
            summary[i] = max(summary[i], entries[i, arm])
        else:
            summary[i] *= 1.0 - entries[i, arm]


@kernel
def value_of(kind: int, weights: FloatArray, summary: FloatArray) -> float:
    """The job's value of a schedule with this summary."""
    total = 0.0
    for i in range(weights.shape[0]):
        total += weights[i] * (summary[i] if kind == MAX else 1.0 - summary[i])
    return min(total, 1.0)


@kernel
def fill_values(kind: int, weights: FloatArray, summary: FloatArray, out: FloatArray) -> None:
    """out[r] = value of replicate r's schedule; weights are (replicates or 1, n_items)."""
    for r in range(out.shape[0]):
        out[r] = value_of(kind, weights[r if weights.shape[0] > 1 else 0], summary[r])


@kernel
def fill_gains(
    kind: int,
    entries: FloatArray,
    weights: FloatArray,
    summary: FloatArray,
    arms: IntArray,
    out: FloatArray,
) -> None:
    """out[r, j] = gain of arm arms[r, j], 0 for arm -1; of arm j where arms has no columns.

    entries are (replicates or 1, n_items, n_arms), weights (replicates or 1, n_items).
    """
    for r in range(out.shape[0]):
        own = entries[r if entries.shape[0] > 1 else 0]
        weight = weights[r if weights.shape[0] > 1 else 0]
        if arms.shape[1] == 0:
            all_gains(kind, own, weight, summary[r], out[r])
        for j in range(arms.shape[1]):
            arm = arms[r, j]
            out[r, j] = gain_of(kind, own, arm, weight, summary[r]) if arm >= 0 else 0.0


@kernel
def extend_all(
    kind: int, entries: FloatArray, arms: IntArray, kept: BoolArray, summary: FloatArray
) -> None:
    """Every replicate's summary with its arm, where the arm is kept."""
    for r in range(summary.shape[0]):
        if kept[r]:
            extend(kind, entries[r if entries.shape[0] > 1 else 0], arms[r], summary[r])


@kernel
def fill_inclusions(
    costs: FloatArray, epsilon: FloatArray, budget: int, arms: IntArray, out: FloatArray
) -> None:
    """out[r, j] = P(FPML with these cumulative costs picks arm arms[r, j])."""
    n_arms = costs.shape[1]
    group = np.empty(budget, np.int64)
    chances = np.empty(budget)
    spread = np.empty(n_arms)
    for r in range(arms.shape[0]):
        fill_spread(costs[r], np.empty(0, np.bool_), epsilon[r], group, chances, spread)
        for j in range(arms.shape[1]):
            # The kernel wants as many distinct arms as the budget: the others are idle.
            group[0] = arms[r, j]
            for i in range(1, budget):
                group[i] = i - 1 if i - 1 < arms[r, j] else i
            inclusion_probabilities(spread, group, chances)
            out[r, j] = chances[0]


@kernel
def play_jobs(
    scores: FloatArray,
    learned: IntArray,
    gaps: FloatArray,
    kind: int,
    entries: FloatArray,
    item_weights: FloatArray,
    durations: IntArray,
    lasting: KeyArray,
    first_round: int,
    leaders: bool,
    adaptive: bool,
    rate: float,
    decay: float,
    fresh: bool,
    source: int,
    cap: int,
    probability: float,
    mixing: float,
    implicit: float,
    full: bool,
    fed_gains: bool,
    distinct: bool,
    hard_budget: int,
    budget: int,
    values: FloatArray,
    lengths: IntArray,
) -> None:
    """Whole games of OG (Algorithm 3) or OG_hybrid (Algorithm 2), as `submodular.OnlineGreedy`.

    scores is (slots, replicates, n_arms): costs where the slots are FPML (leaders), gains
    where they are Hedge, Exp3, Exp3-IX, or AdaHedge (adaptive), which alone has gaps.
    entries is (replicates or 1, rounds or 1, n_items, n_arms), item_weights (replicates or 1,
    rounds or 1, n_items); budget is that of a slot; hard_budget is 0 where there is none;
    values and lengths (replicates, rounds) are filled.
    """
    slots, replicates, n_arms = scores.shape
    n_items = entries.shape[2]
    pulled = slots * budget
    arms = np.empty((slots, budget), np.int64)
    weights = np.empty((slots, budget))
    kept = np.empty(slots, np.bool_)
    in_prefix = np.empty(pulled, np.bool_)
    best = np.empty(n_arms)
    spread = np.empty(n_arms)
    noisy = np.empty(n_arms)
    costs = np.empty(n_arms)
    exponentials = np.empty((slots, n_arms))
    bases = np.empty(slots)
    prefix = np.empty(n_items)
    whole = np.empty(n_items)
    taken = np.zeros(n_arms if distinct and slots > 1 else 0, np.bool_)
    for r in range(replicates):
        # What is seen of pulled arms only changes few scores: exponentials of the others stay.
        bases[:] = np.nan
        jobs = entries[r if entries.shape[0] > 1 else 0]
        shares = item_weights[r if item_weights.shape[0] > 1 else 0]
        for t in range(values.shape[1]):
            job = jobs[t if jobs.shape[0] > 1 else 0]
            share = shares[t if shares.shape[0] > 1 else 0]
            key = round_key(lasting[r], first_round + t)
            coins = slot_key(key, COINS)
            taken[:] = False
            used = 0
            for slot in range(slots):
                own_key = slot_key(key if fresh else lasting[r], slot)
                if leaders:
                    pick_row(
                        scores[slot, r],
                        taken,
                        decayed(rate, decay, learned[slot, r]),
                        own_key,
                        source,
                        cap,
                        probability,
                        arms[slot],
                        weights[slot],
                        best,
                        spread,
                        noisy,
                    )
                else:
                    own_rate = adaptive_rate(gaps[slot, r], n_arms) if adaptive else rate
                    if full:
                        bases[slot] = np.nan
                    bases[slot] = fill_shares(
                        scores[slot, r], taken, own_rate, bases[slot], exponentials[slot]
                    )
                    arms[slot, 0], weights[slot, 0] = draw_share(
                        exponentials[slot], taken, mixing, implicit, own_key
                    )
                coins += STEP
                duration = durations[arms[slot, 0]]
                kept[slot] = uniform_at(coins) * duration < 1.0
                if hard_budget > 0 and used + duration > hard_budget:
                    kept[slot] = False
                if kept[slot]:
                    for j in range(budget):
                        used += durations[arms[slot, j]]
                        if taken.shape[0] > 0:
                            taken[arms[slot, j]] = True
            lengths[r, t] = used

            prefix[:] = 0.0 if kind == MAX else 1.0
            whole[:] = prefix
            in_prefix[:] = False
            for slot in range(slots):
                own = scores[slot, r]
                if full:
                    all_gains(kind, job, share, prefix, costs)
                    for a in range(n_arms):
                        costs[a] = 1.0 - costs[a] / durations[a]
                    if adaptive:
                        own_rate = adaptive_rate(gaps[slot, r], n_arms)
                        gaps[slot, r] += mixability_gap(own, own_rate, costs)
                    for a in range(n_arms):
                        own[a] += costs[a] if leaders else -costs[a]
                # Algorithm 2: the prefix grows by the best arm of each slot. An arm that an
                # earlier slot pulled, but that is not in the prefix, may be the best as well.
                best_gain = -1.0
                best_at = -1
                for j in range(budget):
                    gain = gain_of(kind, job, arms[slot, j], share, prefix) if kept[slot] else 0.0
                    if kept[slot] and gain > best_gain:
                        best_gain, best_at = gain, slot * budget + j
                    if not full:
                        weight = weights[slot, j]
                        if fed_gains:
                            own[arms[slot, j]] += weight * (1.0 - (1.0 - gain))
                        else:
                            estimate = weight * (1.0 - gain)
                            own[arms[slot, j]] += estimate if leaders else -estimate
                if distinct:
                    for k in range(slot * budget):
                        arm = arms[k // budget, k % budget]
                        if not kept[k // budget] or (full and in_prefix[k]):
                            continue
                        gain = gain_of(kind, job, arm, share, prefix)
                        if not in_prefix[k] and gain > best_gain:
                            best_gain, best_at = gain, k
                        if not full:
                            cost = 1.0 - gain / durations[arm]
                            if fed_gains:
                                own[arm] += 1.0 - cost
                            else:
                                own[arm] += cost if leaders else -cost
                if not full and not leaders:
                    for k in range((slot + 1) * budget if distinct else budget):
                        arm = arms[k // budget, 0] if distinct else arms[slot, k]
                        exponentials[slot, arm] = math.exp(rate * own[arm] - bases[slot])
                learned[slot, r] += 1
                if best_at >= 0:
                    in_prefix[best_at] = True
                    extend(kind, job, arms[best_at // budget, best_at % budget], prefix)
                if kept[slot]:
                    for j in range(budget):
                        extend(kind, job, arms[slot, j], whole)
            values[r, t] = value_of(kind, share, whole)
