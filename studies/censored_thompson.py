"""Thompson sampling with censored runtimes, for sets of B arms: what intervals are compared with.

After Tornede, Bengs and Hüllermeier (AAAI 2022), without features: the logarithm of an arm's time
is normal; a round draws every arm's mean from its posterior and takes the B arms whose expected
cost is then lowest, in closed form. A run that was stopped (or that the deadline ended) counts with
the expectation of its time beyond that, given the model (Buckley and James 1979), or, without, as
if it had answered then.
"""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from pickbest.core import Choice, Draws, Feedback, FloatArray, Seen, check_budget
from pickbest.core.states import counts

# As many runs at the mean log time 0.3 of the deadline with this variance are taken for granted.
PRIOR_RUNS, PRIOR_MEAN, PRIOR_SQUARE = 1.0, np.log(0.3), 4.0
SHORTEST = 1e-6


class LogTimes(NamedTuple):
    """(replicates, arms): how many runs, their log times summed, and the squares of these."""

    runs: Annotated[FloatArray, counts(-1)]
    total: Annotated[FloatArray, counts(-1)]
    squares: Annotated[FloatArray, counts(-1)]


@dataclass(frozen=True)
class CensoredThompson:
    """The B lowest expected costs under posterior draws of log-normal times.

    timed: whether the cost is the time; else it is 1 without an answer. buckley_james: see the
    module.
    """

    n_arms: int
    budget: int
    timed: bool = True
    buckley_james: bool = True
    feedback = Feedback.PICKED

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)

    def start(self, replicates: int) -> LogTimes:
        return LogTimes(*(np.zeros((replicates, self.n_arms)) for _ in LogTimes._fields))

    def pick(self, state: LogTimes, draws: Draws, features: FloatArray | None = None) -> Choice:
        mean, deviation = _model(state)
        uniforms = draws.uniforms(2 * self.n_arms)
        first, second = uniforms[:, : self.n_arms], uniforms[:, self.n_arms :]
        normal = np.sqrt(-2.0 * np.log(first)) * np.cos(2.0 * np.pi * second)
        drawn = mean + normal * deviation / np.sqrt(PRIOR_RUNS + state.runs)
        # The deadline is 1, its logarithm 0.
        late = _upper(-drawn / deviation)
        cost = late
        if self.timed:
            moment = np.exp(np.minimum(drawn + 0.5 * deviation**2, 50.0))
            cost = late + moment * (1.0 - _upper(-(drawn + deviation**2) / deviation))
        return Choice(np.argsort(cost, axis=1, kind="stable")[:, : self.budget])

    def learn(
        self, state: LogTimes, choice: Choice, seen: Seen, features: FloatArray | None = None
    ) -> LogTimes:
        times = seen.high if seen.times is None else seen.times
        rows = np.arange(len(choice.arms))[:, None]
        mean, deviation = (each[rows, choice.arms] for each in _model(state))
        ended = np.log(np.maximum(times, SHORTEST))
        answered = (seen.low == seen.high) & (times < 1.0)
        beyond = mean + deviation * _hazard((ended - mean) / deviation)
        value = np.where(answered | (not self.buckley_james), ended, np.maximum(beyond, ended))
        # Squares of what is filled in lack the variance that is left beyond it.
        state.runs[rows, choice.arms] += 1.0
        state.total[rows, choice.arms] += value
        state.squares[rows, choice.arms] += value**2
        return state


def _model(state: LogTimes) -> tuple[FloatArray, FloatArray]:
    """The posterior means of log times, and their standard deviations."""
    runs = state.runs + PRIOR_RUNS
    mean = (state.total + PRIOR_RUNS * PRIOR_MEAN) / runs
    square = (state.squares + PRIOR_RUNS * (PRIOR_MEAN**2 + PRIOR_SQUARE)) / runs
    return mean, np.sqrt(np.maximum(square - mean**2, 0.1))


def _upper(z: FloatArray) -> FloatArray:
    """P(a standard normal variable exceeds z), to 1.5e-7 (Abramowitz and Stegun 7.1.26)."""
    x = np.abs(z) / np.sqrt(2.0)
    t = 1.0 / (1.0 + 0.3275911 * x)
    series = t * (
        0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))
    )
    tail = 0.5 * series * np.exp(-x * x)
    above: FloatArray = np.where(z > 0.0, tail, 1.0 - tail)
    return above


def _hazard(z: FloatArray) -> FloatArray:
    """E[Z | Z > z] of a standard normal variable."""
    density = np.exp(-0.5 * np.minimum(np.abs(z), 30.0) ** 2) / np.sqrt(2.0 * np.pi)
    return np.where(z > 5.0, z + 1.0 / np.maximum(z, 1.0), density / np.maximum(_upper(z), 1e-12))
