"""The oracle for B > 1 over a ball: Nesterov's smoothing, with a duality gap as its proof.

f(x), the expected smallest slack, is concave, not smooth. The law smooths it at a temperature, at
most temperature · softening off, with weights that are multipliers y;
D(y) = max over the ball of y · (A x - b) = y · (A c - b) + radius |Aᵀ y| bounds every f from
above. Accelerated gradient steps at falling temperatures go on until D(y) is negative, or
f(x) ≥ D(y) / 2 ≥ 0, or D(y) - f(x) ≤ tolerance: the answer is then within tolerance of 0 at
worst, and there is always a bound that says how good it is.
"""

import math

import numpy as np

from pickbest.core import FloatArray, PickbestError, check_positive
from pickbest.feasibility.constraints import System
from pickbest.feasibility.laws import AnyLaw
from pickbest.feasibility.oracles import Answer, OracleOfSet
from pickbest.feasibility.sets import Ball

# The gap is looked at after this many steps, since it costs as much as a step.
_STEPS_BETWEEN_LOOKS = 8
# A bound below 0 by this share of the tolerance is negative beyond rounding.
_CLEARLY = 0.01


class SmoothedOracle(OracleOfSet):
    """Maximises the expected smallest slack over a ball to within `tolerance`."""

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
        # smoothed maximum is met within temperature after so many steps (Nesterov 2005). At the
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
