"""Exact answers by SciPy's HiGHS, to judge the solver's by."""

import time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core import FloatArray
from pickbest.core.errors import load_extra
from pickbest.feasibility.sets import ConvexSet, Simplex, System, as_rows


def best_worst_slack(system: System, convex: ConvexSet) -> float:
    """The largest smallest slack over P: at least 0 where A x ≥ b is feasible."""
    found = linear_program(system.matrix, system.bounds, convex, slack=True)
    if found.status != 0:
        raise ValueError(f"HiGHS did not solve the program: {found.message}")
    return -float(found.fun)


def exact_value(payoffs: ArrayLike) -> float:
    """The value of a zero-sum game: max v with v ≤ (rows · payoffs)_j.

    >>> round(exact_value([[2.0, -1.0], [-1.0, 1.0]]), 6)
    0.2
    """
    table = np.asarray(payoffs, dtype=np.float64)
    return best_worst_slack(System.of(table.T, np.zeros(table.shape[1])), Simplex(len(table)))


def exactly(A: Any, b: FloatArray, convex: ConvexSet) -> tuple[bool, float]:  # noqa: N803
    """(feasible, seconds): whether some x in P has A x ≥ b."""
    start = time.perf_counter()
    found = linear_program(A, b, convex, slack=False)
    return found.status == 0, time.perf_counter() - start


def linear_program(A: Any, b: FloatArray, convex: ConvexSet, slack: bool) -> Any:  # noqa: N803
    """max t with A x - t ≥ b over P; without `slack` t is 0, and any x with A x ≥ b will do."""
    sparse = load_extra("scipy.sparse", "lp", "linear programs")
    rows = as_rows(convex)
    if rows is None:
        raise TypeError(f"{convex!r} has no linear description")
    own = sparse.csr_array(rows.matrix)
    above, below = np.isfinite(rows.row_upper), np.isfinite(rows.row_lower)
    upper = sparse.vstack([-sparse.csr_array(A), own[above], -own[below]])
    limits = np.concatenate([-b, rows.row_upper[above], -rows.row_lower[below]])
    weighs = np.zeros(len(limits))
    weighs[: len(b)] = 1.0
    return load_extra("scipy.optimize", "lp", "linear programs").linprog(
        np.append(np.zeros(own.shape[1]), -1.0),
        A_ub=sparse.hstack([upper, sparse.csr_array(weighs[:, None])]),
        b_ub=limits,
        bounds=[*zip(rows.lower, rows.upper, strict=True), (None, None) if slack else (0.0, 0.0)],
    )
