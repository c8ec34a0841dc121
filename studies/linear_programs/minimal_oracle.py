"""An oracle that does no more than it must: for measuring the rate of Proposition 8.

The oracles that solve problems return the best x, and at B > 1 the first one is often a
solution already. The proposition asks only for an expected smallest slack of at least 0; this
oracle goes from the best x towards the point that is worst for the constraint that its answers
violate most so far, as far as that allows.
"""

import numpy as np

from pickbest.core import FloatArray
from pickbest.feasibility.laws import AnyLaw
from pickbest.feasibility.oracles import Answer, oracle_for
from pickbest.feasibility.sets import ConvexSet, System

# Chords drawn to find how far the oracle may go; at B = 1 the first is exact.
_CHORDS = 6


class MinimalOracle:
    """Answers that meet the law with nothing to spare."""

    tolerance = 1e-5

    def __init__(self, system: System, convex: ConvexSet, budget: int) -> None:
        self._system = system
        self._convex = convex
        self._best = oracle_for(convex, system, budget, self.tolerance)
        self._slacks = np.zeros(system.n_constraints)

    def width(self) -> float:
        return self._best.width()

    def bound(self, multipliers: FloatArray) -> float:
        return self._best.bound(multipliers)

    def answer(self, law: AnyLaw) -> Answer:
        best = self._best.answer(law)
        if best.value < 0.0:
            return best
        worst = self._system.rows(np.array([np.argmin(self._slacks)]))[0]
        bad = self._convex.maximize(-worst)[0]
        good_slacks = self._system.slacks(best.x)
        change = self._system.slacks(bad) - good_slacks
        step = farthest(law, good_slacks, change)
        self._slacks += good_slacks + step * change
        return Answer(best.x + step * (bad - best.x), best.value, best.multipliers)


def farthest(law: AnyLaw, slacks: FloatArray, change: FloatArray) -> float:
    """About the largest step in [0, 1] whose expected smallest slack is at least 0.

    The expectation is concave in the step, so where a chord from a good step to the whole one
    meets 0 is a good step again, and nearer.
    """
    bad = law.expected_minimum(slacks + change)
    if bad >= 0.0:
        return 1.0
    step, value = 0.0, law.expected_minimum(slacks)
    for _ in range(_CHORDS):
        if value <= 1e-12:
            break
        step += (1.0 - step) * value / (value - bad)
        value = law.expected_minimum(slacks + step * change)
    return step
