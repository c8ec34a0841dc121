"""From intervals: what any learner can be told of races whose losers were stopped.

Where arm a answered first and b was stopped, b's reward is taken for

    m + d / (n + k),    at most a's reward, and within b's interval,

with m its mean given all that was seen of the round until then, for a mixture of kinds of problems
(`kernels.kinds`), and d the sum of how far b's reward was above that m in the n rounds that a won
with b beside it and that were watched to their end. So the mixture says what is usual for such a
problem, and the pair how wrong that is. A round is watched with probability
p = max(LEAST_WATCH, SURE / (1 + the fewest watched rounds of its pairs)), at most 1: what limits
the choice of sets is how well the losers of a pair are known, so new pairs are always watched, and
known ones hardly ever.

Estimates stay unbiased. An arm whose cost is seen whether or not the round is watched keeps its
weight; one whose cost is seen only if it is watched has weight / p then, and 0 else. Whoever adds
up weighted costs (the guard of `auto`, FPML-partial) so adds the right ones on average; whoever
learns costs without weights (the proposals of `auto`, `pairwise`, Thompson sampling) learns those
that were filled in. Sets of three arms that `auto` proposes are looked at again, with what watched
rounds say of triples (`kernels.triples`).
"""

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np

from pickbest.core import (
    Choice,
    CompiledLearner,
    ContextLearner,
    Draws,
    Feedback,
    FloatArray,
    IntArray,
    Learner,
    PickbestError,
    State,
)
from pickbest.core.features import FeaturesError
from pickbest.core.intervals import Intervals
from pickbest.core.states import counts, portable, restored
from pickbest.core.wrapping import WrappingLearner
from pickbest.kernels.compiled import allocating, inlined, kernel
from pickbest.kernels.kinds import (
    BINS,
    KINDS,
    KindsState,
    bin_of,
    fill_hazards,
    learn_kinds,
    start_kinds,
    weigh_kinds,
)
from pickbest.kernels.pairs import MOST_PAIRED
from pickbest.kernels.rules import Rule, Told, unbound, weights_of
from pickbest.kernels.triples import TriplesState, learn_triples, start_triples
from pickbest.learners import auto, second_look
from pickbest.learners.hedge_partial import HedgePartial

# k: how many watched rounds the mixture's mean is worth.
MIXTURE = 8.0
# The least probability with which a round is watched; and up to how many watched rounds it is 1.
LEAST_WATCH, SURE = 0.03, 6.0

new_work = learn_row = learn_seen = note_three = as_law = as_state = unbound


class PairedState(NamedTuple):
    """(replicates, arms, arms) of rounds that were watched to their end; empty for many arms.

    lost: how often the first arm answered before all others, and the second ran. above: by how
    much the second's rewards then were above what would have stood in for them. watched: how
    often both ran.
    """

    lost: Annotated[FloatArray, counts(-2, -1)]
    above: Annotated[FloatArray, counts(-2, -1, signed=True)]
    watched: Annotated[FloatArray, counts(-2, -1)]


class SeenState(NamedTuple):
    """The state of the learner that is told, and what costs are filled in from.

    answers: (replicates, bins, 2) of all arms by their time, how many, and the sum of rewards.
    triples: of Auto, whose sets of three are looked at again.
    """

    inner: Any
    kinds: KindsState
    answers: Annotated[FloatArray, counts()]
    paired: PairedState
    triples: TriplesState


class Kinds(NamedTuple):
    """What is known of kinds, and scratch of a round; likely: its kind, (kinds,)."""

    state: KindsState
    hazards: FloatArray
    pooled: FloatArray
    likely: FloatArray
    times: FloatArray
    answered: FloatArray


def start_paired(replicates: int, n_arms: int) -> PairedState:
    """Nothing seen yet."""
    paired = n_arms if n_arms <= MOST_PAIRED else 0
    return PairedState(*(np.zeros((replicates, paired, paired)) for _ in PairedState._fields))


