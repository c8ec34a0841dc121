"""How the learners that are not in the paper are built."""

from __future__ import annotations

from pickbest.learners import GreedyThompson, GreedyUCB, Tsallis


def build_tsallis(n_arms: int, budget: int, rounds: int | None, tuning: str | None) -> Tsallis:
    return Tsallis(n_arms, budget)


def build_greedy_thompson(
    n_arms: int,
    budget: int,
    rounds: int | None,
    tuning: str | None,
    *,
    prior: float = 1.0,
    discount: float = 1.0,
    sharpness: float = 3.0,
) -> GreedyThompson:
    return GreedyThompson(n_arms, budget, prior, discount, sharpness)


def build_greedy_ucb(
    n_arms: int,
    budget: int,
    rounds: int | None,
    tuning: str | None,
    *,
    width: float = 0.05,
    discount: float = 1.0,
) -> GreedyUCB:
    return GreedyUCB(n_arms, budget, width, discount)
