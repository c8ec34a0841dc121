"""(rho, B)-bounded oracles: an x in P whose expected smallest slack is not negative.

Every oracle maximises that expectation over P. It also returns multipliers y ≥ 0, summing to 1,
with max over P of y · (A x - b) equal to the maximum, because the minimum over a tuple is the
least weighted mean over it. A negative maximum is therefore a certificate: no x in P has
A x ≥ b, and anybody can check it by maximising one linear function over P.
"""

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from pickbest.core import FloatArray, PickbestError, check_positive
from pickbest.feasibility.constraints import System
from pickbest.feasibility.laws import AnyLaw, weighted_sum
from pickbest.feasibility.polytopes import Rows, as_rows, extended, proved_bound
from pickbest.feasibility.sets import Ball, ConvexSet, check_dimension, width_over

# Where the gap between the best point and the bound counts as closed, in units of the slacks:
# a few times HiGHS's own tolerance.
_CLOSED = 5e-7
_MOST_CUTS = 5_000
# The next cut is taken so far from the best point towards the program's, which jumps about
# (Ben-Ameur and Neto 2007): a fifth took a third of the cuts that the whole way did.
_STEP = 0.2
# The gap is looked at after this many steps, since it costs as much as a step.
_STEPS_BETWEEN_LOOKS = 8
# A bound below 0 by this share of the tolerance is negative beyond rounding.
_CLEARLY = 0.01


@dataclass(frozen=True)
class Answer:
    """What an oracle says about a law.

    x: the point that it found. value: an upper bound on the expected smallest slack over P.
    multipliers: y ≥ 0, one per constraint, with y · (A x - b) ≤ value for every x in P.
    """

    x: FloatArray
    value: float
    multipliers: FloatArray


@runtime_checkable
class Oracle(Protocol):
    """Bring your own for sets that this package does not know."""

    @property
    def tolerance(self) -> float:
        """By how much the expected smallest slack of x may fall short of the best one."""
        ...

    def width(self) -> float:
        """rho: no answer has |A_i x - b_i| above it."""
        ...

    def answer(self, law: AnyLaw) -> Answer: ...

    def bound(self, multipliers: FloatArray) -> float:
        """An upper bound on y · (A x - b) over P; where it is negative, y is a certificate."""
        ...


class OracleOfSet:
    """What the oracles of sets share: the width, and a bound that is negative only where proved."""

    tolerance = 0.0

    def __init__(self, system: System, convex: ConvexSet) -> None:
        self._system, self._convex = system, convex

    def width(self) -> float:
        return width_over(self._convex, self._system)

    def bound(self, multipliers: FloatArray) -> float:
        best = self._convex.maximize(self._system.direction(multipliers))[1]
        value = best - weighted_sum(multipliers, self._system.bounds)
        if value < 0.0 and proved_bound(self._system, self._convex, multipliers) >= 0.0:
            return 0.0
        return value


class LinearOracle(OracleOfSet):
    """B = 1: one linear function is maximised over P."""

    def answer(self, law: AnyLaw) -> Answer:
        # At one draw there is no smallest: the multipliers are the law, whatever the slacks.
        y = law.multipliers(np.zeros(self._system.n_constraints))
        x, best = self._convex.maximize(self._system.direction(y))
        return Answer(x, best - weighted_sum(y, self._system.bounds), y)


class CuttingPlanes(OracleOfSet):
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
        self.tolerance, self._exact, self._rows = tolerance, exact, rows
        self._starts: list[FloatArray] = []
        self._sizes = system.column_sizes()

    def answer(self, law: AnyLaw) -> Answer:
        """A point, the bound that the cuts prove, and the multipliers that prove it."""
        highest = np.append(np.zeros(self._system.dimension), 1.0)
        points = list(self._starts)
        if not points:
            y = law.multipliers(np.zeros(self._system.n_constraints))
            points = [self._convex.maximize(self._system.direction(y))[0]]
        slacks = [self._system.slacks(x) for x in points]
        # t is counted in these, so that HiGHS's tolerances mean what they should.
        unit = max(float(np.abs(slacks[0]).max()), self.tolerance)
        # max t over P: the last variable is t, and cuts of this size will bound it.
        like = np.append(self._sizes / unit, -1.0)[None]
        program = extended(self._rows, like[:0], np.empty(0), np.empty(0), coming=like)
        close = max(self.tolerance, _CLOSED * unit)
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


