"""The bound of `auto`: docs/learners.md derives it."""

import math

from pickbest.core import check_budget, check_count
from pickbest.theory.common import leader_factor

# Those of learners.auto.guard: the tests compare them.
FIRST_RATE, FIRST_SHARE, DOUBT = 0.5, 1.0 / 32.0, 6.0


def auto_bound(*, n_arms: int, rounds: int) -> float:
    """Ours. Auto: expected regret against the best arm, for any budget and any costs in [0, 1] that
    are fixed in advance (an oblivious adversary).

    2 Δ for the guard, which sees its own arm with a probability of at least its share (at first
    1/32); and for each share below 1 what the costs paid may exceed the guard's before the
    share doubles.

    >>> round(auto_bound(n_arms=10, rounds=1_000_000))
    150608
    """
    check_count("rounds", rounds)
    check_budget(1, n_arms)
    total = 2.0 * _slack(n_arms, rounds * (1.0 + n_arms / FIRST_SHARE), 1.0 + 1.0 / FIRST_SHARE)
    share = FIRST_SHARE
    while share < 1.0:
        variance = rounds * (1.0 + 1.0 / share)
        total += math.sqrt(2.0 * DOUBT * variance) + DOUBT / (3.0 * share) + 1.0
        share *= 2.0
    return total


def _slack(n_arms: int, variance: float, largest: float) -> float:
    factor = leader_factor(n_arms)
    root = (factor / FIRST_RATE) ** 2 + 2.0 * factor * variance
    return math.sqrt(root) + largest
