"""Which oracle belongs to a set and a budget."""

from __future__ import annotations

from pickbest.core import PickbestError
from pickbest.feasibility.oracles import LinearOracle, Oracle
from pickbest.feasibility.polytopes import as_rows
from pickbest.feasibility.programs import ProgramOracle
from pickbest.feasibility.sets import Ball, ConvexSet, check_dimension
from pickbest.feasibility.smoothing import SmoothedOracle
from pickbest.feasibility.system import System


def oracle_for(convex: ConvexSet, system: System, budget: int, tolerance: float) -> Oracle:
    """The oracle of a set: closed form at B = 1, HiGHS or smoothing above.

    tolerance is for the ball at B > 1; the other oracles are exact up to rounding.
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
    return ProgramOracle(system, convex, rows)


def as_oracle(oracle: ConvexSet | Oracle, system: System, budget: int, tolerance: float) -> Oracle:
    """The oracle of a set, or the one that was given."""
    if isinstance(oracle, ConvexSet):
        return oracle_for(oracle, system, budget, tolerance)
    if isinstance(oracle, Oracle):
        return oracle
    raise PickbestError(
        "oracle must be a Box, Simplex, Ball, Polytope or Maximizer, or have the methods of "
        f"feasibility.Oracle, got {type(oracle).__name__}"
    )
