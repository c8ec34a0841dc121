"""Learning rates and their like: the paper's, those that gave its tables, and the standard ones.

A single arm leaves nothing to learn and makes ln N zero; wherever that would give a rate of 0
or a division by 0, one arm is tuned as if it were two. Rates that are probabilities are at
most 1.
"""

import math

from pickbest.core import check_budget, check_count, check_positive
from pickbest.theory.common import check_slot_budget, leader_factor, tuning_log


def fpml_epsilon(*, n_arms: int, budget: int, rounds: int) -> float:
    """Theorem 2's epsilon for FPML: ((1 + ln N) / T)^(1/(B+1)).

    It balances the two terms of the first form.

    >>> round(fpml_epsilon(n_arms=9, budget=2, rounds=368), 4)
    0.2056
    """
    check_budget(budget, n_arms)
    return float((leader_factor(n_arms) / check_count("rounds", rounds)) ** (1.0 / (budget + 1)))


def fpml_anytime(*, n_arms: int, budget: int) -> tuple[float, float]:
    """FPML without a horizon: (epsilon_1, decay), where epsilon_t = epsilon_1 / t^decay.

    Theorem 2's epsilon at T = t. Bounded by `anytime_regret_bound`.

    >>> first, decay = fpml_anytime(n_arms=9, budget=2)
    >>> round(first, 4), round(decay, 4)
    (1.4732, 0.3333)
    """
    return fpml_epsilon(n_arms=n_arms, budget=budget, rounds=1), 1.0 / (budget + 1)


def partial_epsilon(*, n_arms: int, budget: int, rounds: int, estimate_cap: float) -> float:
    """Proposition 5's epsilon for FPML-partial: (ln N / (T K^B))^(1/(B+1)), K = estimate_cap.

    >>> round(partial_epsilon(n_arms=9, budget=2, rounds=368, estimate_cap=9.0), 4)
    0.0419
    """
    check_budget(budget, n_arms)
    check_positive("estimate_cap", estimate_cap)
    share = 1.0 / (budget + 1)
    return float((tuning_log(n_arms) / check_count("rounds", rounds)) ** share) / float(
        estimate_cap ** (budget * share)
    )


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


def top_set_epsilon(*, n_arms: int, budget: int, rounds: int) -> float:
    """An epsilon for Proposition 7: sqrt((1 - 1/B + ln(N/B)) / (T B)).

    The closed form that minimises the bound after 1 - e^-x ≤ x; the paper gives none.

    >>> round(top_set_epsilon(n_arms=9, budget=2, rounds=368), 4)
    0.0522
    """
    check_budget(budget, n_arms)
    noise = 1.0 - 1.0 / budget + math.log(max(n_arms, 2) / budget)
    return math.sqrt(noise / (check_count("rounds", rounds) * budget))
