"""Bounds of OG and OG_hybrid: Theorem 6, Lemmas 11 and 12, and the constants they leave out.

Jobs are monotone submodular with values in [0, 1] and fixed in advance; OPT(B') is the total value
of the best fixed schedule of B' arms. A slot's regret is against the arm that would have added
most.

Slips of the text: Algorithm 3 feeds the slots S_(t,i), where S_(t,i-1) is meant; Lemma 11's
proof writes B₁ = Σ τ̄ ε for Σ τ̄; the last line of Theorem 6's proof divides by L where B̃ is meant
(L = B / B̃ slots), and its max over a box should be min.
"""

import math
from collections.abc import Sequence

from pickbest.core import PickbestError, check_count, check_positive
from pickbest.core.checks import check_not_negative
from pickbest.theory.common import check_slot_budget
from pickbest.theory.exponential_weights import og_hedge_rate
from pickbest.theory.fpml import fpml_regret_bound


def hybrid_slots(*, target_budget: int, rounds: int) -> int:
    """Theorem 6: the slots that OG_hybrid needs against OPT(B'), ceil(B' ln T), at least 1.

    >>> hybrid_slots(target_budget=2, rounds=368)
    12
    """
    check_count("target_budget", target_budget)
    return max(1, math.ceil(target_budget * math.log(check_count("rounds", rounds))))


def hybrid_budget(*, slot_budget: int, target_budget: int, rounds: int) -> int:
    """Theorem 6: the budget that OG_hybrid needs against OPT(B'): slot_budget * hybrid_slots.

    The theorem prints ceil(B' b ln T), b the slot budget, while Algorithm 2 wants a multiple
    of b: this is the printed number rounded up to one. It may exceed the number of arms.

    >>> hybrid_budget(slot_budget=3, target_budget=2, rounds=368)
    36
    """
    check_count("slot_budget", slot_budget)
    return slot_budget * hybrid_slots(target_budget=target_budget, rounds=rounds)


def hybrid_regret_bound(*, n_arms: int, slot_budget: int, target_budget: int, rounds: int) -> float:
    """Theorem 6 with its constants: OG_hybrid's expected regret against OPT(B').

    hybrid_slots * 2 T^(1/(b+1)) (1 + ln N)^(b/(b+1)) + 1, with budget `hybrid_budget`, full
    feedback, and jobs under the paper's Assumption 1 (more arms earlier never hurt). In slots of
    b = ceil(ln T) arms, T^(1/(b+1)) ≤ e: a budget of B' ceil(ln T)^2 has regret of order
    B' ln T ln N. (The paper's introduction prints B' ceil(ln(T)^2), which can be less.)

    >>> bound = hybrid_regret_bound(n_arms=9, slot_budget=3, target_budget=2, rounds=368)
    >>> round(bound, 2)
    252.34
    """
    check_slot_budget(slot_budget, n_arms)
    slots = hybrid_slots(target_budget=target_budget, rounds=rounds)
    return slots * fpml_regret_bound(n_arms=n_arms, budget=slot_budget, rounds=rounds) + 1.0


def greedy_guarantee(
    *,
    best_value: float,
    target_budget: float,
    errors: Sequence[float],
    durations: Sequence[float] | None = None,
) -> float:
    """Lemma 11: the least value of a greedy schedule whose steps err by at most `errors`.

    (1 - e^(-B1/B0)) OPT(B0) - sum of errors * durations, where best_value is OPT(B0),
    target_budget is B0 and B1 the sum of the durations (1 each if left out). Errors are
    per unit of time and not negative. The lemma prints ">"; "≥" is meant (let OPT be 0).

    >>> round(greedy_guarantee(best_value=0.9, target_budget=2, errors=[0.0, 0.1]), 4)
    0.4689
    """
    check_not_negative("best_value", best_value)
    check_positive("target_budget", target_budget)
    spans = [1.0] * len(errors) if durations is None else list(durations)
    if len(spans) != len(errors):
        raise PickbestError(
            f"durations must be as many as errors ({len(errors)}), got {len(spans)}"
        )
    lost = math.fsum(
        check_not_negative("errors", error) * check_positive("durations", span)
        for error, span in zip(errors, spans, strict=True)
    )
    return -math.expm1(-math.fsum(spans) / target_budget) * best_value - lost


def og_regret_bound(*, n_arms: int, budget: int, target_budget: int, rounds: int) -> float:
    """Lemma 12 for OG with Hedge in its slots: `og_hedge_regret_bound` + 1, against OPT(B').

    Needs budget ≥ B' ln T and full feedback.

    >>> round(og_regret_bound(n_arms=9, budget=12, target_budget=2, rounds=368), 2)
    167.97
    """
    least = hybrid_slots(target_budget=target_budget, rounds=rounds)
    if check_count("budget", budget) < least:
        raise PickbestError(
            f"budget must be at least target_budget * ln(rounds), here {least}, got {budget!r}"
        )
    return og_hedge_regret_bound(n_arms=n_arms, budget=budget, rounds=rounds) + 1.0


def og_hedge_regret_bound(*, n_arms: int, budget: int, rounds: int) -> float:
    """OG with Hedge at the rate `og_hedge_rate`, against (1 - 1/e) OPT(B).

    Streeter and Golovin's O(sqrt(T B ln N)) with a constant: 2 sqrt((e - 2) T B ln N) for a
    rate of at most 1. Proof: Hedge on gains in [0, 1] at a rate r ≤ 1 has regret at most
    (e - 2) r G + ln N / r, where G is its own expected gain; the gains of all slots in a
    round add up to at most 1, so the slots' regrets add up to (e - 2) r T + B ln N / r.

    >>> round(og_hedge_regret_bound(n_arms=9, budget=4, rounds=368), 2)
    96.4
    """
    rate = og_hedge_rate(n_arms=n_arms, budget=budget, rounds=rounds)
    return (math.e - 2.0) * rate * rounds + budget * math.log(n_arms) / rate


def og_adahedge_regret_bound(*, n_arms: int, budget: int, rounds: int) -> float:
    """OG with AdaHedge in its slots, against (1 - 1/e) OPT(B); full feedback.

    2 sqrt(T B ln N) + B (4/3 ln N + 2). Proof: a slot's regret is at most 2 sqrt(V ln N) +
    4/3 ln N + 2 (de Rooij et al. 2014, Theorem 6), where V, the sum of the variances of its
    gains, is at most its own expected gain, since gains are in [0, 1]; and the gains of all
    slots in a round add up to at most 1.

    >>> round(og_adahedge_regret_bound(n_arms=9, budget=4, rounds=368), 2)
    133.46
    """
    check_count("budget", budget)
    log = math.log(check_count("n_arms", n_arms))
    root = 2.0 * math.sqrt(check_count("rounds", rounds) * budget * log)
    return root + budget * (4.0 / 3.0 * log + 2.0)
