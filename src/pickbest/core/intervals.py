"""What is seen of a race whose losers were stopped: a cost, or an interval that holds it."""

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core.arrays import BoolArray, FloatArray, IntArray
from pickbest.core.rounds import learn_round
from pickbest.core.types import Choice, Learner, State


class Intervals(NamedTuple):
    """What was seen of the picked arms of a round.

    low, high: (replicates, budget) bounds of each arm's cost; equal where it is known.
    times: (replicates, budget) when the arm answered, or how long it ran without an answer, as a
        share of the deadline; 1 where it is known never to answer.
    watch: (replicates,) the probability with which the round was to be watched to its end.
    watched: (replicates,) whether it was.
    """

    low: FloatArray
    high: FloatArray
    times: FloatArray
    watch: FloatArray
    watched: BoolArray


@runtime_checkable
class IntervalLearner(Learner, Protocol):
    """A learner that can learn of races whose losers were stopped.

    It says, before a race, how likely that is to be watched: then all arms run to their own end
    or the deadline, whoever answers first.
    """

    def watch_probability(self, state: State, arms: IntArray) -> FloatArray:
        """(replicates,) for rounds with these arms (replicates, budget)."""
        ...

    def learn_intervals(self, state: State, choice: Choice, seen: Intervals) -> State:
        """As `learn`, of intervals."""
        ...


def watch_probability(learner: Learner, state: State, arms: IntArray) -> FloatArray:
    """How likely rounds are watched: as the learner says, or never where it has no use for it."""
    if isinstance(learner, IntervalLearner):
        return learner.watch_probability(state, arms)
    return np.zeros(len(arms))


@runtime_checkable
class IntervalContextLearner(IntervalLearner, Protocol):
    """One that can also use features of a round (see core.ContextLearner)."""

    def learn_intervals_in(
        self, state: State, choice: Choice, seen: Intervals, features: ArrayLike
    ) -> State:
        """As `learn_intervals`, of a round that had these features."""
        ...


def learn_intervals(
    learner: Learner,
    state: State,
    choice: Choice,
    seen: Intervals,
    features: FloatArray | None = None,
) -> State:
    """Fold a race in; a learner that knows no intervals is told the highest costs.

    features: those of its pick, encoded, where it had some.
    """
    if features is not None and isinstance(learner, IntervalContextLearner):
        return learner.learn_intervals_in(state, choice, seen, features)
    if isinstance(learner, IntervalLearner):
        return learner.learn_intervals(state, choice, seen)
    return learn_round(learner, state, choice, seen.high, features)
