"""Whether several processes pay: what a run takes, timed on its first rounds."""

import os
from collections.abc import Callable
from dataclasses import dataclass

from pickbest.core import Environment
from pickbest.core.wrapping import WrappingEnvironment

# Until spawned processes have imported and loaded what is compiled: 1.3 to 1.6 s in eight runs
# where two had two cores of their own.
START_SECONDS = 1.5
# Long enough to be timed.
TRIAL_SECONDS = 0.05


@dataclass(frozen=True)
class FirstRounds(WrappingEnvironment):
    """The first rounds of an environment."""

    inner: Environment
    first: int

    @property
    def rounds(self) -> int:
        return self.first


def processes_that_pay(
    workers: int, replicates: int, rounds: int, seconds: Callable[[int, int], float]
) -> int:
    """As many as wanted and useful, or 1 where starting them takes longer than they save.

    seconds(replicates, rounds): plays so much, and says how long it took.
    """
    useful = min(workers, os.cpu_count() or 1, replicates)
    if useful == 1:
        return 1
    seconds(1, 1)  # compiles
    tried, took = 1, 0.0
    while took < TRIAL_SECONDS and tried < rounds:
        tried = min(8 * tried, rounds)
        took = seconds(replicates, tried)
    if took * rounds / tried <= START_SECONDS:
        return 1
    # Replicates share much of the work of a round that is not compiled: a share is timed, too.
    share = seconds(-(-replicates // useful), tried)
    return useful if START_SECONDS + share * rounds / tried < took * rounds / tried else 1
