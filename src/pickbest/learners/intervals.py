"""From intervals: what any learner can be told of races whose losers were stopped.

Where arm a answered first and b was stopped, b's reward is taken for

    (n w r_a + k m) / (n + k),    at most a's reward r_a, and within b's interval,

with w the mean share of a's reward that b had in the n rounds that a won against b and that were
watched to their end, and m the mean reward beyond the time seen of b's own survival curve. A round
is watched with probability p = max(LEAST_WATCH, 1 / sqrt(1 + the fewest watched rounds of its
pairs)): as often as needed in the beginning, and less and less.

Estimates stay unbiased. An arm whose cost is seen whether or not the round is watched keeps its
weight; one whose cost is seen only if it is watched has weight / p then, and 0 else. Whoever adds
up weighted costs (the guard of `auto`, FPML-partial) so adds the right ones on average; whoever
learns costs without weights (the proposals of `auto`, `pairwise`, Thompson sampling) learns those
that were filled in.
"""

from __future__ import annotations

import math
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
from pickbest.kernels.curves import CurvesState, note_run, reward_beyond, start_curves
from pickbest.kernels.pairs import MOST_PAIRED
from pickbest.kernels.rules import Rule, Told, unbound, weights_of
from pickbest.learners import auto

# k: how many watched rounds an arm's own curve is worth; and a guess, beside the curve.
OWN, GUESS = 2.0, 1.0
# The least probability with which a round is watched.
LEAST_WATCH = 0.03

new_work = learn_row = learn_seen = as_law = as_state = unbound


class PairedState(NamedTuple):
    """(replicates, arms, arms) of rounds that were watched to their end; empty for many arms.

    beaten: how often the first arm answered before the second. kept: the sum of the second's
    rewards then, as shares of the first's. watched: how often both ran.
    """

    beaten: Annotated[FloatArray, counts(-2, -1)]
    kept: Annotated[FloatArray, counts(-2, -1)]
    watched: Annotated[FloatArray, counts(-2, -1)]


class SeenState(NamedTuple):
    """The state of the learner that is told, and what costs are filled in from."""

    inner: Any
    curves: CurvesState
    paired: PairedState


def start_paired(replicates: int, n_arms: int) -> PairedState:
    """Nothing seen yet."""
    paired = n_arms if n_arms <= MOST_PAIRED else 0
    return PairedState(*(np.zeros((replicates, paired, paired)) for _ in PairedState._fields))