class SmoothedOracle(OracleOfSet):
    """B > 1 over a ball: Nesterov's smoothing, with a duality gap as its proof.

    f(x), the expected smallest slack, is concave, not smooth. The law smooths it at a temperature,
    at most temperature · softening off, with weights that are multipliers y;
    D(y) = max over the ball of y · (A x - b) = y · (A c - b) + radius |Aᵀ y| bounds every f from
    above. Accelerated gradient steps at falling temperatures go on until D(y) is negative, or
    f(x) ≥ D(y) / 2 ≥ 0, or D(y) - f(x) ≤ tolerance.
    """

    def __init__(self, system: System, ball: Ball, tolerance: float) -> None:
        self.tolerance = check_positive("tolerance", tolerance)
        super().__init__(system, ball)
        self._ball = ball
        self._norms = system.norms()
        self._last = ball.center

    def answer(self, law: AnyLaw) -> Answer:
        used, local = law.compact()
        rows, bounds = self._system.rows(used), self._system.bounds[used]
        steepest = max(float(self._norms[used].max()), 1e-300)
        coldest = self.tolerance / (2.0 * law.softening)
        temperature = max(coldest, steepest * self._ball.radius)
        while True:
            found = self._ascend(local, rows, bounds, steepest, temperature, temperature <= coldest)
            if found is not None:
                multipliers = np.zeros(self._system.n_constraints)
                multipliers[used] = found.multipliers
                return Answer(found.x, found.value, multipliers)
            if temperature <= coldest:
                raise PickbestError(
                    f"the oracle for the ball did not reach its tolerance {self.tolerance:g}: "
                    "rescale A and b, or ask for a larger epsilon"
                )
            temperature = max(coldest, temperature / 4.0)

    def _ascend(
        self,
        law: AnyLaw,
        rows: FloatArray,
        bounds: FloatArray,
        steepest: float,
        temperature: float,
        coldest: bool,
    ) -> Answer | None:
        """Steps at one temperature from the last x: an answer, or None to go on colder."""
        # The gradient of the soft minimum changes by at most this much per unit of x, and the
        # smoothed maximum is met within temperature after this many steps (Nesterov 2005). At the
        # lowest temperature the gap must close, and is taken at the last point: more are allowed.
        steepness = steepest**2 / temperature
        most = 16 + math.ceil(8.0 * self._ball.radius * math.sqrt(steepness / temperature))
        close = 4.0 * temperature * law.softening
        x = ahead = self._last
        momentum = 1.0
        for step in range(most):
            if step % _STEPS_BETWEEN_LOOKS == 0:
                slacks = rows @ x - bounds
                y = law.soft_multipliers(slacks, temperature)
                value, reached = self._dual(rows, bounds, y), law.expected_minimum(slacks)
                self._last = x
                gap = value - reached
                refuted = value < -_CLEARLY * self.tolerance
                if refuted or gap <= max(self.tolerance, min(reached, value / 2.0)):
                    return Answer(x, value, y)
                if gap <= close and not coldest:
                    return None
            gradient = law.soft_multipliers(rows @ ahead - bounds, temperature) @ rows
            following = self._inside(ahead + gradient / steepness)
            if gradient @ (following - x) < 0.0:
                momentum = 1.0  # O'Donoghue and Candès (2015): restart where momentum overshoots.
            grown = (1.0 + math.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
            ahead = following + (momentum - 1.0) / grown * (following - x)
            x, momentum = following, grown
        return None

    def _dual(self, rows: FloatArray, bounds: FloatArray, y: FloatArray) -> float:
        return self._ball.maximize(y @ rows)[1] - float(y @ bounds)

    def _inside(self, x: FloatArray) -> FloatArray:
        """The nearest point of the ball."""
        away = x - self._ball.center
        distance = float(np.linalg.norm(away))
        if distance <= self._ball.radius:
            return x
        return self._ball.center + away * (self._ball.radius / distance)


def oracle_for(
    convex: ConvexSet, system: System, budget: int, tolerance: float, exact: bool = True
) -> Oracle:
    """The oracle of a set: closed form at B = 1, cutting planes or smoothing above.

    tolerance is for B > 1. Over a polytope an oracle that need not be `exact` may stop at an x that
    is half as good as the best.
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
    return CuttingPlanes(system, convex, rows, tolerance, exact)


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
