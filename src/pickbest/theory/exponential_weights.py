"""Tunings and bounds of the learners with weights: Hedge and Exp3.

As in `fpml_tunings`, one arm is tuned as if it were two, and probabilities are at most 1. The
bounds are for costs that are fixed in advance.
"""

import math

from pickbest.core import check_count, check_positive
from pickbest.theory.common import tuning_log


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


def exp3_regret_bound(*, n_arms: int, rounds: int, gain_bound: float | None = None) -> float:
    """Exp3's expected regret with `exp3_gamma`: 2 sqrt(e - 1) sqrt(g N ln N).

    >>> round(exp3_regret_bound(n_arms=9, rounds=368), 2)
    223.65
    """
    check_count("n_arms", n_arms)
    check_count("rounds", rounds)
    gain = float(rounds) if gain_bound is None else check_positive("gain_bound", gain_bound)
    return 2.0 * math.sqrt((math.e - 1.0) * gain * n_arms * math.log(n_arms))
