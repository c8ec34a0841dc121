"""How fast the best subset in hindsight is proven, beside SciPy's MILP solver."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from pickbest.hindsight import best_subset
from timing import Row, row

Table = NDArray[np.float64]
ROUNDS = 368
OUR_LIMIT = 15.0
LEAST_RATIO = 100.0
REFERENCE_LIMIT = 12.0


def anticorrelated(n_arms: int, budget: int, seed: int = 0) -> Table:
    """Twice as many kinds of round as the budget; an arm is good on one kind."""
    rng = np.random.default_rng(seed)
    arm_kind = rng.integers(2 * budget, size=n_arms)
    round_kind = rng.integers(2 * budget, size=ROUNDS)
    fits = arm_kind[None, :] == round_kind[:, None]
    noise = 0.1 * rng.standard_normal((ROUNDS, n_arms))
    costs: Table = np.clip(np.where(fits, 0.2, 0.8) + 0.2 * rng.random(n_arms) + noise, 0, 1)
    return costs


def realistic(n_arms: int, budget: int, seed: int = 0) -> Table:
    """Few good arms, rounds of unequal difficulty, most rewards exactly 0."""
    rng = np.random.default_rng(seed)
    skill, ease = rng.beta(0.5, 6.0, n_arms), 2.0 * rng.random((ROUNDS, 1))
    succeeds = rng.random((ROUNDS, n_arms)) < skill * ease
    costs: Table = 1.0 - np.where(succeeds, rng.beta(2.0, 1.0, (ROUNDS, n_arms)), 0.0)
    return costs


def uniform(n_arms: int, budget: int, seed: int = 0) -> Table:
    """Independent uniform costs: no structure, the hardest kind."""
    costs: Table = np.random.default_rng(seed).random((ROUNDS, n_arms))
    return costs


def solve_milp(costs: Table, budget: int, time_limit: float | None = None) -> float | None:
    """The least cost by SciPy's MILP on the p-median formulation; None if not proven in time.

    Variables: a 0/1 `open` for each arm, then a share of each round for each arm.
    """
    rounds, n_arms = costs.shape
    shares = rounds * n_arms
    one_unit_a_round = sparse.hstack(
        [sparse.csr_array((rounds, n_arms)), sparse.kron(sparse.eye_array(rounds), np.ones(n_arms))]
    )
    only_open = sparse.hstack(
        [-sparse.vstack([sparse.eye_array(n_arms)] * rounds), sparse.eye_array(shares)]
    )
    opened = sparse.hstack([np.ones((1, n_arms)), sparse.csr_array((1, shares))])
    result = optimize.milp(
        np.concatenate([np.zeros(n_arms), costs.ravel()]),
        constraints=[
            optimize.LinearConstraint(one_unit_a_round.tocsc(), 1, 1),
            optimize.LinearConstraint(only_open.tocsc(), -np.inf, 0),
            optimize.LinearConstraint(opened.tocsc(), budget, budget),
        ],
        integrality=np.concatenate([np.ones(n_arms), np.zeros(shares)]),
        bounds=optimize.Bounds(0, 1),
        options={} if time_limit is None else {"time_limit": time_limit},
    )
    return float(result.fun) if result.status == 0 else None


def _timed(function: Callable[[], Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    result = function()
    return result, time.perf_counter() - started


# kind, n_arms, budget, seconds allowed (None: compared with MILP instead)
CASES: list[tuple[Callable[..., Table], int, int, float | None]] = [
    (uniform, 30, 6, None),
    (realistic, 30, 6, None),
    (anticorrelated, 200, 10, 1.0),
    (anticorrelated, 200, 20, 1.0),
    (realistic, 200, 10, 1.0),
    (realistic, 200, 20, 1.0),
    (anticorrelated, 1000, 10, 10.0),
    (realistic, 1000, 10, 10.0),
    (uniform, 100, 5, 10.0),
]


def rows() -> list[Row]:
    """One row per table. Where MILP does not finish in its limit, the ratio is a lower bound."""
    best_subset(realistic(30, 6), 6, time_limit=1.0)  # loads what is compiled; NumPy does less
    return [_row(*case) for case in CASES]


def _row(kind: Callable[..., Table], n_arms: int, budget: int, allowed: float | None) -> Row:
    costs = kind(n_arms, budget)
    runs = [_timed(lambda: best_subset(costs, budget, time_limit=OUR_LIMIT)) for _ in range(3)]
    ours, seconds = min(runs, key=lambda run: run[1])
    name = f"{kind.__name__} N={n_arms} B={budget}"
    if allowed is not None:
        met = ours.proven and seconds <= allowed
        return row(name, seconds, None, f"proven within {allowed:g} s", met)
    cost, reference = _timed(lambda: solve_milp(costs, budget, REFERENCE_LIMIT))
    agrees = cost is None or abs(cost - ours.cost) < 1e-4 * ours.cost
    met = ours.proven and agrees and reference / seconds >= LEAST_RATIO
    return row(name, seconds, reference, f"{LEAST_RATIO:g}x faster", met)
