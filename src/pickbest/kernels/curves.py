"""Survival curves: how likely an arm that has run for some time still answers, and how well.

Times are shares of the deadline, in bins whose widths grow like the times. A run that was stopped,
or that ended without an answer, leaves the curve without one (Kaplan and Meier 1958).
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from pickbest.core import FloatArray
from pickbest.core.states import counts
from pickbest.kernels.compiled import inlined

BINS = 24
# Answers below this share of the deadline are equally quick.
SHORTEST = 1e-4
_STEP = BINS / -math.log(SHORTEST)


class CurvesState(NamedTuple):
    """(replicates, arms, bins) of each arm's runs, by the time at which they ended.

    answers, rewards: how many answered, and the sum of their rewards. ends: how many did not.
    """

    answers: Annotated[FloatArray, counts(-2)]
    rewards: Annotated[FloatArray, counts(-2)]
    ends: Annotated[FloatArray, counts(-2)]


def start_curves(replicates: int, n_arms: int) -> CurvesState:
    """Nothing seen yet."""
    return CurvesState(*(np.zeros((replicates, n_arms, BINS)) for _ in CurvesState._fields))


@inlined
def place_of(time: float) -> float:
    """Where a time lies, counted in bins from 0 to BINS."""
    return min(max(BINS + _STEP * math.log(max(time, SHORTEST)), 0.0), float(BINS))


@inlined
def note_run(
    curves: CurvesState, row: int, arm: int, time: float, answered: bool, reward: float
) -> None:
    """Take in a run."""
    place = min(int(place_of(time)), BINS - 1)
    if answered:
        curves.answers[row, arm, place] += 1.0
        curves.rewards[row, arm, place] += reward
    else:
        curves.ends[row, arm, place] += 1.0


@inlined
def reward_beyond(
    curves: CurvesState, row: int, arm: int, time: float, guess: float, worth: float
) -> float:
    """The mean reward of a run that has not answered until `time`.

    guess: what it is taken for without any run; worth: how many runs that counts as.
    """
    answers, rewards = curves.answers[row, arm], curves.rewards[row, arm]
    ends = curves.ends[row, arm]
    first = min(int(place_of(time)), BINS - 1)
    running, value = 0.0, 0.0
    for j in range(BINS - 1, first - 1, -1):
        running += answers[j] + ends[j]
        if answers[j] > 0.0:
            # Of the bin in which it stands now, about half is to come.
            left = 1.0 if j > first else 0.5
            hazard = left * answers[j] / running
            value = hazard * rewards[j] / answers[j] + (1.0 - hazard) * value
    return (running * value + worth * guess) / (running + worth)
