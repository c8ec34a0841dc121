"""Semi-bandit feedback: Proposition 5, and what can be proved of it.

All bounds are for costs that are fixed in advance (an oblivious adversary).

Proposition 5 is true for B = 1 and for exact estimates, but not for every unbiased estimate
when B ≥ 2. Its proof equates E[ĉ_i(a_i)] with c_i(a_i) for the leader a_i *after* round i,
which depends on ĉ_i and so favours arms whose cost was estimated low. The claim fails: let
one of N arms always cost 1 - d and the others 1, with d of order 1/sqrt(T), and let the
estimates be 2 with probability c/2, else 0 (unbiased, in [0, 2]). No learner can tell the
good arm from such estimates within T rounds, so regret is of order sqrt(T) for any fixed
B < N, above the claimed T^(1/(B+1)). tests/theory/test_theory.py plays it with FPML. It also fails
for the paper's own naive estimator, N times the cost of one more arm that is uniform: N = 10,
B = 3 + 1, T = 10^6, d = 1.5 sqrt(N/T) (`python -m studies reproduce partial-feedback`). A slip
next to it: the complements of the events E_a = {Ĉ_a < V - K} are written as the events themselves.
"""

import math

from pickbest.core import check_count, check_positive
from pickbest.theory.common import check_game, check_slot_budget, leader_factor, tuning_log


def partial_regret_bound_as_written(
    *, n_arms: int, budget: int, rounds: int, estimate_cap: float
) -> float:
    """Proposition 5 as printed, tuned, with its constant: 2 T^(1/(B+1)) (K ln N)^(B/(B+1)).

    It is ln N/epsilon + T (1 - e^(-K epsilon))^B at the epsilon of `partial_epsilon`, and needs
    unbiased estimates in [0, K], where K is estimate_cap: 1/P(arm picked) must be capped, and a
    capped weight is no longer unbiased. With B ≥ 2 it is not a theorem for all such estimates (see
    the head of this module); `partial_regret_bound` is.

    >>> bound = partial_regret_bound_as_written(
    ...     n_arms=9, budget=2, rounds=368, estimate_cap=9.0
    ... )
    >>> round(bound, 2)
    104.81
    """
    check_game(n_arms, budget, rounds)
    check_positive("estimate_cap", estimate_cap)
    share = 1.0 / (budget + 1)
    return float(2.0 * rounds**share * (estimate_cap * math.log(n_arms)) ** (budget * share))


def partial_regret_bound(*, n_arms: int, budget: int, rounds: int, estimate_cap: float) -> float:
    """FPML-partial's expected regret for any budget, tuned: 2 sqrt(T K ln N).

    Ours: (H_N - 1)/epsilon + T (1 - e^(-K epsilon)) with epsilon = sqrt(ln N / (T K)), which is
    `partial_epsilon` for a budget of 1, and with H_N - 1 ≤ ln N, 1 - e^-x ≤ x. The B leaders cost
    at most what the first of them costs, and for that one the proof of B = 1 holds: given the
    estimates, the leader before a round stays the leader with probability at least e^(-K epsilon).

    >>> round(partial_regret_bound(n_arms=9, budget=2, rounds=368, estimate_cap=9.0), 2)
    170.61
    """
    check_game(n_arms, budget, rounds)
    check_positive("estimate_cap", estimate_cap)
    return 2.0 * math.sqrt(rounds * estimate_cap * math.log(n_arms))


def exact_weights_regret_bound_at(*, n_arms: int, rounds: int, epsilon: float) -> float:
    """FPML-partial with exact weights at any epsilon: (1 + ln N)/epsilon + epsilon N T.

    Ours; costs fixed in advance, any budget, no cap on the estimates. The B leaders cost at most
    what the first of them costs. Its regret is at most (1 + ln N)/epsilon + epsilon E[Σ p_a ĉ_a²],
    where p_a is the probability that arm a leads; E[ĉ_a²] = c²/q_a ≤ 1/q_a for the probability q_a
    that it is picked, and p_a ≤ q_a: each round adds at most epsilon N. With the practical tuning,
    2 sqrt(ln N / T), it is about (2 N + 1/2) sqrt(T ln N).

    >>> round(exact_weights_regret_bound_at(n_arms=9, rounds=10_000, epsilon=0.006), 1)
    1072.9
    """
    check_count("n_arms", n_arms)
    check_count("rounds", rounds)
    check_positive("epsilon", epsilon)
    return leader_factor(n_arms) / epsilon + epsilon * n_arms * rounds


