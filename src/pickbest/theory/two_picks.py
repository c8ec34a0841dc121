"""Regret that does not grow with time, for B ≥ 2: docs/two-picks.md has the proofs.

Hedge with the constant rate η_B, the positive root of e^η = 1 + B η, and B independent draws from
its law p has E[min of the draws] ≤ mix loss in every round. So its expected regret against arm a is
at most ln(1 / prior(a)) / η_B, for every number of rounds and every adversary, adaptive ones
included. The first B distinct draws, and FPML with Gumbel noise, which is drawing from p without
replacement, contain these draws and pay no more. Related: Bhaskara, Gollapudi, Im, Kollias and
Munagala, "Online Learning and Bandits with Queried Hints" (ITCS 2023).
"""

import math
from functools import cache

import numpy as np

from pickbest.core import PickbestError, check_budget, check_count, check_positive

# Arms, and sizes of nested sets, that `lower_bound_nested` looks at most.
MOST_NESTED, NESTED_SIZES = 10**6, 2_000
# Rounds that `lower_bound_spared` looks ahead at most: its states double with every one or two.
MOST_SPARED = 24


def root_of(slope: float) -> float:
    """The positive root of e^x = 1 + slope · x, slope > 1, by Newton's method from the right."""
    x = 2.0 * math.log(slope) + 1.0
    for _ in range(200):
        step = (math.expm1(x) - slope * x) / (math.exp(x) - slope)
        x -= step
        if abs(step) <= 1e-15 * x:
            break
    return x


def constant_rate(*, budget: int) -> float:
    """η_B: the largest rate at which E[min of B draws] ≤ mix loss for every law on [0, 1].

    >>> [round(constant_rate(budget=b), 4) for b in (2, 3, 4, 6)]
    [1.2564, 1.9038, 2.3367, 2.9183]
    """
    return root_of(float(several(budget)))


def hedge_bound(*, n_arms: int, budget: int, best: int = 1) -> float:
    """ln(N / best) / η_B: expected regret of B draws against the mean of the `best` best arms.

    It holds for every number of rounds, without tuning. best=1: against the best arm.

    >>> round(hedge_bound(n_arms=32, budget=2), 2)
    2.76
    """
    check_budget(several(budget), n_arms)
    check_budget(best, n_arms)
    return math.log(n_arms / best) / constant_rate(budget=budget)


