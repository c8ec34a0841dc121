"""Which budget reaches which regret, from Theorem 2 and the comments after it."""

from __future__ import annotations

import math

from pickbest.core import PickbestError, check_count, check_positive
from pickbest.theory._checks import leader_factor
from pickbest.theory.leaders import fpml_regret_bound


def budget_for_regret(*, n_arms: int, rounds: int, regret: float) -> int:
    """The smallest budget at which Theorem 2 promises at most this expected regret.

    >>> budget_for_regret(n_arms=100, rounds=10_000, regret=50.0)
    5
    """
    check_count("n_arms", n_arms)
    check_count("rounds", rounds)
    check_positive("regret", regret)
    for budget in range(1, n_arms + 1):
        if fpml_regret_bound(n_arms=n_arms, budget=budget, rounds=rounds) <= regret:
            return budget
    raise PickbestError(
        f"no budget up to n_arms={n_arms} has a bound of {regret:g} or less over {rounds} rounds; "
        "ask for more regret (picking every arm has none)"
    )


def constant_regret_budget(rounds: int) -> int:
    """The budget from which regret no longer grows with T: ceil(ln T), at least 1.

    Section 2, "Comments on settings of parameters": then T^(1/(B+1)) ≤ e. The regret is at
    most `constant_regret_bound`. It may exceed the number of arms.

    >>> constant_regret_budget(368)
    6
    """
    return max(1, math.ceil(math.log(check_count("rounds", rounds))))


def constant_regret_bound(n_arms: int) -> float:
    """Theorem 2 for a budget of at least ln T: at most 2e (1 + ln N), whatever T is.

    >>> round(constant_regret_bound(9), 2)
    17.38
    """
    return 2.0 * math.e * leader_factor(check_count("n_arms", n_arms))