# Tunings: the paper's, those that gave its tables, and ours -------------------------------------


def partial_epsilon(*, n_arms: int, budget: int, rounds: int, estimate_cap: float) -> float:
    """Proposition 5's epsilon for FPML-partial: (ln N / (T K^B))^(1/(B+1)), K = estimate_cap.

    >>> round(partial_epsilon(n_arms=9, budget=2, rounds=368, estimate_cap=9.0), 4)
    0.0419
    """
    check_game(n_arms, budget, rounds)
    check_positive("estimate_cap", estimate_cap)
    share = 1.0 / (budget + 1)
    return float((tuning_log(n_arms) / rounds) ** share / estimate_cap ** (budget * share))


def partial_epsilon_as_written(*, n_arms: int, slot_budget: int, rounds: int) -> float:
    """FPML-partial's epsilon as the appendix states it, for one box of budget b.

    (ln N / T * (ln N / (T N))^b)^(1/(2b+1)).

    >>> round(partial_epsilon_as_written(n_arms=9, slot_budget=2, rounds=368), 5)
    0.01923
    """
    check_slot_budget(slot_budget, n_arms)
    rate = tuning_log(n_arms) / check_count("rounds", rounds)
    share = 1.0 / (2 * slot_budget + 1)
    return float(rate**share * (rate / n_arms) ** (slot_budget * share))


def partial_resamples_as_written(*, n_arms: int, slot_budget: int, rounds: int) -> int:
    """The cap on geometric resampling as the appendix states it, rounded up.

    (N (T N / ln N)^b)^(1/(2b+1)); it is also the bound K on the estimates.

    >>> partial_resamples_as_written(n_arms=9, slot_budget=2, rounds=368)
    29
    """
    check_slot_budget(slot_budget, n_arms)
    ratio = check_count("rounds", rounds) * n_arms / tuning_log(n_arms)
    share = 1.0 / (2 * slot_budget + 1)
    return math.ceil(float(n_arms**share * ratio ** (slot_budget * share)))


def partial_epsilon_as_run(*, n_arms: int, slot_budget: int, rounds: int) -> float:
    """FPML-partial's epsilon that gives the paper's tables, for one box of budget b.

    sqrt((1/N) (T / ln N)^((b-2)/(b+1))): from b = 3 on it grows with T.

    >>> round(partial_epsilon_as_run(n_arms=9, slot_budget=1, rounds=368), 4)
    0.0927
    """
    check_slot_budget(slot_budget, n_arms)
    ratio = check_count("rounds", rounds) / tuning_log(n_arms)
    return math.sqrt(ratio ** ((slot_budget - 2) / (slot_budget + 1)) / n_arms)


def partial_resamples_as_run(*, n_arms: int, slot_budget: int, rounds: int) -> int:
    """The cap on geometric resampling that gives the paper's tables.

    ceil(sqrt(N (T / ln N)^(b/(b+1)))).

    >>> partial_resamples_as_run(n_arms=9, slot_budget=2, rounds=368)
    17
    """
    check_slot_budget(slot_budget, n_arms)
    ratio = check_count("rounds", rounds) / tuning_log(n_arms)
    return math.ceil(math.sqrt(n_arms * ratio ** (slot_budget / (slot_budget + 1))))


def partial_epsilon_practical(*, n_arms: int, slot_budget: int, rounds: int) -> float:
    """Ours, for exact weights: 2 sqrt(ln N / T), whatever the budget.

    Between the paper's two tunings, and better than both on its data (studies/notes/findings.md).
    Its bound is `exact_weights_regret_bound_at`.

    >>> round(partial_epsilon_practical(n_arms=9, slot_budget=2, rounds=368), 4)
    0.1545
    """
    check_slot_budget(slot_budget, n_arms)
    return 2.0 * math.sqrt(tuning_log(n_arms) / check_count("rounds", rounds))
