"""Races replayed from recorded runtimes: what a way to learn would have cost, and taken.

A stopped arm is seen exactly as far as in a live race: what a run costs and what is known of one
that was stopped come from the same `costs`, which rounds are watched and what is learned from the
same `censoring` and the same learners.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pickbest import hindsight
from pickbest.catalog import make_learner
from pickbest.core import (
    BoolArray,
    Choice,
    FloatArray,
    IntArray,
    Learner,
    State,
    check_positive,
    replicate_keys,
    rng_for,
)
from pickbest.core.intervals import Intervals, learn_intervals, watch_probability
from pickbest.core.states import arrays_of, map_state
from pickbest.environments.runtimes import Runtimes
from pickbest.learners.intervals import racing
from pickbest.portfolio.censoring import Censored, Stop, Stopping
from pickbest.portfolio.costs import Cost
from pickbest.portfolio.runs import Run, RunStatus
from pickbest.portfolio.state.live_learner import WATCH_STREAM
from pickbest.simulation.statistics import standard_error

Progress = Callable[[int, int], None]
# The best fixed set is looked for so long; it is proven on all but very large tables.
SUBSET_SECONDS = 20.0


@dataclass(frozen=True, eq=False)
class Races:
    """Recorded runtimes as races: (problems, arms) tables.

    times: when an arm answers, as a share of the deadline; 1 where it does not.
    costs: of a run to its end. low, high: the bounds of the cost of any arm that is stopped when
        this one answers.
    """

    deadline: float
    times: FloatArray
    costs: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, runtimes: Runtimes, deadline: float, cost: Cost) -> Races:
        """Judged as a live portfolio would judge each run."""
        check_positive("deadline", deadline)
        answered = runtimes.seconds < deadline
        seconds = np.minimum(runtimes.seconds, deadline)
        tables = np.empty((3, *seconds.shape))
        for place in np.ndindex(seconds.shape):
            solved, took = bool(answered[place]), float(seconds[place])
            status = RunStatus.FINISHED if solved else RunStatus.TIMEOUT
            tables[0][place] = cost.judge(Run("", status, seconds=took), solved, deadline).cost
            stopped = Run("", RunStatus.STOPPED, seconds=took)
            tables[1][place], tables[2][place] = cost.span(stopped, deadline)
        return cls(deadline, np.where(answered, seconds / deadline, 1.0), *tables)

    @property
    def n_arms(self) -> int:
        return int(self.times.shape[1])

    def total(self, budget: int, price: float) -> FloatArray:
        """What an arm costs that answers first, with what all `budget` arms take until then.

        price: of a processor for as long as the deadline.
        """
        return self.costs + price * budget * self.times

    def seen(
        self, problems: IntArray, arms: IntArray, watch: FloatArray, watched: BoolArray
    ) -> tuple[Intervals, FloatArray]:
        """(what is seen of races, how long each arm ran as a share of the deadline).

        problems, watch, watched: (replicates,); arms: (replicates, budget).
        """
        rows = problems[:, None]
        times, costs = self.times[rows, arms], self.costs[rows, arms]
        first = times.min(axis=1, keepdims=True)
        stopped = (times > first) & ~watched[:, None]
        ran = np.where(stopped, first, times)
        winner = np.take_along_axis(arms, times.argmin(axis=1)[:, None], axis=1)
        low = np.where(stopped, self.low[rows, winner], costs)
        high = np.where(stopped, self.high[rows, winner], costs)
        return Intervals(low, high, ran, watch, watched), ran


@dataclass(frozen=True, eq=False)
class Replay:
    """What happened in each round, (replicates, rounds).

    paid: the cost of the first answer. solved: whether there was one. cpu_seconds: of all arms.
    watched: whether the round was. arms: (replicates, rounds, budget), those that ran.
    """

    paid: FloatArray
    solved: BoolArray
    cpu_seconds: FloatArray
    watched: BoolArray
    arms: IntArray


def orders(problems: int, rounds: int, replicates: int, seed: int) -> IntArray:
    """(replicates, rounds): random orders of the problems, one after the other if they are few."""
    again = -(-rounds // problems)
    return np.array(
        [
            np.concatenate([rng.permutation(problems) for _ in range(again)])[:rounds]
            for rng in (np.random.default_rng([seed, n]) for n in range(replicates))
        ]
    )


def replay(
    races: Races,
    learner: Learner,
    stopping: Stopping,
    order: IntArray,
    seed: int = 0,
    progress: Progress | None = None,
) -> Replay:
    """Play the problems in these orders (replicates, rounds), all replicates at once.

    The first replicate is what a live portfolio with this seed would do.
    """
    replicates, rounds = order.shape
    keys = replicate_keys(seed, replicates)
    watch_keys = replicate_keys(seed, replicates, stream=WATCH_STREAM)
    state = learner.start(replicates)
    kinds = (float, bool, float, bool)
    shape = (replicates, rounds)
    result = Replay(
        *(np.empty(shape, kind) for kind in kinds), np.empty((*shape, learner.budget), np.int64)
    )
    for number in range(rounds):
        choice = learner.pick(state, rng_for(keys, number))
        watch = _watch(learner, state, choice.arms, stopping)
        watched = rng_for(watch_keys, number).uniforms(1)[:, 0] < watch
        problems = order[:, number]
        seen, ran = races.seen(problems, choice.arms, watch, watched)
        state = _learn(learner, state, choice, seen, stopping)
        result.paid[:, number] = np.where(seen.low == seen.high, seen.low, 1.0).min(axis=1)
        result.solved[:, number] = races.times[problems[:, None], choice.arms].min(axis=1) < 1.0
        result.cpu_seconds[:, number] = ran.sum(axis=1) * races.deadline
        result.watched[:, number], result.arms[:, number] = watched, choice.arms
        if progress and (number % 256 == 255 or number == rounds - 1):
            progress(number + 1, rounds)
    return result


def _watch(learner: Learner, state: State, arms: IntArray, stopping: Stopping) -> FloatArray:
    """(replicates,): how likely a round is watched, as `AskTell.ask` decides it."""
    fixed = stopping.watch_probability
    return watch_probability(learner, state, arms) if fixed is None else np.full(len(arms), fixed)


def _learn(
    learner: Learner, state: State, choice: Choice, seen: Intervals, stopping: Stopping
) -> State:
    """What `censoring.lesson` teaches of one race, for many at once."""
    if stopping.censored is Censored.INTERVALS:
        return learn_intervals(learner, state, choice, seen)
    if stopping.stop is Stop.FIRST and stopping.censored is Censored.WATCH:
        rows = np.flatnonzero(seen.watched)
        weights = None if choice.weights is None else choice.weights[rows] / stopping.watch
        part = map_state(lambda array: array[rows], state)
        part = learner.learn(part, Choice(choice.arms[rows], weights), seen.low[rows])
        for array, learned in zip(arrays_of(state).values(), arrays_of(part).values(), strict=True):
            array[rows] = learned
        return state
    optimistic = stopping.censored is Censored.OPTIMISTIC
    return learner.learn(state, choice, seen.low if optimistic else seen.high)


# Yardsticks ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Yardstick:
    """Arms that are fixed in advance, the losers stopped; arms: empty for random ones."""

    mean_cost: float
    cpu_seconds: float
    arms: tuple[int, ...] = ()


def random_sets(races: Races, budget: int, price: float = 0.0) -> Yardstick:
    """Random sets, in expectation: the k-th quickest of N is the first in C(N-1-k, B-1) sets."""
    n_arms = races.n_arms
    shares = np.array([math.comb(n_arms - 1 - k, budget - 1) for k in range(n_arms)])
    shares = shares / math.comb(n_arms, budget)
    paid = np.sort(races.total(budget, price), axis=1) @ shares
    first = np.sort(races.times, axis=1) @ shares
    return Yardstick(float(paid.mean()), float(first.mean()) * budget * races.deadline)


def best_fixed(races: Races, budget: int, price: float = 0.0) -> Yardstick:
    """The best set in hindsight; with a price, of any size up to the budget."""
    found = []
    for size in range(1 if price else budget, budget + 1):
        # What is searched must lie in [0, 1].
        scale = 1.0 + price * size
        best = hindsight.best_subset(races.total(size, price) / scale, size, SUBSET_SECONDS)
        first = races.times[:, best.arms].min(axis=1).mean()
        cost = scale * best.mean_cost(len(races.times))
        found.append(Yardstick(cost, float(first) * size * races.deadline, best.arms))
    return min(found, key=lambda one: one.mean_cost)


def run_summary(
    races: Races,
    learner: str,
    budget: int,
    stopping: Stopping,
    price: float = 0.0,
    replicates: int = 20,
    seed: int = 0,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """A learner's means over rounds and replicates, as `pickbest replay --json` shows them."""
    made = racing(make_learner(learner, races.n_arms, budget))
    order = orders(len(races.times), len(races.times), replicates, seed)
    played = replay(races, made, stopping, order, seed, progress)
    paid = played.paid + price * played.cpu_seconds / races.deadline
    return {
        "learner": learner,
        "stop": stopping.stop.value,
        "mean_cost": float(paid.mean()),
        "std_error": standard_error(paid.mean(axis=1)),
        "solved": float(played.solved.mean()),
        "cpu_seconds": float(played.cpu_seconds.mean()),
    }
