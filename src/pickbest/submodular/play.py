"""Play a learner of schedules on jobs: compiled whole games where both are built in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pickbest.core import (
    Feedback,
    FloatArray,
    IntArray,
    KeyArray,
    PickbestError,
    CompiledLearner,
    State,
    check_count,
    check_seed,
    replicate_keys,
    rng_for,
)
from pickbest.kernels import jobs as kernels
from pickbest.kernels.leaders import EXACT, EXPLORE, GEOMETRIC, NO_WEIGHTS
from pickbest.learners import FPML, Exp3, Exp3IX, FPMLPartial, Hedge, Weights
from pickbest.learners.adahedge import AdaHedge
from pickbest.learners.greedy import slot_state
from pickbest.submodular.jobs import Jobs, TableJobs, durations_of
from pickbest.submodular.learner import OnlineGreedy

_SOURCES = {
    Weights.EXACT: EXACT,
    Weights.GEOMETRIC: GEOMETRIC,
    Weights.EXPLORE: EXPLORE,
}
COMPILED = (AdaHedge, Exp3, Exp3IX, FPML, FPMLPartial, Hedge)


@dataclass(frozen=True, eq=False)
class JobRun:
    """One learner's games.

    values: (replicates, rounds), what each schedule was worth.
    lengths: (replicates, rounds), how long it was.
    """

    values: FloatArray
    lengths: IntArray

    @property
    def mean(self) -> float:
        """The mean value of a round."""
        return float(self.values.mean())

    def regret(self, best: float) -> FloatArray:
        """(replicates,) regret over all rounds against a total of `best`, say OPT(B')."""
        regret: FloatArray = best - self.values.sum(axis=1)
        return regret


def play_jobs(learner: OnlineGreedy, jobs: Jobs, replicates: int = 20, seed: int = 0) -> JobRun:
    """Independent games of a learner on the same jobs (or each replicate on its own).

    >>> from pickbest.submodular.jobs import coverage
    >>> from pickbest.submodular import online_greedy
    >>> jobs = coverage([[1, 1, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0]], np.full((200, 4), 0.25))
    >>> run = play_jobs(online_greedy(3, budget=2, rounds=200), jobs)
    >>> run.mean > 0.9
    True
    """
    state = learner.start(check_count("replicates", replicates))
    keys = replicate_keys(check_seed(seed), replicates)
    check_match(learner, jobs, replicates)
    shape = (replicates, jobs.rounds)
    run = JobRun(np.empty(shape), np.zeros(shape, np.int64))
    if isinstance(jobs, TableJobs) and has_compiled_game(learner):
        # Short stretches, so that Ctrl-C is heard.
        stretch = max(1, 20_000 // replicates)
        for first in range(0, jobs.rounds, stretch):
            last = min(first + stretch, jobs.rounds)
            _play_compiled(learner, state, jobs, keys, first, last, run)
        return run
    for t in range(jobs.rounds):
        round_jobs = jobs.round(t)
        plan = learner.pick(state, rng_for(keys, t))
        run.values[:, t] = learner.values(plan, round_jobs)
        spans = learner.durations[plan.choice.arms]
        run.lengths[:, t] = np.where(plan.kept, spans, 0).sum(axis=1)
        state = learner.learn(state, plan, round_jobs)
    return run


def check_match(learner: OnlineGreedy, jobs: Jobs, replicates: int) -> None:
    """The learner's arms are the jobs' actions, and there are jobs for every replicate."""
    if learner.n_arms != len(jobs.actions):
        raise PickbestError(
            f"the learner has n_arms={learner.n_arms}, the jobs have {len(jobs.actions)} actions"
        )
    if not np.array_equal(learner.durations, durations_of(jobs.actions)):
        raise PickbestError("the durations of the learner's actions are not those of the jobs")
    if isinstance(jobs, TableJobs) and jobs.replicates not in (1, replicates):
        raise PickbestError(f"there are jobs for {jobs.replicates} replicates, got {replicates}")


def has_compiled_game(learner: OnlineGreedy) -> bool:
    """Whether whole games of the learner are compiled."""
    known = isinstance(learner.inner, COMPILED)
    return known and not learner.shared


def _play_compiled(
    learner: OnlineGreedy,
    state: State,
    jobs: TableJobs,
    keys: KeyArray,
    first: int,
    last: int,
    run: JobRun,
) -> None:
    inner = learner.inner
    name = "costs" if isinstance(inner, FPML | FPMLPartial) else "gains"
    states = [slot_state(state, slot) for slot in range(learner.slots)]
    scores = np.stack([own[name] for own in states])
    learned = np.zeros(scores.shape[:2], np.int64)
    gaps = np.zeros(scores.shape[:2])
    if "round" in states[0]:
        learned = np.stack([own["round"] for own in states])
    if "gap" in states[0]:
        gaps = np.stack([own["gap"] for own in states])
    shape = (len(keys), last - first)
    values, lengths = np.empty(shape), np.empty(shape, np.int64)
    kernels.play_jobs(
        scores,
        learned,
        gaps,
        jobs.combine.value,
        _stretch(jobs.entries, first, last),
        _stretch(jobs.weights, first, last),
        learner.durations,
        keys,
        first,
        *_law(inner),
        inner.feedback is Feedback.FULL,
        isinstance(inner, Exp3),
        learner.distinct,
        learner.budget if learner.hard_budget else 0,
        inner.budget,
        values,
        lengths,
    )
    run.values[:, first:last], run.lengths[:, first:last] = values, lengths
    for slot, own in enumerate(states):
        own[name][...] = scores[slot]
        if "round" in own:
            own["round"][...] = learned[slot]
        if "gap" in own:
            own["gap"][...] = gaps[slot]


def _stretch(array: FloatArray, first: int, last: int) -> FloatArray:
    return np.ascontiguousarray(array[:, first:last]) if array.shape[1] > 1 else array


class _Law(NamedTuple):
    """How a slot picks, as `kernels.play_jobs` takes it."""

    leaders: bool
    adaptive: bool = False
    rate: float = 0.0
    decay: float = 0.0
    fresh: bool = True
    source: int = NO_WEIGHTS
    cap: int = 1
    probability: float = 1.0
    mixing: float = 0.0
    implicit: float = 0.0


def _law(inner: CompiledLearner) -> _Law:
    if isinstance(inner, FPML):
        return _Law(leaders=True, rate=inner.epsilon, decay=inner.decay, fresh=inner.fresh)
    if isinstance(inner, FPMLPartial):
        return _Law(
            leaders=True,
            rate=inner.epsilon,
            decay=inner.decay,
            source=_SOURCES[inner.weights],
            cap=inner.resamples,
            probability=inner.explore,
        )
    if isinstance(inner, Exp3):
        return _Law(leaders=False, rate=inner.gamma / inner.n_arms, mixing=inner.gamma)
    if isinstance(inner, Exp3IX):
        return _Law(leaders=False, rate=inner.rate, implicit=inner.implicit)
    if isinstance(inner, Hedge):
        return _Law(leaders=False, rate=inner.rate)
    return _Law(leaders=False, adaptive=True)
