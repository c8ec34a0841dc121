"""Races replayed from recorded runtimes: what a way to learn would have cost, and taken.

A stopped arm is seen exactly as far as in a live race: what a run costs and what is known of one
that was stopped come from the same `costs`, which rounds are watched and what is learned from the
same intervals and the same learners.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pickbest import hindsight
from pickbest.catalog import make_learner
from pickbest.catalog.spec import Spec
from pickbest.core import (
    BoolArray,
    FloatArray,
    IntArray,
    Learner,
    Planner,
    Plans,
    Runs,
    Seat,
    Seen,
    check_positive,
)
from pickbest.core.progress import OnStep
from pickbest.environments.runtimes import Runtimes
from pickbest.hindsight.comparators import random_subset_costs
from pickbest.learners.auto import racing
from pickbest.portfolio.run.costs import NAMED, Cost
from pickbest.portfolio.runs import Run, RunStatus
from pickbest.simulation.statistics import standard_error

# The best fixed set is looked for so long; it is proven on all but very large tables.
SUBSET_SECONDS = 20.0
PLANNER = "schedules"


@dataclass(frozen=True, eq=False)
class Races:
    """Recorded runtimes as races: (problems, arms) tables.

    times: when an arm answers, as a share of the deadline; 1 where it does not.
    costs: of a run to its end. low, high: the bounds of the cost of any arm that is stopped when
        this one answers.
    features, names: (problems, n), encoded, and what they are called; None: nobody sees any.
    """

    deadline: float
    cost: Cost
    times: FloatArray
    costs: FloatArray
    low: FloatArray
    high: FloatArray
    features: FloatArray | None = None
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, runtimes: Runtimes, deadline: float, cost: Cost) -> Races:
        """Judged as a live portfolio would judge each run."""
        check_positive("deadline", deadline)
        seconds = np.minimum(runtimes.seconds, deadline)
        tables = np.empty((3, *seconds.shape))
        for place in np.ndindex(seconds.shape):
            took = float(seconds[place])
            tables[0][place] = _judged(cost, took, deadline)
            stopped = Run("", RunStatus.STOPPED, seconds=took)
            tables[1][place], tables[2][place] = cost.span(stopped, deadline)
        times = np.where(seconds < deadline, seconds / deadline, 1.0)
        return cls(deadline, cost, times, *tables)

    @classmethod
    def with_features(cls, runtimes: Runtimes, deadline: float, cost: Cost) -> Races:
        """As learners meet them that see the features, at what these take."""
        races = cls.of(runtimes.charged(), deadline, cost)
        features, names = runtimes.encoded_features(), tuple(runtimes.features)
        return replace(races, features=features, names=names)

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
    ) -> tuple[Seen, FloatArray]:
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
        # Where no round is ever watched, nothing is weighed by how likely it was.
        return Seen(low, high, ran, np.where(watch > 0.0, watch, 1.0), watched), ran

    def run(self, problems: IntArray, plans: Plans) -> tuple[Runs, FloatArray]:
        """(what comes of plans, when there is an answer: 1 where there is none)."""
        times = np.where(plans.arms < 0, 1.0, self.times[problems[:, None], plans.arms])
        ends = np.repeat(1.0 - plans.slices[:, None], plans.arms.shape[1], axis=1)
        ends[:, 0] = plans.slices
        answers = (times <= ends) & (times < 1.0)
        ended = answers[:, 0]
        first = np.where(answers, times, ends)[:, 1:].min(axis=1, initial=1.0)
        ran = (plans.arms >= 0) & ~ended[:, None]
        ran[:, 0] = plans.arms[:, 0] >= 0
        took = np.minimum(times, first[:, None])
        took[:, 0] = np.minimum(times[:, 0], plans.slices)
        runs = Runs(took, ran & answers & (times <= took), ran)
        late = np.where(runs.answered[:, 1:].any(axis=1), plans.slices + first, 1.0)
        return runs, np.where(ended, times[:, 0], late)

    def paid(self, answer: FloatArray) -> FloatArray:
        """The costs of answers at these times, shares of the deadline; 1: there is none."""
        return np.array([_judged(self.cost, at * self.deadline, self.deadline) for at in answer])


def _judged(cost: Cost, seconds: float, deadline: float) -> float:
    """What a run costs that takes so long; it has no answer if that is the deadline."""
    solved = seconds < deadline
    status = RunStatus.FINISHED if solved else RunStatus.TIMEOUT
    return cost.judge(Run("", status, seconds=seconds), solved, deadline).cost


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
    watch: float | None,
    order: IntArray,
    seed: int = 0,
    progress: OnStep | None = None,
) -> Replay:
    """Play the problems in these orders (replicates, rounds), all replicates at once.

    learner: one that plans decides how many arms run, and when; then nothing is watched.
    watch: how likely a round may be watched to its end, as the learner wants, with the losers of
        the others stopped; None: nobody is stopped.
    The first replicate is what a live portfolio with this seed would do.
    """
    replicates, rounds = order.shape
    seat = Seat(learner, seed, replicates)
    if races.features is not None:
        seat.expect(races.names)
    plans = isinstance(learner, Planner) and races.features is None
    found = []
    for number in range(rounds):
        problems = order[:, number]
        if plans:
            found.append(_planned(races, seat, number, problems))
        else:
            found.append(_raced(races, seat, number, problems, watch))
        if progress and (number % 256 == 255 or number == rounds - 1):
            progress(number + 1, rounds)
    return Replay(*(np.stack(columns, axis=1) for columns in zip(*found, strict=True)))


# What `Replay` says, of one round.
Played = tuple[FloatArray, BoolArray, FloatArray, BoolArray, IntArray]


def _raced(
    races: Races, seat: Seat, number: int, problems: IntArray, watch: float | None
) -> Played:
    """A round in which all arms of the pick start at once."""
    known = None if races.features is None else races.features[problems]
    choice = seat.pick(number, known)
    chance, watched = seat.watched(number, choice, watch)
    seen, ran = races.seen(problems, choice.arms, chance, watched)
    seat.learn(choice, seen, known)
    paid = np.where(seen.low == seen.high, seen.low, 1.0).min(axis=1)
    solved = races.times[problems[:, None], choice.arms].min(axis=1) < 1.0
    return paid, solved, ran.sum(axis=1) * races.deadline, watched, choice.arms


def _planned(races: Races, seat: Seat, number: int, problems: IntArray) -> Played:
    """A round of a learner that plans."""
    plans = seat.plan(number)
    runs, answer = races.run(problems, plans)
    seat.learn_runs(plans, runs)
    used = np.where(runs.ran, runs.times, 0.0).sum(axis=1) * races.deadline
    watched = np.zeros(len(problems), np.bool_)
    return races.paid(answer), answer < 1.0, used, watched, plans.arms


# Yardsticks ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Yardstick:
    """Arms that are fixed in advance, the losers stopped; arms: empty for random ones."""

    mean_cost: float
    cpu_seconds: float
    arms: tuple[int, ...] = ()


def random_sets(races: Races, budget: int, price: float = 0.0) -> Yardstick:
    """Random sets, in expectation."""
    paid = random_costs(races, budget, price).mean()
    first = random_subset_costs(races.times, budget).mean()
    return Yardstick(float(paid), float(first) * budget * races.deadline)


def random_costs(races: Races, budget: int, price: float = 0.0) -> FloatArray:
    """(problems,): what random sets pay on each problem, in expectation."""
    return random_subset_costs(races.total(budget, price), budget)


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
    watch: float | None,
    price: float = 0.0,
    replicates: int = 20,
    seed: int = 0,
    progress: OnStep | None = None,
) -> dict[str, Any]:
    """A learner's means over rounds and replicates, as `pickbest replay --json` shows them."""
    order = orders(len(races.times), len(races.times), replicates, seed)
    spec = Spec.of(learner)
    if spec.name == PLANNER:
        # It minimises what is measured here.
        named = next(name for name, kind in NAMED.items() if races.cost == kind())
        spec = spec.with_options(price=price, cost=named, **spec.options)
    made = racing(make_learner(spec, races.n_arms, budget))
    played = replay(races, made, watch, order, seed, progress)
    paid = played.paid + price * played.cpu_seconds / races.deadline
    return {
        "learner": learner,
        "stop": "deadline" if watch is None else "first",
        "mean_cost": float(paid.mean()),
        "std_error": standard_error(paid.mean(axis=1)),
        "solved": float(played.solved.mean()),
        "cpu_seconds": float(played.cpu_seconds.mean()),
    }
