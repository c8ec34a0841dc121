"""Full-feedback bounds of FPML: Theorem 2, its sharper forms, horizons not known ahead, budgets.

Everywhere costs are in [0, 1] and fixed in advance (an oblivious adversary), regret is
against the single best arm, and expectations are over the learner's perturbations.
"""

import math

import numpy as np

from pickbest.core import PickbestError, check_budget, check_count, check_positive
from pickbest.theory.common import harmonic_number, leader_factor
from pickbest.theory.fpml_tunings import fpml_anytime

_SUMMED_ROUNDS = 10_000


def fpml_regret_bound(*, n_arms: int, budget: int, rounds: int) -> float:
    """Theorem 2, second form: the expected regret of FPML with its tuned epsilon.

    2 T^(1/(B+1)) (1 + ln N)^(B/(B+1)), with epsilon from `fpml_epsilon`.

    >>> round(fpml_regret_bound(n_arms=9, budget=1, rounds=368), 2)
    68.6
    >>> round(fpml_regret_bound(n_arms=9, budget=4, rounds=368), 2)
    16.52
    """
    check_budget(budget, n_arms)
    check_count("rounds", rounds)
    share = 1.0 / (budget + 1)
    return float(2.0 * rounds**share * leader_factor(n_arms) ** (budget * share))


def fpml_regret_bound_at(*, n_arms: int, budget: int, rounds: int, epsilon: float) -> float:
    """Theorem 2, first form: FPML's expected regret at any epsilon.

    It bounds the total cost by (L + (1 + ln N)/epsilon) / (1 - epsilon^B), where L is that of the
    best arm. Since the total cost is at most T, regret is at most T epsilon^B + (1 + ln N)/epsilon.

    >>> round(fpml_regret_bound_at(n_arms=9, budget=2, rounds=368, epsilon=0.2), 2)
    30.71
    """
    check_budget(budget, n_arms)
    check_count("rounds", rounds)
    check_positive("epsilon", epsilon)
    return float(rounds * epsilon**budget + leader_factor(n_arms) / epsilon)


def fpml_sharp_regret_bound_at(*, n_arms: int, budget: int, rounds: int, epsilon: float) -> float:
    """What the proofs of Theorem 2 and Proposition 5 (K = 1) give before rounding up.

    (H_N - 1)/epsilon + T (1 - e^-epsilon)^B, never above the first form of Theorem 2. With a
    fixed perturbation p, regret ≤ overtakings + max p - p(best arm), pathwise; the last two
    terms have expectation (H_N - 1)/epsilon, and each round's overtaking has probability at
    most (1 - e^-epsilon)^B (Lemma 4, before its last inequality). It holds for exact costs,
    and is 0 where every arm is picked.

    >>> round(fpml_sharp_regret_bound_at(n_arms=9, budget=2, rounds=368, epsilon=0.2), 2)
    21.24
    """
    check_budget(budget, n_arms)
    check_count("rounds", rounds)
    check_positive("epsilon", epsilon)
    if budget == n_arms:
        return 0.0
    overtaking = (-math.expm1(-epsilon)) ** budget
    return float((harmonic_number(n_arms) - 1.0) / epsilon + rounds * overtaking)


def anytime_regret_bound(*, n_arms: int, budget: int, rounds: int) -> float:
    """FPML with `fpml_anytime`, epsilon_t = ((1 + ln N) / t)^(1/(B+1)): expected regret.

    Ours; the horizon need not be known. ln N / epsilon_T + sum over t of epsilon_t^B. Proof:
    scale one perturbation p as p / epsilon_t. The leaders a_t after each round satisfy
    sum c_t(a_t) ≤ C_T(a) + (max p - p(a)) / epsilon_T for every arm a (be the leader, on
    costs c_t - (1/epsilon_t - 1/epsilon_{t-1}) p), with expectation of the last term at most
    ln N / epsilon_T; and c_t(S_t) > c_t(a_t) only if a_t is not picked, which Lemma 4 at
    epsilon_t bounds by epsilon_t^B. Fresh perturbations cost the same in expectation.

    At most (B + 2) T^(1/(B+1)) (1 + ln N)^(B/(B+1)).
    Past 10,000 rounds the sum is replaced by the integral above it.

    >>> round(anytime_regret_bound(n_arms=9, budget=2, rounds=368), 2)
    52.05
    """
    check_budget(budget, n_arms)
    check_count("rounds", rounds)
    first, share = fpml_anytime(n_arms=n_arms, budget=budget)
    summed = min(rounds, _SUMMED_ROUNDS)
    powers = float(np.sum(np.arange(1.0, summed + 1) ** (share - 1.0)))
    powers += (rounds**share - summed**share) / share
    return float(math.log(n_arms) * rounds**share / first + first**budget * powers)


# Which budget reaches which regret ----------------------------------------------------------


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