def subset_bound(*, n_arms: int, budget: int, set_size: int) -> float:
    """ln C(N, k) / η_(B/k): expected regret against the best k-subset, with B/k draws of k-subsets.

    >>> round(subset_bound(n_arms=9, budget=6, set_size=3), 2)
    3.53
    """
    check_budget(budget, n_arms)
    if budget % check_count("set_size", set_size) or budget == set_size:
        raise PickbestError(f"budget must be set_size={set_size} times 2, 3, …, got {budget}")
    return math.log(math.comb(n_arms, set_size)) / constant_rate(budget=budget // set_size)


def tail_rate(*, budget: int, tail: float) -> float:
    """The largest η with E exp(tail · (min - mix loss)) ≤ 1 for every law on [0, 1].

    The positive root of tail (e^η - 1) / η = B (1 - e^-tail); tail must be below the root of
    tail = B (1 - e^-tail), at which it is 0.

    >>> round(tail_rate(budget=2, tail=0.5), 3)
    0.848
    """
    slope = -several(budget) * math.expm1(-check_positive("tail", tail)) / tail
    if slope <= 1.0:
        raise PickbestError(f"tail is too large for {budget} draws, got {tail!r}")
    return root_of(slope)


def tail_bound(*, n_arms: int, budget: int, doubt: float, tail: float | None = None) -> float:
    """With probability 1 - doubt the regret is below this for all numbers of rounds at once.

    ln N / η + ln(1 / doubt) / tail at the rate η = `tail_rate`, by Ville's inequality:
    exp(tail · Σ (paid - mix loss)) is a supermartingale. tail: None for the best of a thousand.

    >>> round(tail_bound(n_arms=10, budget=2, doubt=0.01), 2)
    9.45
    """
    check_budget(several(budget), n_arms)
    if not 0.0 < doubt < 1.0:
        raise PickbestError(f"doubt must be between 0 and 1, got {doubt!r}")
    tails = [tail] if tail is not None else np.linspace(0.0, budget, 1001)[1:].tolist()
    if tail is None:
        tails = [each for each in tails if -budget * math.expm1(-each) > 1.001 * each]
    return min(
        math.log(n_arms) / tail_rate(budget=budget, tail=each) - math.log(doubt) / each
        for each in tails
    )


def lower_bound_nested(*, n_arms: int, budget: int) -> float:
    """No learner has less worst-case regret against the best arm, at some number of rounds.

    Arms cost 0 in nested random sets S_1 ⊃ S_2 ⊃ …, else 1. Any B picks miss a random subset of m'
    of m arms with probability at least C(m - m', B) / C(m, B), and an arm of the last set never
    fails. The sizes that add up to most are found by a dynamic program over m. Of many sizes only
    some are tried, and arms beyond a million are left out, since they may always cost 1: that
    lowers the bound.

    >>> [round(lower_bound_nested(n_arms=512, budget=b), 2) for b in (2, 4, 10)]
    [2.46, 1.69, 1.21]
    """
    check_budget(budget, n_arms)
    n_arms = min(n_arms, MOST_NESTED)
    if budget >= n_arms:
        return 0.0
    sizes = np.unique(np.geomspace(1, n_arms, NESTED_SIZES).round().astype(np.int64))
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, n_arms + 1)))])
    values = np.zeros(len(sizes))
    for place in range(np.searchsorted(sizes, budget + 1), len(sizes)):
        smaller = sizes[: np.searchsorted(sizes, sizes[place] - budget, side="right")]
        left = sizes[place] - np.append(0, smaller)
        ways = logs[left] - logs[left - budget]
        values[place] = (np.exp(ways[1:] - ways[0]) + values[: len(smaller)]).max()
    # Sums of logarithms leave about nine digits.
    return round(float(values[-1]), 9)


def lower_bound_spared(*, n_arms: int, budget: int, rounds: int = 16) -> float:
    """No learner has less worst-case regret against the best arm after this many rounds.

    Each round one arm is spared, uniformly among the m that cost least so far; all others cost 1.
    Whatever was drawn, B picks miss it with probability at least (m - B)/m. So for cumulative costs
    s the regret still to come, with -min s for the best arm, is at least
    U(s) = max(-min s, max over m > B of (m - B)/m + mean over the m arms a of U(s + 1 - e_a)): the
    adversary chooses m, or lets nothing cost any more. Only how many arms stand at each cost
    matters. In games of up to five arms this is the minimax regret (studies/small_games.py); up to
    about a hundred arms it is above `lower_bound_nested`. rounds: at most 24, which takes seconds.

    >>> [round(lower_bound_spared(n_arms=32, budget=b), 2) for b in (2, 3, 4)]
    [1.71, 1.27, 1.03]
    """
    check_budget(budget, n_arms)
    if check_count("rounds", rounds) > MOST_SPARED:
        raise PickbestError(f"rounds must be at most {MOST_SPARED}, got {rounds}: take fewer")

    @cache
    def value(left: int, counts: tuple[int, ...]) -> float:
        best, total, among = 0.0, 0.0, 0
        for level, count in enumerate(counts if left else ()):
            after = spared(left - 1, counts, level)
            # Between the ends of a level the mean is monotone in m.
            for m in {among + count, max(among + 1, min(budget + 1, among + count))}:
                if m > budget:
                    best = max(best, (m - budget + total + (m - among) * after) / m)
            total, among = total + count * after, among + count
        return best

    def spared(left: int, counts: tuple[int, ...], level: int) -> float:
        """U where an arm of this level is spared, with the lowest cost before at 0."""
        later = [0, *counts]
        later[level], later[level + 1] = later[level] + 1, later[level + 1] - 1
        risen = next(place for place, count in enumerate(later) if count)
        near, far = later[risen : risen + left + 1], sum(later[risen + left + 1 :])
        # Arms that cannot catch up any more are all alike.
        return value(left, (*near, far) if far else tuple(near)) - risen

    return value(rounds, (n_arms,))


def several(budget: int) -> int:
    """One draw has no constant regret: it needs two."""
    return check_count("budget", budget, least=2)
