"""Linear programs through FPML (Proposition 8), and through two draws or more from Hedge.

The arms are the constraints A_i x ≥ b_i; `width` (the paper's rho) bounds every |A_i x - b_i|
that the oracle returns; `accuracy` is the paper's epsilon of the program, not FPML's.
"""

import math

from pickbest.core import check_budget, check_count, check_positive
from pickbest.theory.common import leader_factor
from pickbest.theory.two_picks import constant_rate


def oracle_calls(*, n_constraints: int, budget: int, width: float, accuracy: float) -> int:
    """Proposition 8: oracle calls after which the mean answer violates nothing by > accuracy.

    (4 width / accuracy)^((B+1)/B) (1 + ln n), rounded up.

    >>> oracle_calls(n_constraints=10, budget=1, width=1.0, accuracy=0.1)
    5285
    >>> oracle_calls(n_constraints=10, budget=4, width=1.0, accuracy=0.1)
    333
    """
    check_budget(budget, check_count("n_constraints", n_constraints))
    ratio = 4.0 * check_positive("width", width) / check_positive("accuracy", accuracy)
    exponent = 1.0 + 1.0 / budget
    return math.ceil(math.pow(ratio, exponent) * leader_factor(n_constraints))


def program_calls(*, n_constraints: int, width: float, epsilon: float, budget: int) -> int:
    """⌈2 width ln n / (η_B epsilon)⌉: oracle calls after which all constraints hold up to epsilon.

    The product law of B draws in place of Proposition 8's tuples.

    >>> program_calls(n_constraints=1_000, width=1.0, epsilon=0.01, budget=2)
    1100
    """
    check_count("n_constraints", n_constraints, least=2)
    width, epsilon = check_positive("width", width), check_positive("epsilon", epsilon)
    rate = constant_rate(budget=budget)
    return max(1, math.ceil(2.0 * width * math.log(n_constraints) / (rate * epsilon)))
