"""Compiled loops of the search for the best subset in hindsight.

Tables here are (n_arms, rounds), one row per arm, so that every sum over rounds reads memory in
order. `ceiling` is what a round costs at most because of arms that are already chosen.
"""

import functools

import numpy as np

from pickbest.core import FloatArray, IntArray
from pickbest.kernels.compiled import compiled, summing

# Chosen by trial on anticorrelated, sparse and uniform tables: 100 steps come within 1 % of
# the best bound.
PATIENCE = 4
SHRINK = 0.6
MOMENTUM = 0.7


@summing
def capped_sum(row: FloatArray, ceiling: FloatArray) -> float:
    total = 0.0
    for t in range(row.shape[0]):
        total += min(row[t], ceiling[t])
    return total


@compiled
def best_swap(table: FloatArray, arms: IntArray) -> tuple[float, int, int]:
    """The exchange that lowers the cost most: (change of cost, position in `arms`, new arm).

    One pass over the table, after Whitaker's fast interchange for the p-median problem.
    """
    n_arms, rounds = table.shape
    nearest = np.zeros(rounds, np.int64)
    first, second = np.full(rounds, np.inf), np.full(rounds, np.inf)
    chosen, loss = np.zeros(n_arms, np.bool_), np.empty(arms.shape[0])
    for j in range(arms.shape[0]):
        chosen[arms[j]] = True
        for t in range(rounds):
            cost = table[arms[j], t]
            if cost < first[t]:
                second[t] = first[t]
                first[t] = cost
                nearest[t] = j
            elif cost < second[t]:
                second[t] = cost
    best = (0.0, 0, int(arms[0]))
    for arm in range(n_arms):
        if chosen[arm]:
            continue
        for j in range(arms.shape[0]):
            loss[j] = 0.0
        gain = 0.0
        for t in range(rounds):
            cost = table[arm, t]
            if cost < first[t]:
                gain += first[t] - cost
            else:
                loss[nearest[t]] += min(cost, second[t]) - first[t]
        j = int(np.argmin(loss))
        if loss[j] - gain < best[0]:
            best = (loss[j] - gain, j, arm)
    return best


@compiled
def ascend(
    table: FloatArray,
    free: IntArray,
    picks: int,
    ceiling: FloatArray,
    prices: FloatArray,
    target: float,
    step: float,
    iterations: int,
    scores: FloatArray,
) -> tuple[float, float]:
    """Raise the Lagrangian lower bound on what `picks` of the free arms must cost.

    A round pays its price, or its ceiling if lower, and each picked arm refunds what it stays
    below the price:  L(prices) = Σ_t price_t + the `picks` smallest of
    score_a = Σ_t min(0, cost_ta - price_t),  which no choice of arms undercuts. Steps are
    Polyak's towards `target`, along subgradients with momentum.

    Overwrites `prices` with the best ones met and `scores` with the free arms' scores there;
    returns their bound and the step length reached.
    """
    n_free, rounds = free.shape[0], prices.shape[0]
    price = np.empty(rounds)
    for t in range(rounds):
        price[t] = min(prices[t], ceiling[t])
    direction = np.zeros(rounds)
    surplus = np.empty(rounds)
    score = np.empty(n_free)
    picked = np.empty(picks, np.int64)
    best = -np.inf
    stalled = 0
    for _ in range(iterations):
        total = 0.0
        for t in range(rounds):
            total += price[t]
            surplus[t] = 1.0
        for i in range(n_free):
            score[i] = capped_sum(table[free[i]], price) - total
            if i >= picks and score[i] >= score[picked[picks - 1]]:
                continue
            j = min(i, picks - 1)
            while j > 0 and score[i] < score[picked[j - 1]]:
                picked[j] = picked[j - 1]
                j -= 1
            picked[j] = i
        bound = total
        for j in range(picks):
            bound += score[picked[j]]
            row = table[free[picked[j]]]
            for t in range(rounds):
                surplus[t] -= 1.0 if row[t] < price[t] else 0.0
        if bound > best:
            best = bound
            for t in range(rounds):
                prices[t] = price[t]
            for i in range(n_free):
                scores[i] = score[i]
            stalled = 0
            if best >= target:
                break
        else:
            stalled += 1
            if stalled == PATIENCE:
                stalled = 0
                step *= SHRINK
        norm = 0.0
        for t in range(rounds):
            if surplus[t] > 0.0 and price[t] >= ceiling[t]:
                surplus[t] = 0.0
            direction[t] = surplus[t] + MOMENTUM * direction[t]
            norm += direction[t] * direction[t]
        if norm == 0.0:
            break
        length = step * (target - bound) / norm
        for t in range(rounds):
            price[t] = min(ceiling[t], price[t] + length * direction[t])
    return best, step


