"""(rho, B)-bounded oracles: an x in P whose expected smallest slack is not negative.

Every oracle maximises that expectation over P. It also returns multipliers y ≥ 0, summing to 1,
with max over P of y · (A x - b) equal to the maximum, because the minimum over a tuple is the
least weighted mean over it. A negative maximum is therefore a certificate: no x in P has
A x ≥ b, and anybody can check it by maximising one linear function over P.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pickbest.core import FloatArray
from pickbest.feasibility.certificates import proved_bound
from pickbest.feasibility.constraints import System
from pickbest.feasibility.laws import AnyLaw, weighted_sum
from pickbest.feasibility.sets import ConvexSet, width_over


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