@dataclass(frozen=True)
class FromIntervals(WrappingLearner):
    """A compiled learner that also learns of races whose losers were stopped.

    It picks as the inner learner does (but for the second look at sets of three), and told of costs
    it learns as that would.

    >>> from pickbest.learners.auto import Auto
    >>> learner = FromIntervals(Auto(n_arms=4, budget=2))
    >>> learner.watch_probability(learner.start(1), np.array([[0, 1]]))
    array([1.])
    """

    inner: CompiledLearner
    feedback = Feedback.PICKED

    def __post_init__(self) -> None:
        if self.inner.feedback is Feedback.FULL:
            raise PickbestError("a learner that sees every cost has no use for intervals")

    def start(self, replicates: int) -> SeenState:
        return SeenState(
            self.inner.start(replicates),
            start_kinds(replicates, self.n_arms),
            np.zeros((replicates, BINS, 2)),
            start_paired(replicates, self.n_arms),
            start_triples(replicates, self.n_arms if isinstance(self.inner, auto.Auto) else 0),
        )

    def with_features(
        self, names: tuple[str, ...], state: SeenState
    ) -> tuple[ContextLearner, State]:
        """The learner that goes on with features of these names, where the inner one can."""
        from pickbest.learners.intervals_in_context import IntervalsInContext

        if not isinstance(self.inner, auto.Auto):
            raise FeaturesError(
                f"{type(self.inner).__name__} uses no features: leave them out, or use auto"
            )
        learner = IntervalsInContext(self.n_arms, self.budget, names, self.inner.sharpness)
        return learner, learner.taking_over(state)

    def pick(self, state: SeenState, rng: Draws) -> Choice:
        if isinstance(self.inner, auto.Auto) and self.budget == 3 and state.triples.gains.size:
            known = second_look.LookedState(state.inner, state.triples)
            return second_look.RULE.pick(self.inner, known, rng)
        return self.inner.pick(state.inner, rng)

    def learn(self, state: SeenState, choice: Choice, seen: FloatArray) -> SeenState:
        return state._replace(inner=self.inner.learn(state.inner, choice, seen))

    def watch_probability(self, state: SeenState, arms: IntArray) -> FloatArray:
        """A share that falls as the pairs of a round become known."""
        # Nobody is stopped where one arm runs.
        watch = np.full(len(arms), 1.0 if self.budget == 1 else LEAST_WATCH)
        if state.paired.watched.size and self.budget > 1:
            _watch_rows(state.paired.watched, arms, watch)
        return watch

    def learn_intervals(self, state: SeenState, choice: Choice, seen: Intervals) -> SeenState:
        weights = weights_of(choice) if self.inner.rule.weighted else np.ones(choice.arms.shape)
        self._learn_rows(
            tuple(self.inner.law),
            tuple(state.inner),
            tuple(state.kinds),
            state.answers,
            tuple(state.paired),
            tuple(state.triples),
            choice.arms,
            weights,
            tuple(seen),
        )
        return state

    @cached_property
    def _learn_rows(self) -> Any:
        law: Any = type(self.inner.law)
        state: Any = type(self.inner.start(1))
        return _loop(self.inner.rule, isinstance(self.inner, auto.Auto), law, state)

    def portable(self, state: SeenState) -> SeenState:
        return state._replace(inner=portable(self.inner, state.inner))

    def restored(self, known: SeenState) -> SeenState:
        return known._replace(inner=restored(self.inner, known.inner))


def racing(learner: Learner) -> Learner:
    """The learner as it learns of races: from intervals where it is compiled, else as it is."""
    if isinstance(learner, HedgePartial):
        return learner.in_races()
    return FromIntervals(learner) if isinstance(learner, CompiledLearner) else learner


@cache
def _loop(rule: Rule, of_auto: bool, law: Any, state: Any) -> Any:
    """The loop for a rule, compiled once a process."""
    seen = auto.learn_seen if of_auto else rule.loop(_without_spread, inlined)
    functions = {
        "learn_seen": seen,
        "note_three": _of_auto if of_auto else _of_others,
        "as_law": law,
        "as_state": state,
    }
    return rule.loop(_learn_interval_rows, allocating, **functions)


def _without_spread(law: Any, state: State, row: int, work: Any, told: Told, spread: float) -> None:
    learn_row(law, state, row, work, told)


@inlined
def _of_auto(
    triples: TriplesState, state: Any, row: int, arms: IntArray, costs: FloatArray
) -> None:
    learn_triples(triples, state.pairs, row, arms, costs)


@inlined
def _of_others(
    triples: TriplesState, state: Any, row: int, arms: IntArray, costs: FloatArray
) -> None:
    """Nobody looks at triples."""


@kernel
def _watch_rows(watched: FloatArray, arms: IntArray, watch: FloatArray) -> None:
    for row in range(arms.shape[0]):
        fewest = np.inf
        for i in range(arms.shape[1]):
            for j in range(i):
                fewest = min(fewest, watched[row, arms[row, i], arms[row, j]])
        watch[row] = max(LEAST_WATCH, min(SURE / (1.0 + fewest), 1.0))


@inlined
def first_answer(seen: Intervals, row: int) -> int:
    """The place of the arm that answered first; -1 if none did."""
    winner, first = -1, 1.0
    for j in range(seen.times.shape[1]):
        if seen.low[row, j] == seen.high[row, j] and seen.times[row, j] < first:
            winner, first = j, seen.times[row, j]
    return winner


