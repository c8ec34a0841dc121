"""Play a learner of schedules on jobs: compiled whole games where both are built in."""

from dataclasses import dataclass

import numpy as np

from pickbest.core import (
    FloatArray,
    IntArray,
    PickbestError,
    check_count,
    check_seed,
    replicate_keys,
    rng_for,
)
from pickbest.kernels.slots import play_slots
from pickbest.learners.greedy import slot_rows
from pickbest.submodular.jobs.actions import durations_of
from pickbest.submodular.jobs.functions import FunctionJobs
from pickbest.submodular.jobs.tables import TableJobs
from pickbest.submodular.kernels import JOBS, JobGame
from pickbest.submodular.learner import OnlineGreedy


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


def play_jobs(
    learner: OnlineGreedy, jobs: TableJobs | FunctionJobs, replicates: int = 20, seed: int = 0
) -> JobRun:
    """Independent games of a learner on the same jobs.

    >>> from pickbest.submodular.jobs import coverage
    >>> from pickbest.submodular import online_greedy
    >>> jobs = coverage([[1, 1, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0]], np.full((200, 4), 0.25))
    >>> run = play_jobs(online_greedy(3, budget=2, rounds=200), jobs)
    >>> run.mean > 0.9
    True
    """
    state = learner.start(check_count("replicates", replicates))
    keys = replicate_keys(check_seed(seed), replicates)
    if learner.n_arms != len(jobs.actions):
        raise PickbestError(
            f"the learner has n_arms={learner.n_arms}, the jobs have {len(jobs.actions)} actions"
        )
    if not np.array_equal(learner.durations, durations_of(jobs.actions)):
        raise PickbestError("the durations of the learner's actions are not those of the jobs")
    shape = (replicates, jobs.rounds)
    run = JobRun(np.empty(shape), np.zeros(shape, np.int64))
    if isinstance(jobs, TableJobs):
        inner, rows = learner.inner, slot_rows(state.slots)
        # Short stretches, so that Ctrl-C is heard.
        stretch = max(1, 20_000 // replicates)
        for first in range(0, jobs.rounds, stretch):
            part = slice(first, min(first + stretch, jobs.rounds))
            entries = jobs.entries[part] if len(jobs.entries) > 1 else jobs.entries
            weights = jobs.weights[part] if len(jobs.weights) > 1 else jobs.weights
            game = JobGame(jobs.combine.value, entries, weights, learner.durations)
            rounds = part.stop - first
            run.values[:, part], run.lengths[:, part] = play_slots(
                inner, JOBS, rows, learner.filling, game, learner.slots, keys, first, rounds
            )
        return run
    for t in range(jobs.rounds):
        round_jobs = jobs.round(t)
        plan = learner.pick(state, rng_for(keys, t))
        run.values[:, t] = learner.values(plan, round_jobs)
        spans = learner.durations[plan.choice.arms]
        run.lengths[:, t] = np.where(plan.kept, spans, 0).sum(axis=1)
        state = learner.learn(state, plan, round_jobs)
    return run
