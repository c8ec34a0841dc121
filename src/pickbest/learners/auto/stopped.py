"""Stopped runs: what any learner can be told of races whose losers were stopped.

Where an arm answered first and another was stopped, the other's reward is taken for its mean given
all that was seen of the round until then, for a mixture of kinds of problems (`auto.kinds`), within
its interval and at most the winner's. A round is watched to its end with probability

    p = max(LEAST_WATCH, SURE / (1 + the fewest watched rounds of its pairs)), at most 1:

what limits the choice of sets is how well the losers of a pair are known, so new pairs are always
watched, and known ones hardly ever.

Estimates stay unbiased. An arm whose cost is seen whether or not the round is watched keeps its
weight; one whose cost is seen only if it is watched has weight / p then, and 0 else. A learner that
adds up weighted costs (the guard of `auto`, FPML-partial) so adds the right ones on average; one
that learns costs without weights (the proposals of `auto`, Thompson sampling) learns those that
were filled in.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple

import numpy as np

from pickbest.core import (
    BoolArray,
    Choice,
    Draws,
    Feedback,
    FloatArray,
    IntArray,
    Learner,
    PickbestError,
    Seen,
    uses_features,
)
from pickbest.core.states import counts, refreshed
from pickbest.core.types import start_state
from pickbest.core.wrapping import WrappingLearner
from pickbest.kernels.compiled import borrowing, compiled, inlined
from pickbest.kernels.rules import CompiledLearner
from pickbest.learners.auto.kinds import (
    BINS,
    KINDS,
    Ended,
    KindsState,
    bin_of,
    fill_hazards,
    learn_kinds,
    start_kinds,
    weigh_kinds,
)
from pickbest.learners.auto.learner import Auto
from pickbest.learners.auto.sets import MOST_PAIRED
from pickbest.learners.hedge_partial import HedgePartial

# The least probability with which a round is watched; and up to how many watched rounds it is 1.
# From .01 to .1, the first makes no difference in races. The second, 20 in place of 3, adds .036 of
# the gap in races of 400 rounds, on either half of the tables, for 12% more processor time.
LEAST_WATCH, SURE = 0.03, 20.0


class RacingState(NamedTuple):
    """The state of the learner that is told, and what costs are filled in from.

    answers: (replicates, bins, 2) of all arms by their time, how many, and the sum of rewards.
    watched: (replicates, arms, arms) how often both ran in a round that was watched to its end;
        empty for many arms.
    """

    inner: Any
    kinds: KindsState
    answers: Annotated[FloatArray, counts()]
    watched: Annotated[FloatArray, counts(-2, -1)]


class Race(NamedTuple):
    """What was seen of races: `Seen`, of which everything is known."""

    low: FloatArray
    high: FloatArray
    times: FloatArray
    watch: FloatArray
    watched: BoolArray


class Round(NamedTuple):
    """Scratch of a round; likely: its kind, (kinds,); times, answered: (budget,)."""

    hazards: FloatArray
    pooled: FloatArray
    likely: FloatArray
    times: FloatArray
    answered: FloatArray


@dataclass(frozen=True)
class Racing(WrappingLearner):
    """A learner that also learns of races whose losers were stopped.

    It picks as the inner learner does, and says how likely a race should be watched. Told of costs
    without times, it learns as the inner learner would.

    >>> from pickbest.core import replicate_keys, rng_for
    >>> from pickbest.learners.auto import Auto
    >>> learner = Racing(Auto(n_arms=4, budget=2))
    >>> learner.pick(learner.start(1), rng_for(replicate_keys(0, 1), 0)).watch
    array([1.])
    """

    inner: Learner
    feedback = Feedback.PICKED

    def __post_init__(self) -> None:
        if self.inner.feedback is Feedback.FULL:
            raise PickbestError("a learner that sees every cost has no use for intervals")

    @property
    def uses_features(self) -> bool:
        return uses_features(self.inner)

    def start(self, replicates: int, n_features: int = 0) -> RacingState:
        paired = self.n_arms if self.n_arms <= MOST_PAIRED else 0
        return RacingState(
            start_state(self.inner, replicates, n_features),
            start_kinds(replicates, self.n_arms),
            np.zeros((replicates, BINS, 2)),
            np.zeros((replicates, paired, paired)),
        )

    def pick(self, state: RacingState, draws: Draws, features: FloatArray | None = None) -> Choice:
        choice = self.inner.pick(state.inner, draws, features)
        # Nobody is stopped where one arm runs.
        watch = np.full(len(choice.arms), 1.0 if self.budget == 1 else LEAST_WATCH)
        if state.watched.size and self.budget > 1:
            _watch_rows.suited()(state.watched, choice.arms, watch)
        return replace(choice, watch=watch)

    def learn(
        self, state: RacingState, choice: Choice, seen: Seen, features: FloatArray | None = None
    ) -> RacingState:
        if seen.times is None:
            return state._replace(inner=self.inner.learn(state.inner, choice, seen, features))
        watch = np.ones(len(seen.low)) if seen.watch is None else seen.watch
        watched = np.ones(len(seen.low), np.bool_) if seen.watched is None else seen.watched
        race = Race(seen.low, seen.high, seen.times, watch, watched)
        weights = np.ones(choice.arms.shape) if choice.weights is None else choice.weights
        costs, scaled = np.empty(weights.shape), np.empty(weights.shape)
        _fill_rows.suited()(
            state.kinds, state.answers, state.watched, choice.arms, weights, race, costs, scaled
        )
        told = Choice(choice.arms, None if choice.weights is None else scaled)
        known = Seen(costs, costs, None, watch, watched)
        return state._replace(inner=self.inner.learn(state.inner, told, known, features))

    def refreshed(self, state: RacingState) -> RacingState:
        return state._replace(inner=refreshed(self.inner, state.inner))


def racing(learner: Learner) -> Learner:
    """The learner as it learns of races; one of a user's own is told the highest costs."""
    if isinstance(learner, HedgePartial):
        return learner.in_races()
    return Racing(learner) if isinstance(learner, CompiledLearner | Auto) else learner


