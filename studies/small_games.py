"""Small games solved exactly: the minimax regret, and the worst case of Hedge with B draws.

Costs are 0 or 1 and chosen by an adversary that sees everything but the draw. What matters of the
past are the cumulative costs, in any order: a dynamic program over these, with a linear program for
the player's best mixture of B-subsets in each state.
"""

from functools import cache
from itertools import combinations, product

import numpy as np

from pickbest import theory
from pickbest.core import FloatArray, check_budget, check_count
from pickbest.core.errors import load_extra

State = tuple[int, ...]


def minimax_regret(n_arms: int, budget: int, rounds: int) -> float:
    """The least worst-case expected regret of any learner against the best arm.

    >>> round(minimax_regret(3, 2, rounds=4), 3)
    0.333
    """
    check_budget(budget, n_arms)
    check_count("rounds", rounds)
    subsets = list(combinations(range(n_arms), budget))
    vectors = _cost_vectors(n_arms)
    paid = np.array([[min(c[a] for a in subset) for subset in subsets] for c in vectors], float)

    @cache
    def value(left: int, state: State) -> float:
        if left == 0:
            return -float(min(state))
        after = np.array([value(left - 1, _next(state, c)) for c in vectors])
        return _game_value(paid, after)

    return value(rounds, (0,) * n_arms)


def hedge_worst_case(n_arms: int, budget: int, rounds: int) -> float:
    """The worst expected regret of B independent draws from Hedge at the constant rate.

    >>> round(hedge_worst_case(3, 2, 8), 3)
    0.598
    """
    check_budget(budget, n_arms)
    rate = theory.constant_rate(budget=budget)
    vectors = _cost_vectors(n_arms)

    @cache
    def value(left: int, state: State) -> float:
        if left == 0:
            return -float(min(state))
        law = np.exp(-rate * (np.array(state) - min(state)))
        law /= law.sum()
        return max(
            float(law[np.array(c) == 1].sum() ** budget) + value(left - 1, _next(state, c))
            for c in vectors
        )

    return value(check_count("rounds", rounds), (0,) * n_arms)


def _cost_vectors(n_arms: int) -> list[State]:
    """All vectors of 0 and 1 in which an arm costs 0: a cost that all pay changes no regret."""
    return [c for c in product((0, 1), repeat=n_arms) if min(c) == 0]


def _next(state: State, costs: State) -> State:
    """Cumulative costs after a round, in ascending order: all arms are alike."""
    return tuple(sorted(a + b for a, b in zip(state, costs, strict=True)))


def _game_value(paid: FloatArray, after: FloatArray) -> float:
    """min over mixtures x of max over cost vectors of paid · x + after."""
    linprog = load_extra("scipy.optimize", "lp", "exact small games").linprog
    n_vectors, n_subsets = paid.shape
    objective = np.append(np.zeros(n_subsets), 1.0)
    constraints = np.hstack([paid, -np.ones((n_vectors, 1))])
    total = np.append(np.ones(n_subsets), 0.0)[None]
    bounds = [(0.0, None)] * n_subsets + [(None, None)]
    solved = linprog(objective, constraints, -after, total, [1.0], bounds, method="highs")
    return float(solved.fun)
