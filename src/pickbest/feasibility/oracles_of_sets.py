"""Which oracle belongs to a set and a budget, and those that are exact.

One linear function is maximised at B = 1; over sets that linear rows describe one linear program
is solved a call at B > 1, or a few with `cutting_planes` for a product law. For the ball there is
`smoothed_oracle`.
"""

from typing import Any

import numpy as np

from pickbest.core import IntArray, PickbestError
from pickbest.feasibility.constraints import System
from pickbest.feasibility.cutting_planes import CuttingPlanes
from pickbest.feasibility.highs import PURPOSE, LinearProgram, load
from pickbest.feasibility.laws import AnyLaw, weighted_sum
from pickbest.feasibility.oracles import Answer, Oracle, OracleOfSet
from pickbest.feasibility.polytopes import Rows, as_rows, extended
from pickbest.feasibility.product_law import ProductLaw
from pickbest.feasibility.sets import Ball, ConvexSet, check_dimension
from pickbest.feasibility.smoothed_oracle import SmoothedOracle


def oracle_for(
    convex: ConvexSet, system: System, budget: int, tolerance: float, exact: bool = True
) -> Oracle:
    """The oracle of a set: closed form at B = 1, HiGHS or smoothing above.

    tolerance is for the ball at B > 1; the other oracles are exact up to rounding, but for product
    laws where not `exact`: these may stop at an x that is half as good as the best.
    """
    check_dimension(convex, system)
    if budget == 1:
        return LinearOracle(system, convex)
    if isinstance(convex, Ball):
        return SmoothedOracle(system, convex, tolerance)
    rows = as_rows(convex)
    if rows is None:
        raise PickbestError(
            f"a set that is known by its linear maximiser alone allows budget 1, got {budget}: "
            "use a Box, Simplex, Ball or Polytope, or an Oracle of your own"
        )
    return ProgramOracle(system, convex, rows, tolerance, exact)


def as_oracle(oracle: ConvexSet | Oracle, system: System, budget: int, tolerance: float) -> Oracle:
    """The oracle of a set, which does as much as the solver needs, or the one that was given."""
    if isinstance(oracle, ConvexSet):
        return oracle_for(oracle, system, budget, tolerance, exact=False)
    if isinstance(oracle, Oracle):
        return oracle
    raise PickbestError(
        "oracle must be a Box, Simplex, Ball, Polytope or Maximizer, or have the methods of "
        f"feasibility.Oracle, got {type(oracle).__name__}"
    )


class LinearOracle(OracleOfSet):
    """B = 1: one linear function is maximised over P."""

    def answer(self, law: AnyLaw) -> Answer:
        if isinstance(law, ProductLaw):
            raise PickbestError(f"this oracle answers single constraints, got {law.budget} draws")
        y = law.first_marginal(self._system.n_constraints)
        x, best = self._convex.maximize(self._system.direction(y))
        return Answer(x, best - weighted_sum(y, self._system.bounds), y)


class ProgramOracle(OracleOfSet):
    """B > 1 over a polytope: for tuples a linear program in x, the slacks r, and the minima s.

    max Σ_k p_k s_k subject to A_i x - r_i = b_i, s_k ≤ r_i for i in tuple k, and x in P, over
    those constraints i that occur. The duals of the equations are the multipliers, up to sign.
    While the tuples stay the same only the objective changes, and HiGHS starts warm.
    A product law has no tuples: cutting planes answer it to within `tolerance`.
    """

    def __init__(
        self, system: System, convex: ConvexSet, rows: Rows, tolerance: float, exact: bool
    ) -> None:
        super().__init__(system, convex)
        self.tolerance, self._rows = tolerance, rows
        self._tuples: IntArray = np.empty((0, 0), np.int64)
        self._used: IntArray = np.empty(0, np.int64)
        self._program: LinearProgram
        self._planes = CuttingPlanes(system, convex, rows, tolerance, exact)

    def answer(self, law: AnyLaw) -> Answer:
        if isinstance(law, ProductLaw):
            return self._planes.answer(law)
        if law.tuples is not self._tuples:
            self._tuples, self._used = law.tuples, np.unique(law.tuples)
            self._program = joint_program(self._system, self._rows, self._tuples, self._used)
        dimension, n_used = self._system.dimension, len(self._used)
        minima = dimension + n_used + np.arange(len(law.tuples))
        best = self._program.maximize(law.probabilities, minima)
        first = len(self._rows.row_lower)
        duals = best.row_duals[first : first + n_used]
        y = np.zeros(self._system.n_constraints)
        y[self._used] = np.maximum(-duals, 0.0)
        y /= y.sum()
        x = np.clip(best.x[:dimension], self._rows.lower, self._rows.upper)
        return Answer(x, best.value, y)


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
    equations = [chosen, -sparse.eye_array(n_used), sparse.csr_array((n_used, n_tuples))]
    minima = [sparse.csr_array((pairs, system.dimension)), of_pair, minus_minimum]
    bounds = system.bounds[used]
    return extended(
        rows,
        sparse.vstack([sparse.hstack(equations), sparse.hstack(minima)]),
        np.concatenate([bounds, np.zeros(pairs)]),
        np.concatenate([bounds, np.full(pairs, np.inf)]),
    )