@borrowing
def _watch_rows(watched: FloatArray, arms: IntArray, watch: FloatArray) -> None:
    for row in range(arms.shape[0]):
        fewest = np.inf
        for i in range(arms.shape[1]):
            for j in range(i):
                fewest = min(fewest, watched[row, arms[row, i], arms[row, j]])
        watch[row] = max(LEAST_WATCH, min(SURE / (1.0 + fewest), 1.0))


@inlined
def first_answer(seen: Race, row: int) -> int:
    """The place of the arm that answered first; -1 if none did."""
    winner, first = -1, 1.0
    for j in range(seen.times.shape[1]):
        if seen.low[row, j] == seen.high[row, j] and seen.times[row, j] < first:
            winner, first = j, seen.times[row, j]
    return winner


@inlined
def reward_beyond(known: Round, answers: FloatArray, arm: int, time: float, best: float) -> float:
    """The mean reward of a run that has not answered until `time`; best: the most it can be.

    An answer is worth what answers at such times were, and `best` counts as one more.
    """
    first = bin_of(time)
    mean = 0.0
    for k in range(KINDS):
        value = 0.0
        for j in range(BINS - 1, first - 1, -1):
            # Of the bin in which it stands now, about half is to come.
            hazard = known.hazards[k, arm, j] * (1.0 if j > first else 0.5)
            answer = min((answers[j, 1] + best) / (answers[j, 0] + 1.0), best)
            value = hazard * answer + (1.0 - hazard) * value
        mean += known.likely[k] * value
    return mean


@inlined
def fill_in(
    kinds: KindsState,
    known: Round,
    answers: FloatArray,
    row: int,
    winner: int,
    arms: IntArray,
    seen: Race,
    costs: FloatArray,
) -> None:
    """The costs of a round: those that are known, and what stands in for the others."""
    first = seen.times[row, winner] if winner >= 0 else 1.0
    for j in range(arms.shape[0]):
        known.times[j] = min(seen.times[row, j], first)
        known.answered[j] = 1.0 if j == winner else 0.0
    weigh_kinds(kinds, row, known.hazards, known.likely, Ended(arms, known.times, known.answered))
    for j in range(arms.shape[0]):
        low, high = seen.low[row, j], seen.high[row, j]
        costs[j] = low
        if low < high:
            best = 1.0 - (seen.low[row, winner] if winner >= 0 else low)
            usual = reward_beyond(known, answers[row], arms[j], known.times[j], best)
            costs[j] = 1.0 - min(max(usual, 1.0 - high), best, 1.0 - low)


@inlined
def weigh(seen: Race, row: int, winner: int, weights: FloatArray, scaled: FloatArray) -> None:
    """The weights with which weighted costs are right on average; see the module."""
    first = seen.times[row, winner] if winner >= 0 else 1.0
    for j in range(weights.shape[0]):
        scaled[j] = weights[j]
        if seen.low[row, j] < seen.high[row, j] or seen.times[row, j] > first:
            scaled[j] = weights[j] / seen.watch[row] if seen.watched[row] else 0.0


@inlined
def note_runs(
    kinds: KindsState, known: Round, answers: FloatArray, row: int, arms: IntArray, seen: Race
) -> None:
    """Take every run in: which kinds are likely, who answered when, and how well."""
    for j in range(arms.shape[0]):
        time = seen.times[row, j]
        known.answered[j] = 0.0
        if seen.low[row, j] == seen.high[row, j] and time < 1.0:
            known.answered[j] = 1.0
            place = bin_of(time)
            answers[row, place, 0] += 1.0
            answers[row, place, 1] += 1.0 - seen.low[row, j]
    ended = Ended(arms, seen.times[row], known.answered)
    learn_kinds(kinds, row, known.hazards, known.likely, ended)


@compiled
def _fill_rows(
    kinds: KindsState,
    answers: FloatArray,
    watched: FloatArray,
    arms: IntArray,
    weights: FloatArray,
    seen: Race,
    costs: FloatArray,
    scaled: FloatArray,
) -> None:
    """Fill costs and scaled weights of every replicate, and take its runs in."""
    budget = arms.shape[1]
    hazards = np.empty((KINDS, kinds.answers.shape[2], BINS))
    known = Round(hazards, np.empty(BINS), np.empty(KINDS), np.empty(budget), np.empty(budget))
    for row in range(arms.shape[0]):
        winner = first_answer(seen, row)
        fill_hazards(kinds, row, arms[row], known.pooled, hazards)
        fill_in(kinds, known, answers, row, winner, arms[row], seen, costs[row])
        weigh(seen, row, winner, weights[row], scaled[row])
        note_runs(kinds, known, answers, row, arms[row], seen)
        if seen.watched[row] and watched.shape[1] > 0:
            for i in range(budget):
                for j in range(budget):
                    if i != j:
                        watched[row, arms[row, i], arms[row, j]] += 1.0
