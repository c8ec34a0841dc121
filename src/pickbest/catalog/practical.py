"""How the learners that are not in the paper are built."""

from __future__ import annotations

from pickbest import theory
from pickbest.catalog.registry import make_learner
from pickbest.core import PickbestError, check_count
from pickbest.learners import (
    Auto,
    FPMLAdaptive,
    FPMLPartial,
    GreedyThompson,
    GreedyUCB,
    Guarded,
    GuardedLast,
    Pairwise,
    Tsallis,
)


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


def build_fpml_adaptive(
    n_arms: int, budget: int, rounds: int | None, tuning: str | None
) -> FPMLAdaptive:
    return FPMLAdaptive(n_arms, budget)


def build_pairwise(
    n_arms: int, budget: int, rounds: int | None, tuning: str | None, *, discount: float = 1.0
) -> Pairwise:
    return Pairwise(n_arms, budget, discount)


def build_auto(n_arms: int, budget: int, rounds: int | None, tuning: str | None) -> Auto:
    return Auto(n_arms, budget)


def build_guarded(
    n_arms: int,
    budget: int,
    rounds: int | None,
    tuning: str | None,
    *,
    inner: str = "greedy-thompson",
    guard_budget: int = 0,
    epsilon: float | None = None,
) -> Guarded | GuardedLast:
    """guard_budget: arms of the guard's own; 0: the last arm yields to its leader."""
    if check_count("guard_budget", guard_budget, least=0) >= budget:
        raise PickbestError(
            f"budget must be at least {guard_budget + 1} where the guard has {guard_budget} "
            f"arms of its own, got {budget}; with guard_budget=0 an arm yields to the guard"
        )
    guard = _guard(n_arms, max(guard_budget, 1), rounds, epsilon)
    free = make_learner(inner, n_arms, budget - guard_budget, rounds)
    return Guarded(free, guard) if guard_budget else GuardedLast(free, guard)


def _guard(n_arms: int, budget: int, rounds: int | None, epsilon: float | None) -> FPMLPartial:
    if epsilon is not None:
        return FPMLPartial(n_arms, budget, epsilon)
    tuned = theory.partial_epsilon_practical(n_arms=n_arms, slot_budget=budget, rounds=rounds or 1)
    if rounds:
        return FPMLPartial(n_arms, budget, tuned)
    # Without a horizon epsilon falls with the rounds t: sqrt(ln N / t).
    return FPMLPartial(n_arms, budget, tuned / 2, decay=0.5)
