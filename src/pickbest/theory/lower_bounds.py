"""What no learner, or no learner of a kind, can avoid: Propositions 1 and 10 (Section 2)."""

import math

from pickbest.core import check_budget, check_count
from pickbest.theory.common import check_game


def deterministic_lower_bound(*, n_arms: int, budget: int, rounds: int) -> float:
    """Proposition 1: a deterministic learner's worst regret is at least (1 - B/N) T.

    The adversary gives cost 1 to the arms that the learner will pick and 0 to the others.

    >>> deterministic_lower_bound(n_arms=4, budget=1, rounds=100)
    75.0
    """
    check_game(n_arms, budget, rounds)
    return (n_arms - budget) * rounds / n_arms


def uniform_lower_bound_as_written(*, n_arms: int, budget: int, rounds: int) -> float:
    """Section 2, as printed: picking at random has worst expected regret ≥ T (1 - B/N)^B.

    One arm always costs 0, all others 1. True, but loose: `uniform_regret` is what a random
    subset pays there exactly, and (1 - B/N)^B ≤ 1 - B/N.

    >>> uniform_lower_bound_as_written(n_arms=4, budget=2, rounds=100)
    25.0
    """
    check_game(n_arms, budget, rounds)
    return float((1.0 - budget / n_arms) ** budget * rounds)


def uniform_regret(*, n_arms: int, budget: int, rounds: int) -> float:
    """Expected regret of B distinct arms at random where one arm costs 0 and the others 1.

    Exactly T (1 - B/N): a uniform subset of B arms misses a given arm with probability
    1 - B/N. (B independent draws, which may repeat, pay T (1 - 1/N)^B, which is more.)

    >>> uniform_regret(n_arms=4, budget=2, rounds=100)
    50.0
    """
    check_game(n_arms, budget, rounds)
    return (n_arms - budget) * rounds / n_arms


def halving_rounds(*, n_arms: int, budget: int) -> int:
    """Proposition 10: how many halvings leave at least 3B/2 good arms.

    floor(log2 N - log2 B - log2(3/2)) with N rounded down to a power of two, as in the
    proof; 0 where even one halving leaves fewer.

    >>> halving_rounds(n_arms=1024, budget=2)
    8
    """
    budget = check_budget(budget, n_arms)
    halvings = check_count("n_arms", n_arms).bit_length() - 1
    return max(0, halvings + 1 - (3 * budget - 1).bit_length())


def halving_lower_bound(*, n_arms: int, budget: int) -> float:
    """Proposition 10: every learner, randomized or not, has regret at least (1/4)^B T.

    T is `halving_rounds`; later rounds may cost nothing, so it holds for longer games too.
    Each round a random half of the arms that never cost anything keeps costing 0.

    >>> halving_lower_bound(n_arms=1024, budget=2)
    0.5
    """
    return float(0.25**budget * halving_rounds(n_arms=n_arms, budget=budget))


def halving_expected_cost(*, n_arms: int, budget: int, rounds: int) -> float:
    """The exact value of Proposition 10's construction: the least expected cost of a learner.

    With 2m good arms left, of which m stay good, B distinct good arms are all spoilt with the
    hypergeometric probability C(2m - B, m) / C(2m, m); arms that are no longer good only make
    it worse. The best arm costs 0, so the sum over rounds is a lower bound on every learner's
    worst expected regret, and is at least `halving_lower_bound` once rounds ≥ `halving_rounds`.

    >>> round(halving_expected_cost(n_arms=1024, budget=2, rounds=8), 4)
    1.9319
    """
    check_game(n_arms, budget, rounds)
    halvings = n_arms.bit_length() - 1
    played = min(rounds, halvings)
    staying = (2 ** (halvings - turn) for turn in range(1, played + 1))
    return math.fsum(_all_spoilt(good, budget) for good in staying)


def _all_spoilt(staying: int, budget: int) -> float:
    """P(B distinct arms out of 2 * staying all miss the `staying` ones)."""
    if budget > staying:
        return 0.0
    return math.prod((staying - taken) / (2 * staying - taken) for taken in range(budget))