@compiled
def exhaust(
    table: FloatArray,
    free: IntArray,
    picks: int,
    ceiling: FloatArray,
    limit: float,
    found: IntArray,
) -> float:
    """The least cost below `limit` of any `picks` free arms, into `found`; else `limit`.

    Tries all of them, depth first, each level in order of descending gain. Gains only shrink
    as arms are added, so the next `left` gains bound what the rest of a level can reach.
    """
    n_free, rounds = free.shape[0], table.shape[1]
    # At every depth: costs so far, arms to try with their gains, and how far they were tried.
    minima, base = np.empty((picks, rounds)), np.zeros(picks)
    candidates, gains = np.empty((picks, n_free), np.int64), np.empty((picks, n_free))
    counts, places = np.empty(picks, np.int64), np.zeros(picks, np.int64)
    for t in range(rounds):
        minima[0, t] = ceiling[t]
        base[0] += ceiling[t]
    for i in range(n_free):
        candidates[0, i] = free[i]
        gains[0, i] = np.inf
    counts[0] = n_free
    depth = 0
    entering = True
    while depth >= 0:
        left, count = picks - depth, counts[depth]
        if entering and left == 1:
            for i in range(count):
                if base[depth] - gains[depth, i] >= limit:
                    break
                cost = capped_sum(table[candidates[depth, i]], minima[depth])
                if cost < limit:
                    limit = cost
                    found[depth] = candidates[depth, i]
                    for d in range(depth):
                        found[d] = candidates[d, places[d] - 1]
        elif entering:
            for i in range(count):
                arm = candidates[depth, i]
                gain = base[depth] - capped_sum(table[arm], minima[depth])
                j = i
                while j > 0 and gain > gains[depth, j - 1]:
                    gains[depth, j] = gains[depth, j - 1]
                    candidates[depth, j] = candidates[depth, j - 1]
                    j -= 1
                gains[depth, j] = gain
                candidates[depth, j] = arm
            places[depth] = 0
        i = places[depth]
        within_reach = base[depth]
        if left > 1 and i + left <= count:
            for j in range(i, i + left):
                within_reach -= gains[depth, j]
        else:
            within_reach = np.inf
        if within_reach >= limit:
            depth -= 1
            entering = False
            continue
        arm = candidates[depth, i]
        places[depth] = i + 1
        base[depth + 1] = base[depth] - gains[depth, i]
        counts[depth + 1] = count - i - 1
        for t in range(rounds):
            minima[depth + 1, t] = min(minima[depth, t], table[arm, t])
        for j in range(i + 1, count):
            gains[depth + 1, j - i - 1] = gains[depth, j]
            candidates[depth + 1, j - i - 1] = candidates[depth, j]
        depth += 1
        entering = True
    return limit


@functools.cache
def load() -> None:
    """Compile all kernels, or load them from disk, so that later calls can be timed."""
    table, arms, scores = np.eye(4), np.arange(4), np.empty(4)
    best_swap(table, arms[:2])
    exhaust(table, arms, 2, table[0], 1.0, arms[:2].copy())
    ascend(table, arms, 2, table[0], table[0].copy(), 1.0, 1.0, 1, scores)
