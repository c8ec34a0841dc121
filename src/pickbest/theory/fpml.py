"""FPML with full feedback: its tunings and bounds, Theorem 2 and Proposition 7.

Everywhere costs are in [0, 1] and fixed in advance (an oblivious adversary), expectations are over
the learner's perturbations, and regret is against the single best arm, but for Proposition 7.

Proposition 7 is true for B = 1, but not for B ≥ 2 when a set costs its *smallest* cost. The
top set after a round minimises the sum of its arms' costs, not the sum of their minima, so
the step "the leader so far was no worse" of Lemma 3 is lost. It fails by a multiple of T:
arms 1 and 2 cost 0 and 1 in turn (so the pair always has a 0), arms 3 and 4 cost 0.4 in the
first half and 0.7 in the second. Arms 1 and 2 are the top two in hindsight and cost nothing
together; FPML rightly follows arms 3 and 4 for three quarters of the game and pays 0.375 T.
tests/theory/test_theory.py plays it.
"""

import math

import numpy as np

from pickbest.core import PickbestError, check_count, check_positive
from pickbest.theory.common import check_game, leader_factor

_SUMMED_ROUNDS = 10_000


def fpml_epsilon(*, n_arms: int, budget: int, rounds: int) -> float:
    """Theorem 2's epsilon for FPML: ((1 + ln N) / T)^(1/(B+1)).

    It balances the two terms of the first form.

    >>> round(fpml_epsilon(n_arms=9, budget=2, rounds=368), 4)
    0.2056
    """
    check_game(n_arms, budget, rounds)
    return float((leader_factor(n_arms) / rounds) ** (1.0 / (budget + 1)))


def fpml_regret_bound(*, n_arms: int, budget: int, rounds: int) -> float:
    """Theorem 2, second form: the expected regret of FPML with its tuned epsilon.

    2 T^(1/(B+1)) (1 + ln N)^(B/(B+1)), with epsilon from `fpml_epsilon`.

    >>> round(fpml_regret_bound(n_arms=9, budget=1, rounds=368), 2)
    68.6
    >>> round(fpml_regret_bound(n_arms=9, budget=4, rounds=368), 2)
    16.52
    """
    check_game(n_arms, budget, rounds)
    share = 1.0 / (budget + 1)
    return float(2.0 * rounds**share * leader_factor(n_arms) ** (budget * share))


def fpml_regret_bound_at(*, n_arms: int, budget: int, rounds: int, epsilon: float) -> float:
    """Theorem 2, first form: FPML's expected regret at any epsilon.

    It bounds the total cost by (L + (1 + ln N)/epsilon) / (1 - epsilon^B), where L is that of the
    best arm. Since the total cost is at most T, regret is at most T epsilon^B + (1 + ln N)/epsilon.

    >>> round(fpml_regret_bound_at(n_arms=9, budget=2, rounds=368, epsilon=0.2), 2)
    30.71
    """
    check_game(n_arms, budget, rounds)
    check_positive("epsilon", epsilon)
    return float(rounds * epsilon**budget + leader_factor(n_arms) / epsilon)


def fpml_anytime(*, n_arms: int, budget: int) -> tuple[float, float]:
    """FPML without a horizon: (epsilon_1, decay), where epsilon_t = epsilon_1 / t^decay.

    Theorem 2's epsilon at T = t. Bounded by `anytime_regret_bound`.

    >>> first, decay = fpml_anytime(n_arms=9, budget=2)
    >>> round(first, 4), round(decay, 4)
    (1.4732, 0.3333)
    """
    return fpml_epsilon(n_arms=n_arms, budget=budget, rounds=1), 1.0 / (budget + 1)


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
    check_game(n_arms, budget, rounds)
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


# Against sets of arms -----------------------------------------------------------------------


def top_set_regret_bound_as_written(
    *, n_arms: int, budget: int, rounds: int, epsilon: float
) -> float:
    """Proposition 7 as printed: FPML's regret against the B arms with the smallest total cost.

    (1 - 1/B + ln(N/B))/epsilon + T (1 - e^(-epsilon B)). Full feedback. For B ≥ 2 it is not
    true of every cost sequence (see the head of this module).
    `top_set_epsilon` makes it at most 2 sqrt(T B (1 - 1/B + ln(N/B))).

    >>> bound = top_set_regret_bound_as_written(n_arms=9, budget=2, rounds=368, epsilon=0.05)
    >>> round(bound, 2)
    75.1
    """
    check_game(n_arms, budget, rounds)
    check_positive("epsilon", epsilon)
    noise = 1.0 - 1.0 / budget + math.log(n_arms / budget)
    return noise / epsilon - rounds * math.expm1(-epsilon * budget)


def top_set_epsilon(*, n_arms: int, budget: int, rounds: int) -> float:
    """An epsilon for Proposition 7: sqrt((1 - 1/B + ln(N/B)) / (T B)).

    The closed form that minimises the bound after 1 - e^-x ≤ x; the paper gives none.

    >>> round(top_set_epsilon(n_arms=9, budget=2, rounds=368), 4)
    0.0522
    """
    check_game(n_arms, budget, rounds)
    noise = 1.0 - 1.0 / budget + math.log(max(n_arms, 2) / budget)
    return math.sqrt(noise / (rounds * budget))
