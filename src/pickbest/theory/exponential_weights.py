"""Tunings and bounds of the learners with weights: Hedge, Exp3 and the guard of `auto`.

One arm is tuned as if it were two, and probabilities are at most 1. The
bounds are for costs that are fixed in advance.
"""

import math

from pickbest.core import check_budget, check_count, check_positive
from pickbest.theory.common import leader_factor, tuning_log


def hedge_rate(*, n_arms: int, rounds: int) -> float:
    """Hedge's learning rate for costs in [0, 1]: sqrt(8 ln N / T).

    >>> round(hedge_rate(n_arms=9, rounds=368), 4)
    0.2186
    """
    return math.sqrt(8.0 * tuning_log(n_arms) / check_count("rounds", rounds))


def og_hedge_rate(*, n_arms: int, budget: int, rounds: int) -> float:
    """The rate of every Hedge in OG with B slots: min(1, sqrt(B ln N / ((e - 2) T))).

    It uses that the gains of the slots add up to at most 1 in a round, and minimises
    `og_hedge_regret_bound`; better than `hedge_rate` in every slot from B = 6 on.

    >>> round(og_hedge_rate(n_arms=9, budget=4, rounds=368), 4)
    0.1823
    """
    check_count("budget", budget)
    check_count("rounds", rounds)
    return min(1.0, math.sqrt(budget * tuning_log(n_arms) / ((math.e - 2.0) * rounds)))


def exp3_gamma(*, n_arms: int, rounds: int, gain_bound: float | None = None) -> float:
    """Exp3's gamma by Auer et al. (2002, Corollary 3.2): min(1, sqrt(N ln N / ((e - 1) g))).

    g bounds the total gain of the best arm; `rounds` if left out.

    >>> round(exp3_gamma(n_arms=9, rounds=368), 4)
    0.1768
    """
    check_count("rounds", rounds)
    gain = float(rounds) if gain_bound is None else check_positive("gain_bound", gain_bound)
    return min(1.0, math.sqrt(n_arms * tuning_log(n_arms) / ((math.e - 1.0) * gain)))


def exp3_gamma_as_written(*, n_arms: int, rounds: int) -> float:
    """Exp3's gamma as the paper's experiments meant it: Auer et al.'s with g = 2T/3.

    >>> round(exp3_gamma_as_written(n_arms=9, rounds=368), 3)
    0.217
    """
    check_count("rounds", rounds)
    return exp3_gamma(n_arms=n_arms, rounds=rounds, gain_bound=2.0 * rounds / 3.0)


def exp3_gamma_as_run(*, n_arms: int, rounds: int) -> float:
    """Exp3's gamma that gives the paper's tables: sqrt(N ln N) / ((2/3) T (e - 1)).

    A slip (the root closes too early), which makes OG nearly uniform; kept to reproduce it.

    >>> round(exp3_gamma_as_run(n_arms=9, rounds=368), 4)
    0.0105
    """
    gain = 2.0 * check_count("rounds", rounds) / 3.0
    return min(1.0, math.sqrt(n_arms * tuning_log(n_arms)) / (gain * (math.e - 1.0)))


# Those of learners.auto.guard, which its tests compare with these.
FIRST_RATE, FIRST_SHARE, DOUBT = 0.5, 1.0 / 32.0, 6.0


def auto_bound(*, n_arms: int, rounds: int) -> float:
    """Auto's expected regret against the best arm, for any budget and any costs in [0, 1] that are
    fixed in advance (an oblivious adversary).

    Ours; docs/learners.md derives it. 2 Δ for the guard, which sees its own arm with a probability
    of at least its share (at first 1/32); and for each share below 1 what the costs paid may exceed
    the guard's before the share doubles.

    >>> round(auto_bound(n_arms=10, rounds=1_000_000))
    150608
    """
    check_count("rounds", rounds)
    check_budget(1, n_arms)
    factor, variance = leader_factor(n_arms), rounds * (1.0 + n_arms / FIRST_SHARE)
    total = 2.0 * math.sqrt((factor / FIRST_RATE) ** 2 + 2.0 * factor * variance)
    total += 2.0 * (1.0 + 1.0 / FIRST_SHARE)
    share = FIRST_SHARE
    while share < 1.0:
        variance = rounds * (1.0 + 1.0 / share)
        total += math.sqrt(2.0 * DOUBT * variance) + DOUBT / (3.0 * share) + 1.0
        share *= 2.0
    return total
