"""The oracle for a product law over a polytope: cutting planes (Kelley 1960).

f(x) = E[min of B draws of A_i x - b_i] lies below y · (A x - b) for the multipliers y of any point,
and meets it there. The best x of the program max t, t ≤ y_k · (A x - b) over P gives the next cut.
Its value bounds f from above, and its duals mix the y_k into multipliers that prove it, so the
answer carries both: a point, and how much better any other could be. Where only f ≥ 0 or a proof
that there is no such x is asked for, half of a bound above 0 is enough, and any bound below 0.
"""

import numpy as np

from pickbest.core import FloatArray, PickbestError
from pickbest.feasibility.constraints import System
from pickbest.feasibility.oracles import Answer
from pickbest.feasibility.polytopes import Rows, extended
from pickbest.feasibility.product_law import ProductLaw
from pickbest.feasibility.sets import ConvexSet

# Where the gap between the best point and the bound counts as closed, in units of the slacks:
# a few times HiGHS's own tolerance.
_CLOSED = 5e-7
_MOST_CUTS = 5_000
# The next cut is taken so far from the best point towards the program's, which jumps about
# (Ben-Ameur and Neto 2007): a fifth took a third of the cuts that the whole way did.
_STEP = 0.2


class CuttingPlanes:
    """Maximises the expected smallest slack of product laws over a polytope.

    exact: to within tolerance; else until its sign is known, to within a factor of two.
    """

    def __init__(
        self, system: System, convex: ConvexSet, rows: Rows, tolerance: float, exact: bool
    ) -> None:
        self._system, self._convex, self._rows = system, convex, rows
        self._tolerance, self._exact = tolerance, exact
        self._starts: list[FloatArray] = []
        self._sizes = system.column_sizes()

    def answer(self, law: ProductLaw) -> Answer:
        """A point, the bound that the cuts prove, and the multipliers that prove it."""
        highest = np.append(np.zeros(self._system.dimension), 1.0)
        one_draw = self._system.direction(law.probabilities)
        points = list(self._starts) or [self._convex.maximize(one_draw)[0]]
        slacks = [self._system.slacks(x) for x in points]
        # t is counted in these, so that HiGHS's tolerances mean what they should.
        unit = max(float(np.abs(slacks[0]).max()), self._tolerance)
        # max t over P: the last variable is t, and cuts of this size will bound it.
        like = np.append(self._sizes / unit, -1.0)[None]
        program = extended(self._rows, like[:0], np.empty(0), np.empty(0), coming=like)
        close = max(self._tolerance, _CLOSED * unit)
        cuts: list[FloatArray] = []
        best, reached, place = points[0], -np.inf, 0
        while len(cuts) <= _MOST_CUTS:
            for own in slacks[len(cuts) :]:
                y = law.multipliers(own)
                value = float((y * own).sum())
                if value > reached:
                    best, reached, place = points[len(cuts)], value, len(cuts)
                cuts.append(y)
                below = float((y * self._system.bounds).sum())
                program.add_row(below / unit, np.append(self._system.direction(y) / unit, -1.0))
            top = program.maximize(highest)
            most = top.value * unit
            signed = not self._exact and (most < -close or 0.0 <= most / 2.0 <= reached)
            if signed or most - reached <= close:
                shares = np.maximum(-top.row_duals[len(self._rows.row_lower) :], 0.0)
                shares /= shares.sum()
                tight = np.flatnonzero(shares)
                self._starts = [points[k] for k in sorted({place, *tight.tolist()})]
                y = np.einsum("k,ki->i", shares[tight], np.array([cuts[k] for k in tight]))
                return Answer(best, most, y)
            x = np.clip(top.x[:-1], self._rows.lower, self._rows.upper)
            x = best + _STEP * (x - best)
            points.append(x)
            slacks.append(self._system.slacks(x))
        raise PickbestError(
            f"{_MOST_CUTS} cutting planes did not find the best x: rescale A and b, or take "
            "budget 1"
        )
