"""Kinds of problems: survival curves of arms that depend on each other through the problem.

A problem is of one of KINDS kinds. Given its kind, arms answer independently of each other, each
with the hazards of its own curve for that kind: a mixture whose parts are found by soft counts, as
in the EM algorithm (Dempster, Laird and Rubin 1977), each round once. A run that was stopped says
that the arm had not answered until then, and nothing else. An arm that does not answer makes those
kinds more likely on which it is slow: so the mixture knows who complements whom, and which arms
are worth starting when another has failed for a while.

A curve of a kind leans on the arm's curve over all kinds, this on that of all arms; the kinds
begin as easy and hard ones.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from pickbest.core import FloatArray, IntArray
from pickbest.core.states import counts
from pickbest.kernels.compiled import inlined, interpreted, kernel
from pickbest.kernels.random import STEP, gamma_from, uniform_at

# Times are shares of the deadline, in bins whose widths grow like the times; answers below the
# shortest are equally quick. Half as many bins do as well in races; with a shortest of 1e-3, races
# lose .02 (± .03).
BINS, SHORTEST = 24, 1e-4
_STEP = BINS / -math.log(SHORTEST)
# Two kinds do as well in races (.01 less, within chance); schedules need them.
KINDS = 4
# How many runs a curve that is leant on counts as. With .5, races lose .03 (± .03).
WORTH = 2.0
# The hazards of the easiest and of the hardest kind in the beginning are e^LADDER and e^-LADDER
# times the usual ones. They differ from arm to arm by half of that: else all kinds stay alike.
# With .3, races lose .02 (± .05).
LADDER = 1.2
# No bin ends all runs. With .99, races lose .01 (± .02).
MOST_HAZARD = 0.95
# Where bins begin and end, as shares of the deadline.
EDGES = np.concatenate([[0.0], SHORTEST ** (1.0 - np.arange(1, BINS + 1) / BINS)])


class KindsState(NamedTuple):
    """mass: (replicates, kinds) problems of each kind, as far as can be told.

    answers, ends: (replicates, kinds, arms, bins), runs by the time at which they ended, with an
        answer or without.
    """

    mass: Annotated[FloatArray, counts()]
    answers: Annotated[FloatArray, counts(-2)]
    ends: Annotated[FloatArray, counts(-2)]


class Ended(NamedTuple):
    """How the runs of a round ended: of each its arm (below 0 if it did not run), the time, and
    above 0 where it answered."""

    arms: IntArray
    times: FloatArray
    answered: FloatArray


def start_kinds(replicates: int, n_arms: int) -> KindsState:
    """Nothing seen yet."""
    shape = (replicates, KINDS, n_arms, BINS)
    return KindsState(np.ones((replicates, KINDS)), np.zeros(shape), np.zeros(shape))


@inlined
def bin_of(time: float) -> int:
    """The bin in which a time lies."""
    return min(max(int(BINS + _STEP * math.log(max(time, SHORTEST))), 0), BINS - 1)


@inlined
def tilt_of(kind: int, arm: int) -> float:
    """By how much the hazards of an arm on a kind differ from its own, before anything is seen."""
    step = STEP * np.uint64(1 + kind * 100_003 + arm)
    return math.exp(LADDER * (0.5 + uniform_at(step) - 2.0 * kind / (KINDS - 1)))


@kernel
def fill_hazards(
    state: KindsState, row: int, arms: IntArray, pooled: FloatArray, hazards: FloatArray
) -> None:
    """hazards[k, a, j]: how likely each of these arms answers in a bin, if it has not before.

    pooled: scratch of length BINS.
    """
    answers, ends = state.answers[row], state.ends[row]
    running = 0.0
    for j in range(BINS - 1, -1, -1):
        ended = 0.0
        for k in range(KINDS):
            for a in arms:
                ended += answers[k, a, j]
                running += answers[k, a, j] + ends[k, a, j]
        pooled[j] = (ended + 0.05) / (running + 1.0)
    for a in arms:
        running = 0.0
        for j in range(BINS - 1, -1, -1):
            ended = 0.0
            for k in range(KINDS):
                ended += answers[k, a, j]
                running += answers[k, a, j] + ends[k, a, j]
            own = (ended + WORTH * pooled[j]) / (running + WORTH)
            for k in range(KINDS):
                hazards[k, a, j] = own
        for k in range(KINDS):
            tilt, at_risk = tilt_of(k, a), 0.0
            for j in range(BINS - 1, -1, -1):
                at_risk += answers[k, a, j] + ends[k, a, j]
                guess = WORTH * min(hazards[k, a, j] * tilt, MOST_HAZARD)
                hazard = (answers[k, a, j] + guess) / (at_risk + WORTH)
                hazards[k, a, j] = min(hazard, MOST_HAZARD)


@kernel
def draw_survival(
    state: KindsState, row: int, key: np.uint64, hazards: FloatArray, survival: FloatArray
) -> None:
    """survival[k, a, j]: how likely the arm has not answered at EDGES[j], a posterior draw.

    An arm's hazards are multiplied by one Gamma draw, in which a run counts as one trial: it is the
    wider the less is known. With .1 or 2 trials, plans cost the same within .005.
    """
    counter = key
    for a in range(hazards.shape[1]):
        shape = 1.0
        for k in range(KINDS):
            for j in range(BINS):
                shape += state.answers[row, k, a, j] + state.ends[row, k, a, j]
        counter, draw = gamma_from(counter, shape)
        factor = math.exp(draw) / shape
        for k in range(KINDS):
            left = 1.0
            survival[k, a, 0] = 1.0
            for j in range(BINS):
                left *= 1.0 - min(hazards[k, a, j] * factor, MOST_HAZARD)
                survival[k, a, j + 1] = left


def survivals(state: KindsState) -> FloatArray:
    """(replicates, kinds, arms, bins + 1): how likely arms have not answered at EDGES."""
    survival = np.ones((*state.answers.shape[:3], BINS + 1))
    arms, pooled = np.arange(survival.shape[2]), np.empty(BINS)
    for row in range(len(survival)):
        hazards = np.empty(state.answers.shape[1:])
        interpreted(fill_hazards, state, row, arms, pooled, hazards)
        survival[row, :, :, 1:] = np.cumprod(1.0 - hazards, axis=-1)
    return survival


@kernel
def weigh_kinds(
    state: KindsState, row: int, hazards: FloatArray, likely: FloatArray, runs: Ended
) -> None:
    """Fills likely, (kinds,): how likely a round is of each kind.

    hazards: from before the round.
    """
    arms, times, answered = runs.arms, runs.times, runs.answered
    most = -np.inf
    for k in range(KINDS):
        log = math.log(state.mass[row, k])
        for i in range(arms.shape[0]):
            if arms[i] >= 0:
                last = bin_of(times[i])
                for j in range(last):
                    log += math.log1p(-hazards[k, arms[i], j])
                if answered[i] > 0.0:
                    log += math.log(hazards[k, arms[i], last])
                elif times[i] >= 1.0:
                    log += math.log1p(-hazards[k, arms[i], last])
        likely[k] = log
        most = max(most, log)
    total = 0.0
    for k in range(KINDS):
        likely[k] = math.exp(likely[k] - most)
        total += likely[k]
    for k in range(KINDS):
        likely[k] /= total


@kernel
def learn_kinds(
    state: KindsState, row: int, hazards: FloatArray, likely: FloatArray, runs: Ended
) -> None:
    """Fold a round in: the soft counts of its runs; all else as in `weigh_kinds`."""
    weigh_kinds(state, row, hazards, likely, runs)
    arms, times, answered = runs.arms, runs.times, runs.answered
    for k in range(KINDS):
        state.mass[row, k] += likely[k]
        for i in range(arms.shape[0]):
            if arms[i] >= 0:
                last = bin_of(times[i])
                if answered[i] > 0.0:
                    state.answers[row, k, arms[i], last] += likely[k]
                else:
                    state.ends[row, k, arms[i], last] += likely[k]
