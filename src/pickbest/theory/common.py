"""Input checks and two small quantities that several statements share."""

import math

import numpy as np

from pickbest.core import PickbestError, check_count


def check_slot_budget(slot_budget: int, n_arms: int) -> int:
    """The budget of one slot is between 1 and the number of arms."""
    check_count("slot_budget", slot_budget)
    if slot_budget > check_count("n_arms", n_arms):
        raise PickbestError(
            f"slot_budget must be between 1 and n_arms={n_arms}, got {slot_budget!r}"
        )
    return int(slot_budget)


def leader_factor(n_arms: int) -> float:
    """1 + ln N, which bounds the expected maximum of N standard exponentials."""
    return 1.0 + math.log(n_arms)


def tuning_log(n_arms: int) -> float:
    """ln N, with one arm taken as two so that rates stay above 0."""
    return math.log(max(check_count("n_arms", n_arms), 2))


def harmonic_number(count: int) -> float:
    """H_n = 1 + 1/2 + … + 1/n: the expected maximum of n standard exponentials.

    >>> round(harmonic_number(4), 4)
    2.0833
    """
    count = check_count("count", count)
    if count <= 1000:
        return math.fsum(1.0 / k for k in range(1, count + 1))
    # Euler-Maclaurin; the next term is below 1e-20 here.
    correction = 1.0 / (2 * count) - 1.0 / (12 * count**2) + 1.0 / (120 * count**4)
    return math.log(count) + float(np.euler_gamma) + correction