@inlined
def reward_beyond(known: Kinds, answers: FloatArray, arm: int, time: float, best: float) -> float:
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
    known: Kinds,
    answers: FloatArray,
    paired: PairedState,
    row: int,
    winner: int,
    arms: IntArray,
    seen: Intervals,
    costs: FloatArray,
) -> None:
    """The costs of a round: those that are known, and what stands in for the others.

    What is known of losers that were watched corrects what stands in for them next time.
    """
    first = seen.times[row, winner] if winner >= 0 else 1.0
    for j in range(arms.shape[0]):
        known.times[j] = min(seen.times[row, j], first)
        known.answered[j] = 1.0 if j == winner else 0.0
    weigh_kinds(known.state, row, known.hazards, known.likely, arms, known.times, known.answered)
    for j in range(arms.shape[0]):
        low, high = seen.low[row, j], seen.high[row, j]
        costs[j] = low
        if j == winner or (low == high and not seen.watched[row]):
            continue
        best = 1.0 - (seen.low[row, winner] if winner >= 0 else low)
        usual = reward_beyond(known, answers[row], arms[j], known.times[j], best)
        if winner >= 0 and paired.lost.shape[1] > 0:
            lost = paired.lost[row, arms[winner]]
            above = paired.above[row, arms[winner]]
            if low < high:
                usual += above[arms[j]] / (lost[arms[j]] + MIXTURE)
            else:
                lost[arms[j]] += 1.0
                above[arms[j]] += min(1.0 - low, best) - usual
        if low < high:
            costs[j] = 1.0 - min(max(usual, 1.0 - high), best, 1.0 - low)


@inlined
def weigh(seen: Intervals, row: int, winner: int, weights: FloatArray, scaled: FloatArray) -> None:
    """The weights with which weighted costs are right on average; see the module."""
    first = seen.times[row, winner] if winner >= 0 else 1.0
    for j in range(weights.shape[0]):
        scaled[j] = weights[j]
        if seen.low[row, j] < seen.high[row, j] or seen.times[row, j] > first:
            scaled[j] = weights[j] / seen.watch[row] if seen.watched[row] else 0.0


@inlined
def note_runs(known: Kinds, answers: FloatArray, row: int, arms: IntArray, seen: Intervals) -> None:
    """Take every run in: which kinds are likely, who answered when, and how well."""
    for j in range(arms.shape[0]):
        time = seen.times[row, j]
        known.answered[j] = 0.0
        if seen.low[row, j] == seen.high[row, j] and time < 1.0:
            known.answered[j] = 1.0
            place = bin_of(time)
            answers[row, place, 0] += 1.0
            answers[row, place, 1] += 1.0 - seen.low[row, j]
    learn_kinds(
        known.state, row, known.hazards, known.likely, arms, seen.times[row], known.answered
    )


@inlined
def note_watched(paired: PairedState, row: int, arms: IntArray) -> None:
    """Count the pairs of a round that was watched."""
    for i in range(arms.shape[0] if paired.watched.shape[1] > 0 else 0):
        for j in range(arms.shape[0]):
            if i != j:
                paired.watched[row, arms[i], arms[j]] += 1.0


def _learn_interval_rows(
    numbers: Any,
    arrays: Any,
    kind_arrays: Any,
    answers: FloatArray,
    pair_arrays: Any,
    triple_arrays: Any,
    arms: IntArray,
    weights: FloatArray,
    seen_arrays: Any,
) -> None:
    law, state, budget = as_law(*numbers), as_state(*arrays), arms.shape[1]
    paired, seen = PairedState(*pair_arrays), Intervals(*seen_arrays)
    kinds, triples = KindsState(*kind_arrays), TriplesState(*triple_arrays)
    hazards = np.empty((KINDS, kinds.answers.shape[2], BINS))
    scratch = np.empty(BINS), np.empty(KINDS), np.empty(budget), np.empty(budget)
    known = Kinds(kinds, hazards, *scratch)
    work = new_work(law, state, budget)
    costs, scaled = np.empty(budget), np.empty(budget)
    for row in range(arms.shape[0]):
        winner = first_answer(seen, row)
        fill_hazards(kinds, row, arms[row], known.pooled, hazards)
        fill_in(known, answers, paired, row, winner, arms[row], seen, costs)
        weigh(seen, row, winner, weights[row], scaled)
        note_runs(known, answers, row, arms[row], seen)
        if seen.watched[row]:
            note_watched(paired, row, arms[row])
            note_three(triples, state, row, arms[row], costs)
        told = Told(arms[row], scaled, costs)
        learn_seen(law, state, row, work, told, 1.0 / seen.watch[row])
