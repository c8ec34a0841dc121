"""Cost sequences of our own, on which statements are put to the test.

All are fixed tables, the same in every replicate, so that long games stay cheap.
"""

import numpy as np

from pickbest.core import FloatArray
from pickbest.environments import Table


def one_good_arm(n_arms: int, rounds: int) -> Table:
    """The last arm always costs 0, all others 1 (section 2, for a fixed arm).

    Until the good arm stands out from the noise FPML pays, so its regret grows with the noise
    that Theorem 2's tuning prescribes: like T^(1/(B+1)).
    """
    costs = np.ones((rounds, n_arms))
    costs[:, -1] = 0.0
    return Table(costs, source="one good arm")


def turns(n_arms: int, rounds: int, target_budget: int) -> Table:
    """The last B' arms take turns at costing 0; all other costs are 1. OPT(B') pays nothing."""
    costs = np.ones((rounds, n_arms))
    turn = np.arange(rounds)
    costs[turn, n_arms - 1 - turn % target_budget] = 0.0
    return Table(costs, source=f"{target_budget} arms in turn")


def rotating_leaders(n_arms: int, rounds: int, budget: int) -> Table:
    """Of B + 1 arms the one that is farthest behind costs 0, all others 1.

    Following the B leaders without noise pays in every round, the best arm in B of B + 1. The first
    round sets the arms apart, so that no tie is left to chance.
    """
    costs = np.ones((rounds, n_arms))
    costs[0, : budget + 1] = np.arange(budget + 1) / (2.0 * (budget + 1))
    turn = np.arange(1, rounds)
    costs[turn, budget - (turn - 1) % (budget + 1)] = 0.0
    return Table(costs, source="rotating leaders")


def narrowing(n_arms: int, rounds: int, stage: int) -> Table:
    """Half of the arms that still cost 0 turn bad for good after every `stage` rounds."""
    costs = np.ones((rounds, n_arms))
    for turn in range(rounds):
        good = max(1, n_arms >> (turn // stage + 1))
        costs[turn, :good] = 0.0
    return Table(costs, source="narrowing")


def top_set_trap(rounds: int) -> Table:
    """Arms 1 and 2 cost 0 and 1 in turn; arms 3 and 4 cost 0.4, then 0.7 from half-way on.

    The counterexample to Proposition 7 (see pickbest.theory.fpml): the top two in hindsight
    are arms 1 and 2, which cost nothing together.
    """
    turn = np.arange(rounds)
    flat = np.where(turn < rounds // 2, 0.4, 0.7)
    return Table(np.column_stack([turn % 2, 1 - turn % 2, flat, flat]), source="top-set trap")


def top_set_control(rounds: int) -> Table:
    """The same costs in reverse order: now the top two lead from the start, and nothing is lost."""
    return Table(top_set_trap(rounds).costs_table[::-1], source="top-set trap, reversed")


def noisy_estimates(n_arms: int, rounds: int, gap: float, rng: np.random.Generator) -> FloatArray:
    """Unbiased estimates in [0, 2] of costs 1 (all arms but the last) and 1 - gap (the last).

    The counterexample to Proposition 5 (see pickbest.theory.partial_feedback).
    """
    chances = np.append(np.full(n_arms - 1, 0.5), 0.5 - gap / 2)
    return np.where(rng.random((rounds, n_arms)) < chances, 2.0, 0.0)
