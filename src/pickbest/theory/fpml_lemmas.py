"""Overtakings: Lemmas 3 and 4, and what they say about more than the mean (Section 2).

Ties between cumulative costs go to the arm with the smaller index, in every function.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core import (
    BoolArray,
    FloatArray,
    IntArray,
    PickbestError,
    check_budget,
    check_costs,
    check_count,
    check_positive,
    check_share,
)
from pickbest.theory.fpml import fpml_regret_bound

# `good_arm_regret` adds up at most this many terms: about ten seconds.
MOST_TERMS = 10**9


def overtakings(costs: ArrayLike, budget: int, perturbation: ArrayLike | None = None) -> BoolArray:
    """Lemma 3's events: was the leader after round t outside the B leaders before it?

    costs: (rounds, n_arms), in [0, 1].
    perturbation: (n_arms,), subtracted from the cumulative costs throughout (Lemma 4); none
        if left out.
    Returns (rounds,) booleans.

    >>> overtakings([[1, 1, 0], [0, 0, 1], [0, 1, 1]], budget=1)
    array([ True,  True, False])
    >>> overtakings([[1, 1, 0], [0, 0, 1], [0, 1, 1]], budget=2)
    array([ True, False, False])
    """
    table = _cost_table(costs, budget)
    before, after = _cumulative(table, perturbation)
    leader = after.argmin(axis=1)
    overtaken: BoolArray = (_leaders(before, budget) != leader[:, None]).all(axis=1)
    return overtaken


def leaders_regret(
    costs: ArrayLike, budget: int, perturbation: ArrayLike | None = None
) -> FloatArray:
    """Lemma 3's R_i: regret after each round of picking the B leaders before it.

    Unperturbed, R_i is at most the number of overtakings in rounds 1 … i, and rises in a
    round by at most 1, and only where the leaders are overtaken. With a perturbation, this
    is the regret of FPML with that perturbation kept (against the best arm by plain costs),
    and it is at most overtakings + max p - p(best arm).

    Arguments as in `overtakings`. Returns (rounds,) numbers.

    >>> leaders_regret([[1, 1, 0], [0, 0, 1], [0, 1, 1]], budget=1)
    array([1., 1., 1.])
    >>> leaders_regret([[1, 1, 0], [0, 0, 1], [0, 1, 1]], budget=2)
    array([1., 0., 0.])
    """
    table = _cost_table(costs, budget)
    before, _ = _cumulative(table, perturbation)
    paid = np.take_along_axis(table, _leaders(before, budget), axis=1).min(axis=1)
    regret: FloatArray = np.cumsum(paid) - np.cumsum(table, axis=0).min(axis=1)
    return regret


def overtaking_probability_bound(leader_costs: ArrayLike, *, epsilon: float) -> float:
    """Lemma 4, inside the proof: the chance that leaders with these costs are overtaken.

    The product of 1 - e^(-epsilon c) over the costs c of the B perturbed leaders, when the
    perturbations are exponential with mean 1/epsilon and independent of the costs. The lemma states
    epsilon^B times the smallest of the costs, which is never below it: 1 - e^-x ≤ x, and c ≤ 1.

    >>> round(overtaking_probability_bound([0.5, 1.0], epsilon=0.2), 5)
    0.01725
    """
    shape = np.shape(leader_costs)
    if len(shape) != 1 or shape[0] == 0:
        raise PickbestError(f"leader_costs must be one cost or more, got {leader_costs!r}")
    costs = check_costs(leader_costs, shape, "leader_costs")
    check_positive("epsilon", epsilon)
    return float(np.prod(-np.expm1(-epsilon * costs)))


def markov_guarantee(*, n_arms: int, budget: int, rounds: int, probability: float) -> float:
    """Section 2, "Probabilistic guarantees": the regret that is exceeded with this probability.

    For FPML that keeps one perturbation p for all rounds and uses Theorem 2's epsilon. Its regret
    is at most overtakings + max p, pathwise; that variable is not negative and has expectation at
    most Theorem 2's bound, so by Markov's inequality it exceeds bound / probability with at most
    that probability. Never above `rounds`. It does not carry over to fresh perturbations: those
    keep the mean, not the pathwise inequality (see `hoeffding_guarantee`).

    >>> round(markov_guarantee(n_arms=9, budget=4, rounds=368, probability=0.1), 1)
    165.2
    """
    check_share("probability", probability)
    bound = fpml_regret_bound(n_arms=n_arms, budget=budget, rounds=rounds)
    return min(float(rounds), bound / probability)


def hoeffding_guarantee(*, n_arms: int, budget: int, rounds: int, probability: float) -> float:
    """The regret that FPML with fresh perturbations exceeds with at most this probability.

    Ours. The costs are fixed in advance, so with fresh perturbations (Algorithm 1) the costs
    paid in different rounds are independent, and Hoeffding's inequality adds
    sqrt(T ln(1/probability) / 2) to Theorem 2. Never above `rounds`.

    >>> round(hoeffding_guarantee(n_arms=9, budget=4, rounds=368, probability=0.1), 2)
    37.1
    """
    check_share("probability", probability)
    bound = fpml_regret_bound(n_arms=n_arms, budget=budget, rounds=rounds)
    return min(float(rounds), bound + math.sqrt(rounds * math.log(1.0 / probability) / 2.0))


def good_arm_regret(*, n_arms: int, budget: int, rounds: int, epsilon: float) -> float:
    """The exact expected regret of FPML where one arm always costs 0 and the others 1.

    Ours. After t rounds the good arm leads by t, and is left out if B others have a perturbation
    above its own plus t: with s = e^(-epsilon t) and U uniform, P(Binomial(N - 1, U s) ≥ B), which
    is E[(Binomial(N, s) - B)+] / (N s).

    >>> good_arm_regret(n_arms=4, budget=1, rounds=1, epsilon=0.5)
    0.75
    >>> round(good_arm_regret(n_arms=32, budget=2, rounds=1000, epsilon=0.165), 2)
    13.13
    """
    check_budget(budget, n_arms)
    check_positive("epsilon", epsilon)
    # Behind this lead a round adds less than C(N, B) e^-100.
    last = int(min(check_count("rounds", rounds), math.ceil(100.0 / epsilon)))
    beyond = np.arange(budget + 1, n_arms + 1)
    if last * len(beyond) > MOST_TERMS:
        raise PickbestError(
            f"the exact regret is a sum of {last * len(beyond):.2g} terms, more than "
            f"{MOST_TERMS:.0e}: take fewer arms or rounds, or a larger epsilon"
        )
    ways = np.array([math.lgamma(n_arms + 1) - math.lgamma(k + 1) - math.lgamma(n_arms - k + 1)
                     for k in beyond])  # fmt: skip
    total, stretch = 0.0, 1 + 1_000_000 // max(len(beyond), 1)
    for start in range(1, last, stretch):
        scale = np.exp(-epsilon * np.arange(start, min(start + stretch, last)))[:, None]
        chances = np.exp(ways + (beyond - 1) * np.log(scale) + (n_arms - beyond) * np.log1p(-scale))
        total += float((chances @ (beyond - budget)).sum())
    return (n_arms - budget) / n_arms + total / n_arms


def _cost_table(costs: ArrayLike, budget: int) -> FloatArray:
    shape = np.shape(costs)
    if len(shape) != 2:
        raise PickbestError(f"costs must have the shape (rounds, n_arms), got {shape}")
    check_count("rounds", shape[0])
    check_budget(budget, shape[1])
    return check_costs(costs, shape)


def _cumulative(table: FloatArray, perturbation: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    """Perturbed cumulative costs before and after every round."""
    n_arms = table.shape[1]
    noise = np.zeros(n_arms) if perturbation is None else np.asarray(perturbation, np.float64)
    if noise.shape != (n_arms,) or not np.isfinite(noise).all():
        raise PickbestError(f"perturbation must be {n_arms} finite numbers, got {perturbation!r}")
    totals = np.cumsum(np.vstack([-noise, table]), axis=0)
    return totals[:-1], totals[1:]


def _leaders(before: FloatArray, budget: int) -> IntArray:
    return np.argsort(before, axis=1, kind="stable")[:, :budget]
