"""(rho, B)-bounded oracles: an x in P whose expected smallest slack is not negative.

Every oracle maximises that expectation over P. It also returns multipliers y ≥ 0, summing to 1,
with max over P of y · (A x - b) equal to the maximum, because the minimum over a tuple is the
least weighted mean over it. A negative maximum is therefore a certificate: no x in P has
A x ≥ b, and anybody can check it by maximising one linear function over P.

A certificate is claimed only where `proved_bound` is negative, which rounding cannot spoil: every
sum in it carries the a-priori bound on its rounding errors, n · 2^-52 · Σ |terms| (Higham 2002,
section 3.1).
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from pickbest.core import FloatArray, PickbestError
from pickbest.feasibility.highs import PURPOSE, LinearProgram, Rows, load
from pickbest.feasibility.laws import AnyLaw
from pickbest.feasibility.sets import Box, ConvexSet, Polytope, Simplex, System, as_rows, width_over

EPSILON = float(np.finfo(np.float64).eps)

# Where the gap between the best point and the bound counts as closed, in units of the slacks:
# a few times HiGHS's own tolerance.
_CLOSED = 5e-7
_MOST_CUTS = 5_000
# The next cut is taken so far from the best point towards the program's, which jumps about
# (Ben-Ameur and Neto 2007): a fifth took a third of the cuts that the whole way did.
_STEP = 0.2


@dataclass(frozen=True)
class Answer:
    """What an oracle says about a law.

    x: the point that it found. value: an upper bound on the expected smallest slack over P.
    multipliers: y ≥ 0, one a constraint, with y · (A x - b) ≤ value for every x in P.
    """

    x: FloatArray
    value: float
    multipliers: FloatArray


@runtime_checkable
class Oracle(Protocol):
    """Bring your own for sets that this package does not know."""

    def width(self) -> float:
        """rho: no answer has |A_i x - b_i| above it."""
        ...

    def answer(self, law: AnyLaw) -> Answer:
        """An x whose expected smallest slack is at least -epsilon / 32, where P has one of 0."""
        ...

    def bound(self, multipliers: FloatArray) -> float:
        """An upper bound on y · (A x - b) over P; where it is negative, y is a certificate."""
        ...


class LinearOracle:
    """B = 1: one linear function is maximised over P."""

    def __init__(self, system: System, convex: ConvexSet) -> None:
        self._system, self._convex = system, convex

    def width(self) -> float:
        return width_over(self._convex, self._system)

    def answer(self, law: AnyLaw) -> Answer:
        # At one draw there is no smallest: the multipliers are the law, whatever the slacks.
        y = law.multipliers(np.zeros(self._system.n_constraints))
        x, best = self._convex.maximize(self._system.direction(y))
        return Answer(x, best - float((y * self._system.bounds).sum()), y)

    def bound(self, multipliers: FloatArray) -> float:
        """Negative only where that is proved."""
        best = self._convex.maximize(self._system.direction(multipliers))[1]
        value = best - float((multipliers * self._system.bounds).sum())
        if value < 0.0 and proved_bound(self._system, self._convex, multipliers) >= 0.0:
            return 0.0
        return value


class CuttingPlanes(LinearOracle):
    """B > 1 over a polytope: cutting planes (Kelley 1960).

    f(x) = E[min of the tuple's A_i x - b_i] lies below y · (A x - b) for the multipliers y of any
    point, and meets it there. The best x of the program max t, t ≤ y_k · (A x - b) over P gives the
    next cut. Its value bounds f from above, and its duals mix the y_k into multipliers that prove
    it, so the answer carries both: a point, and how much better any other could be. Where only
    f ≥ 0 or a proof that there is no such x is asked for, half of a bound above 0 is enough, and
    any bound below 0.

    exact: to within tolerance; else until its sign is known, to within a factor of two.
    """

    def __init__(
        self, system: System, convex: ConvexSet, rows: Rows, tolerance: float, exact: bool
    ) -> None:
        super().__init__(system, convex)
        self._tolerance, self._exact = tolerance, exact
        self._starts: list[FloatArray] = []
        # P's rows for (x, t): t is a variable without bounds.
        sparse = load("scipy.sparse", PURPOSE)
        no_t = sparse.csr_array((len(rows.row_lower), 1))
        self._rows = Rows(
            sparse.hstack([sparse.csr_array(rows.matrix), no_t]),
            rows.row_lower,
            rows.row_upper,
            np.append(rows.lower, -np.inf),
            np.append(rows.upper, np.inf),
        )

    def answer(self, law: AnyLaw) -> Answer:
        """A point, the bound that the cuts prove, and the multipliers that prove it."""
        highest = np.append(np.zeros(self._system.dimension), 1.0)
        points = list(self._starts)
        if not points:
            y = law.multipliers(np.zeros(self._system.n_constraints))
            points = [self._convex.maximize(self._system.direction(y))[0]]
        slacks = [self._system.slacks(x) for x in points]
        # t is counted in these, so that HiGHS's tolerances mean what they should.
        unit = max(float(np.abs(slacks[0]).max()), self._tolerance)
        # max t over P: the last variable is t, which cuts will bound.
        program = LinearProgram(self._rows)
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
            x = np.clip(top.x, self._rows.lower, self._rows.upper)[:-1]
            x = best + _STEP * (x - best)
            points.append(x)
            slacks.append(self._system.slacks(x))
        raise PickbestError(
            f"{_MOST_CUTS} cutting planes did not find the best x: rescale A and b, or take "
            "budget 1"
        )


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
    if isinstance(convex, Polytope):
        _, z = convex.solve(direction)
        matrix = convex.rows.matrix
        rounding = (np.abs(direction) + abs(matrix).T @ z) * ((len(z) + 4) * EPSILON)
        hull = Box(convex.rows.lower, convex.rows.upper)
        over = _over_box(hull, direction - matrix.T @ z, rounding + doubt)
        return upper_sum(np.append(convex.rows.row_upper * z, over))
    return convex.maximize(direction)[1]


def upper_sum(terms: FloatArray) -> float:
    """An upper bound on the exact sum of products that were each rounded once."""
    return float(terms.sum() + np.abs(terms).sum() * ((len(terms) + 4) * EPSILON))


def _over_box(box: Box, direction: FloatArray, doubt: FloatArray) -> float:
    best = np.maximum(direction * box.lower, direction * box.upper)
    wrong = doubt * np.maximum(np.abs(box.lower), np.abs(box.upper))
    return upper_sum(np.append(best, wrong))


def oracle_for(
    oracle: ConvexSet | Oracle, system: System, budget: int, tolerance: float, exact: bool = True
) -> Oracle:
    """The oracle of a set, closed form at B = 1 and cutting planes above; or the one given.

    tolerance is for B > 1. An oracle that need not be `exact` may stop at an x that is half as
    good as the best.
    """
    if not isinstance(oracle, ConvexSet):
        if isinstance(oracle, Oracle):
            return oracle
        raise PickbestError(
            "oracle must be a Box, Simplex or Polytope, or have the methods of "
            f"feasibility.Oracle, got {type(oracle).__name__}"
        )
    if oracle.dimension != system.dimension:
        raise PickbestError(
            f"A has {system.dimension} columns, but P has dimension {oracle.dimension}"
        )
    if budget == 1:
        return LinearOracle(system, oracle)
    rows = as_rows(oracle)
    if rows is None:
        raise PickbestError(
            f"a set that is known by its linear maximiser alone allows budget 1, got {budget}: "
            "use a Box, Simplex or Polytope, or an Oracle of your own"
        )
    return CuttingPlanes(system, oracle, rows, tolerance, exact)
