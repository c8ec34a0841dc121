"""The oracle for B > 1 over sets that linear rows describe: one linear program a call."""

from __future__ import annotations

from typing import Any

import numpy as np

from pickbest.core import FloatArray, IntArray
from pickbest.feasibility.laws import Law
from pickbest.feasibility.linear import PURPOSE, LinearProgram
from pickbest.feasibility.oracles import Answer, linear_bound
from pickbest.feasibility.packages import load
from pickbest.feasibility.polytopes import Rows, stacked
from pickbest.feasibility.sets import ConvexSet, width_over
from pickbest.feasibility.system import System


class ProgramOracle:
    """B > 1 over a polytope: a linear program in x, the slacks r, and the tuples' minima s.

    max Σ_k p_k s_k subject to A_i x - r_i = b_i, s_k ≤ r_i for i in tuple k, and x in P, over
    those constraints i that occur. The duals of the equations are the multipliers, up to sign.
    While the tuples stay the same only the objective changes, and HiGHS starts warm.
    """

    tolerance = 0.0

    def __init__(self, system: System, convex: ConvexSet, rows: Rows) -> None:
        self._system = system
        self._convex = convex
        self._rows = rows
        self._tuples: IntArray = np.empty((0, 0), np.int64)
        self._used: IntArray = np.empty(0, np.int64)
        self._program: LinearProgram

    def width(self) -> float:
        return width_over(self._convex, self._system)

    def answer(self, law: Law) -> Answer:
        if law.tuples is not self._tuples:
            self._state_program(law.tuples)
        dimension, n_used = self._system.dimension, len(self._used)
        minima = dimension + n_used + np.arange(len(law.tuples))
        best = self._program.maximize(law.probabilities, minima)
        duals = best.row_duals[self._first_equation : self._first_equation + n_used]
        y = np.zeros(self._system.n_constraints)
        y[self._used] = np.maximum(-duals, 0.0)
        y /= y.sum()
        x = np.clip(best.x[:dimension], self._rows.lower, self._rows.upper)
        return Answer(x, best.value, y)

    def bound(self, multipliers: FloatArray) -> float:
        return linear_bound(self._system, self._convex, multipliers)

    @property
    def _first_equation(self) -> int:
        return len(self._rows.row_lower)

    def _state_program(self, tuples: IntArray) -> None:
        self._tuples, self._used = tuples, np.unique(tuples)
        self._program = joint_program(self._system, self._rows, tuples, self._used)


def joint_program(system: System, rows: Rows, tuples: IntArray, used: IntArray) -> LinearProgram:
    """The program of ProgramOracle: P's own rows, then A x - r = b, then r - s ≥ 0."""
    sparse: Any = load("scipy.sparse", PURPOSE)
    n_used, (n_tuples, budget) = len(used), tuples.shape
    pairs = n_tuples * budget
    ones, numbers = np.ones(pairs), np.arange(pairs)
    slack_of = np.searchsorted(used, tuples.ravel())
    tuple_of = np.repeat(np.arange(n_tuples), budget)
    of_pair = sparse.csr_array((ones, (numbers, slack_of)), shape=(pairs, n_used))
    minus_minimum = sparse.csr_array((-ones, (numbers, tuple_of)), shape=(pairs, n_tuples))
    chosen = sparse.csr_array(system.matrix[used])
    matrix = sparse.vstack(
        [
            stacked(rows, n_used + n_tuples),
            sparse.hstack(
                [chosen, -sparse.eye_array(n_used), sparse.csr_array((n_used, n_tuples))]
            ),
            sparse.hstack([sparse.csr_array((pairs, system.dimension)), of_pair, minus_minimum]),
        ]
    )
    bounds, unbounded = system.bounds[used], np.full(n_used + n_tuples, np.inf)
    return LinearProgram(
        matrix,
        np.concatenate([rows.row_lower, bounds, np.zeros(pairs)]),
        np.concatenate([rows.row_upper, bounds, np.full(pairs, np.inf)]),
        np.concatenate([rows.lower, -unbounded]),
        np.concatenate([rows.upper, unbounded]),
    )
