"""Regret against sets of arms: Proposition 7, and what is proved.

Proposition 7 is true for B = 1, but not for B ≥ 2 when a set costs its *smallest* cost. The
top set after a round minimises the sum of its arms' costs, not the sum of their minima, so
the step "the leader so far was no worse" of Lemma 3 is lost. It fails by a multiple of T:
arms 1 and 2 cost 0 and 1 in turn (so the pair always has a 0), arms 3 and 4 cost 0.4 in the
first half and 0.7 in the second. Arms 1 and 2 are the top two in hindsight and cost nothing
together; FPML rightly follows arms 3 and 4 for three quarters of the game and pays 0.375 T.
tests/theory/test_theory.py plays it.
"""

import math

from pickbest.core import check_budget, check_count, check_positive
from pickbest.theory.common import harmonic_number


def top_set_regret_bound_as_written(
    *, n_arms: int, budget: int, rounds: int, epsilon: float
) -> float:
    """Proposition 7 as printed: FPML's regret against the B arms with the smallest total cost.

    (1 - 1/B + ln(N/B))/epsilon + T (1 - e^(-epsilon B)). Full feedback. For B ≥ 2 it is not
    true of every cost sequence (see the head of this module); `top_mean_regret_bound` is.
    `top_set_epsilon` makes it at most 2 sqrt(T B (1 - 1/B + ln(N/B))).

    >>> bound = top_set_regret_bound_as_written(n_arms=9, budget=2, rounds=368, epsilon=0.05)
    >>> round(bound, 2)
    75.1
    """
    check_budget(budget, n_arms)
    check_count("rounds", rounds)
    check_positive("epsilon", epsilon)
    noise = 1.0 - 1.0 / budget + math.log(n_arms / budget)
    return noise / epsilon - rounds * math.expm1(-epsilon * budget)


def top_mean_regret_bound(*, n_arms: int, budget: int, rounds: int, epsilon: float) -> float:
    """FPML's expected *mean* cost over the picked arms, against the mean over the top B arms.

    Ours, and what Proposition 7's argument does prove: (H_N - H_B)/epsilon +
    T (1 - e^-epsilon). For sums of costs the top set is the best set, so be-the-leader holds;
    the mean of the B largest of N exponentials exceeds their mean by (H_N - H_B)/epsilon;
    and an arm stays picked with probability at least e^-epsilon. The smallest picked cost is
    at most the mean one, so it bounds FPML's cost against the mean of the top B arms too.

    >>> round(top_mean_regret_bound(n_arms=9, budget=2, rounds=368, epsilon=0.05), 2)
    44.53
    """
    check_budget(budget, n_arms)
    check_count("rounds", rounds)
    check_positive("epsilon", epsilon)
    if budget == n_arms:
        return 0.0
    noise = harmonic_number(n_arms) - harmonic_number(budget)
    return noise / epsilon - rounds * math.expm1(-epsilon)
