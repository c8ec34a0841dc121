"""All rounds of one replicate as a single job: f = f_1 + … + f_T.

A schedule in it is known by a summary. ordered: whether the order of actions may matter. repeats:
whether an action may add something when it is taken again.
"""

from dataclasses import dataclass

import numpy as np

from pickbest.core import FloatArray, IntArray
from pickbest.submodular.jobs.rounds import Jobs, RoundJobs
from pickbest.submodular.jobs.schedules import durations_of
from pickbest.submodular.jobs.tables import Combine, TableJobs, TableRound


@dataclass(frozen=True)
class TableTotal:
    """Rounds stand where replicates do in a game: one compiled call for all of them."""

    every: TableRound
    rows: int
    scale: float
    durations: IntArray
    ordered = False

    @property
    def repeats(self) -> bool:
        return self.every.combine is Combine.MISS

    def start(self, longest: int) -> FloatArray:
        return self.every.start(self.rows, longest)

    def gains(self, summary: FloatArray) -> FloatArray:
        gains: FloatArray = self.scale * self.every.gains(summary).sum(axis=0)
        return gains

    def extend(self, summary: FloatArray, arm: int) -> FloatArray:
        rows = len(summary)
        return self.every.extend(summary, np.full(rows, arm), np.ones(rows, np.bool_))

    def value(self, summary: FloatArray) -> float:
        return self.scale * float(self.every.values(summary).sum())


@dataclass(frozen=True)
class AnyTotal:
    """Round by round, for jobs of any kind."""

    rounds: tuple[RoundJobs, ...]
    durations: IntArray
    ordered = True
    repeats = True

    def start(self, longest: int) -> FloatArray:
        return np.vstack([job.start(1, longest) for job in self.rounds])

    def gains(self, summary: FloatArray) -> FloatArray:
        rows = [job.gains(summary[t : t + 1]) for t, job in enumerate(self.rounds)]
        gains: FloatArray = np.vstack(rows).sum(axis=0)
        return gains

    def extend(self, summary: FloatArray, arm: int) -> FloatArray:
        one, kept = np.array([arm]), np.ones(1, np.bool_)
        rows = [job.extend(summary[t : t + 1], one, kept) for t, job in enumerate(self.rounds)]
        return np.vstack(rows)

    def value(self, summary: FloatArray) -> float:
        return float(sum(job.values(summary[t : t + 1])[0] for t, job in enumerate(self.rounds)))


Total = TableTotal | AnyTotal


def total_of(jobs: Jobs, replicate: int = 0) -> Total:
    """The total of a replicate, in the fastest form that there is."""
    if not isinstance(jobs, TableJobs):
        rounds = tuple(jobs.round(t) for t in range(jobs.rounds))
        return AnyTotal(rounds, durations_of(jobs.actions))
    every = jobs.as_replicates(replicate)
    if len(every.entries) > 1:
        return TableTotal(every, jobs.rounds, 1.0, jobs.durations)
    # The same entries in all rounds: one job with the mean weights, times the rounds.
    mean = TableRound(jobs.combine, every.entries, every.weights.mean(axis=0, keepdims=True))
    return TableTotal(mean, 1, float(jobs.rounds), jobs.durations)
