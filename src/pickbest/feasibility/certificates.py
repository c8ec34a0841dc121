"""Upper bounds on y · (A x - b) over P that hold whatever floating-point arithmetic did.

A certificate of infeasibility is claimed only where such a bound is negative. Every sum carries the
a-priori bound on its rounding errors, n · 2^-52 · Σ |terms| (Higham 2002, section 3.1).
"""

import numpy as np

from pickbest.core import FloatArray
from pickbest.feasibility.constraints import System
from pickbest.feasibility.polytopes import EPSILON, Polytope, rest_and_doubt, upper_sum
from pickbest.feasibility.sets import Ball, Box, ConvexSet, Simplex


def proved_bound(system: System, convex: ConvexSet, multipliers: FloatArray) -> float:
    """No x in P has a larger y · (A x - b), for y ≥ 0.

    For a set that is known by its linear maximiser alone, this is as right as that routine.
    """
    direction = system.direction(multipliers)
    sizes = abs(system.transposed) @ multipliers
    doubt = sizes * ((system.n_constraints + 4) * EPSILON)
    best = proved_maximum(convex, direction, doubt)
    return upper_sum(np.append(-multipliers * system.bounds, best))


def proved_maximum(convex: ConvexSet, direction: FloatArray, doubt: FloatArray) -> float:
    """An upper bound on c · x over P for every c with |c - direction| ≤ doubt."""
    if isinstance(convex, Box):
        return _over_box(convex, direction, doubt)
    if isinstance(convex, Simplex):
        return upper_sum(np.array([convex.total * float((direction + doubt).max())]))
    if isinstance(convex, Ball):
        reach = convex.radius * float(np.linalg.norm(np.abs(direction) + doubt))
        exact = convex.radius * float(np.linalg.norm(direction))
        wrong = (reach - exact) + reach * ((len(direction) + 8) * EPSILON)
        wrong += float(np.abs(convex.center) @ doubt) * (1.0 + 1e-9)
        return upper_sum(np.append(direction * convex.center, [exact, wrong]))
    if isinstance(convex, Polytope):
        z = convex.duals(direction)
        rest, rounding = rest_and_doubt(convex.rows.matrix, z, direction)
        over = _over_box(convex.hull, rest, rounding + doubt)
        return upper_sum(np.append(convex.rows.row_upper * z, over))
    return convex.maximize(direction)[1]


def _over_box(box: Box, direction: FloatArray, doubt: FloatArray) -> float:
    best = np.maximum(direction * box.lower, direction * box.upper)
    wrong = doubt * np.maximum(np.abs(box.lower), np.abs(box.upper))
    return upper_sum(np.append(best, wrong))