@dataclass(frozen=True)
class FromIntervals(WrappingLearner):
    """A compiled learner that also learns of races whose losers were stopped.

    It picks as the inner learner does, and told of costs it learns as that would.

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
            start_curves(replicates, self.n_arms),
            start_paired(replicates, self.n_arms),
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
        learner = IntervalsInContext(self.n_arms, self.budget, names)
        return learner, learner.taking_over(state)

    def pick(self, state: SeenState, rng: Draws) -> Choice:
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
            tuple(state.curves),
            tuple(state.paired),
            choice.arms,
            weights,
            tuple(seen),
        )
        return state

    @cached_property
    def _learn_rows(self) -> Any:
        learns = auto.learn_seen if isinstance(self.inner, auto.Auto) else None
        law: Any = type(self.inner.law)
        state: Any = type(self.inner.start(1))
        return _loop(self.inner.rule, learns, law, state)

    def portable(self, state: SeenState) -> SeenState:
        return state._replace(inner=portable(self.inner, state.inner))

    def restored(self, known: SeenState) -> SeenState:
        return known._replace(inner=restored(self.inner, known.inner))


def racing(learner: Learner) -> Learner:
    """The learner as it learns of races: from intervals where it is compiled, else as it is."""
    return FromIntervals(learner) if isinstance(learner, CompiledLearner) else learner


@cache
def _loop(rule: Rule, learns: Any, law: Any, state: Any) -> Any:
    """The loop for a rule, compiled once a process; learns: in place of its own learn_row."""
    seen = learns or rule.loop(_without_spread, inlined)
    functions = {"learn_seen": seen, "as_law": law, "as_state": state}
    return rule.loop(_learn_interval_rows, allocating, **functions)


def _without_spread(law: Any, state: State, row: int, work: Any, told: Told, spread: float) -> None:
    learn_row(law, state, row, work, told)


@kernel
def _watch_rows(watched: FloatArray, arms: IntArray, watch: FloatArray) -> None:
    for row in range(arms.shape[0]):
        fewest = np.inf
        for i in range(arms.shape[1]):
            for j in range(i):
                fewest = min(fewest, watched[row, arms[row, i], arms[row, j]])
        watch[row] = max(LEAST_WATCH, 1.0 / math.sqrt(1.0 + fewest))


@inlined
def first_answer(seen: Intervals, row: int) -> int:
    """The place of the arm that answered first; -1 if none did."""
    winner, first = -1, 1.0
    for j in range(seen.times.shape[1]):
        if seen.low[row, j] == seen.high[row, j] and seen.times[row, j] < first:
            winner, first = j, seen.times[row, j]
    return winner


@inlined
def fill_in(
    curves: CurvesState,
    paired: PairedState,
    row: int,
    winner: int,
    arms: IntArray,
    seen: Intervals,
    costs: FloatArray,
) -> None:
    """The costs of a round: those that are known, and what stands in for the others."""
    for j in range(arms.shape[0]):
        low, high = seen.low[row, j], seen.high[row, j]
        costs[j] = low
        if low == high:
            continue
        best = 1.0 - low
        known, kept = 0.0, 0.0
        if winner >= 0:
            best = min(best, 1.0 - seen.low[row, winner])
            if paired.beaten.shape[1] > 0:
                known = paired.beaten[row, arms[winner], arms[j]]
                kept = paired.kept[row, arms[winner], arms[j]]
        beyond = reward_beyond(curves, row, arms[j], seen.times[row, j], 0.5 * best, GUESS)
        reward = (kept * best + OWN * beyond) / (known + OWN)
        costs[j] = 1.0 - min(max(reward, 1.0 - high), best)


@inlined
def weigh(seen: Intervals, row: int, winner: int, weights: FloatArray, scaled: FloatArray) -> None:
    """The weights with which weighted costs are right on average; see the module."""
    first = seen.times[row, winner] if winner >= 0 else 1.0
    for j in range(weights.shape[0]):
        scaled[j] = weights[j]
        if seen.low[row, j] < seen.high[row, j] or seen.times[row, j] > first:
            scaled[j] = weights[j] / seen.watch[row] if seen.watched[row] else 0.0


@inlined
def note_round(
    curves: CurvesState,
    paired: PairedState,
    row: int,
    winner: int,
    arms: IntArray,
    seen: Intervals,
) -> None:
    """Take in a round: every run in its arm's curve, every pair if all were watched."""
    for j in range(arms.shape[0]):
        known = seen.low[row, j] == seen.high[row, j]
        answered = known and seen.times[row, j] < 1.0
        note_run(curves, row, arms[j], seen.times[row, j], answered, 1.0 - seen.low[row, j])
    if paired.beaten.shape[1] == 0 or not seen.watched[row]:
        return
    for i in range(arms.shape[0]):
        for j in range(arms.shape[0]):
            known = seen.low[row, i] == seen.high[row, i] and seen.low[row, j] == seen.high[row, j]
            if i != j and known:
                paired.watched[row, arms[i], arms[j]] += 1.0
                if seen.times[row, i] < seen.times[row, j]:
                    share = (1.0 - seen.low[row, j]) / max(1.0 - seen.low[row, i], 1e-9)
                    paired.beaten[row, arms[i], arms[j]] += 1.0
                    paired.kept[row, arms[i], arms[j]] += min(share, 1.0)


def _learn_interval_rows(
    numbers: Any,
    arrays: Any,
    curve_arrays: Any,
    pair_arrays: Any,
    arms: IntArray,
    weights: FloatArray,
    seen_arrays: Any,
) -> None:
    law, state = as_law(*numbers), as_state(*arrays)
    curves, paired = CurvesState(*curve_arrays), PairedState(*pair_arrays)
    seen = Intervals(*seen_arrays)
    work = new_work(law, state, arms.shape[1])
    costs, scaled = np.empty(arms.shape[1]), np.empty(arms.shape[1])
    for row in range(arms.shape[0]):
        winner = first_answer(seen, row)
        fill_in(curves, paired, row, winner, arms[row], seen, costs)
        weigh(seen, row, winner, weights[row], scaled)
        note_round(curves, paired, row, winner, arms[row], seen)
        told = Told(arms[row], scaled, costs)
        learn_seen(law, state, row, work, told, 1.0 / seen.watch[row])
