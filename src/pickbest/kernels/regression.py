"""The reward that an arm will have on a problem: kernel ridge regression on those like it.

    f_a(x) = m_a + sum over problems i that arm a ran on of k(x, x_i) pulls_ia

with m_a the arm's mean reward, k(x, y) = exp(-WIDTH d²(x, y) / mean d²), and pulls that solve
(K + RIDGE) pulls = rewards - m_a. They are solved as rounds come, by coordinate descent: that of
the new problem, then those of the AGAIN nearest ones, which it changes most. Each sees all others,
so errors of the past are mended when a problem like it comes.
"""

from __future__ import annotations

import math

import numpy as np

from pickbest.core import FloatArray
from pickbest.kernels.compiled import allocating, inlined
from pickbest.kernels.neighbours import ProblemsState, distances
from pickbest.kernels.pairs import PairsState

WIDTH, RIDGE, AGAIN = 3.0, 1.0, 5
# As how many plays of an arm the mean of all arms counts.
WORTH = 2.0
# Optimism about an arm that was never played, and about one never played on problems like this,
# as shares of what is left to a reward of 1; both fall as one over the root of plays.
NEW, NEW_HERE = 0.3, 0.2


@inlined
def usual_reward(pairs: PairsState, row: int, memory: int) -> float:
    """The mean reward of all arms."""
    unit, rewards, plays = pairs.unit[row, memory], 0.5, 1.0
    for a in range(pairs.plays.shape[2]):
        rewards += unit * pairs.rewards[row, memory, a]
        plays += unit * pairs.plays[row, memory, a]
    return float(rewards / plays)


@inlined
def arm_mean(pairs: PairsState, row: int, memory: int, arm: int, usual: float) -> float:
    """An arm's mean reward, the usual one being worth WORTH plays."""
    unit = pairs.unit[row, memory]
    return float(
        (WORTH * usual + unit * pairs.rewards[row, memory, arm])
        / (WORTH + unit * pairs.plays[row, memory, arm])
    )


@inlined
def _rate(problems: ProblemsState, row: int) -> float:
    return float(WIDTH / (problems.apart[row] / max(problems.compared[row], 1.0) + 1e-12))


@allocating
def predict(
    problems: ProblemsState, pairs: PairsState, row: int, away: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The expected reward of each arm, and how often it was played on problems like this.

    away: d² of the remembered problems.
    """
    n_arms, rate = problems.ran.shape[2], _rate(problems, row)
    means, plays = np.zeros(n_arms), np.zeros(n_arms)
    for i in range(away.shape[0]):
        like = math.exp(-rate * away[i])
        for a in range(n_arms):
            means[a] += like * problems.pulls[row, i, a]
            plays[a] += like * problems.ran[row, i, a]
    usual = usual_reward(pairs, row, 0)
    for a in range(n_arms):
        means[a] = min(max(means[a] + arm_mean(pairs, row, 0, a, usual), 0.0), 1.0)
    return means, plays


@inlined
def hoped(mean: float, plays: float, plays_here: float) -> float:
    """The expected reward with optimism for arms that were played little."""
    hope = NEW / math.sqrt(1.0 + plays) + NEW_HERE / math.sqrt(1.0 + plays_here)
    return mean + (1.0 - mean) * hope


@allocating
def correct(problems: ProblemsState, pairs: PairsState, row: int, place: int) -> None:
    """Solve for the pulls of the problem at this place, then for those of the nearest ones."""
    away = distances(problems, row, problems.ranks[row, place])
    _correct_one(problems, pairs, row, place, away)
    away[place] = np.inf
    for _ in range(min(AGAIN, away.shape[0] - 1)):
        near = int(np.argmin(away))
        away[near] = np.inf
        _correct_one(
            problems, pairs, row, near, distances(problems, row, problems.ranks[row, near])
        )


@allocating
def _correct_one(
    problems: ProblemsState, pairs: PairsState, row: int, place: int, away: FloatArray
) -> None:
    rate, usual = _rate(problems, row), usual_reward(pairs, row, 0)
    pulls, ran = problems.pulls[row], problems.ran[row]
    like = np.exp(-rate * away)
    for a in range(ran.shape[1]):
        if ran[place, a] > 0.0:
            error = problems.rewards[row, place, a] - arm_mean(pairs, row, 0, a, usual)
            error -= RIDGE * pulls[place, a]
            for i in range(away.shape[0]):
                error -= like[i] * pulls[i, a]
            pulls[place, a] += error / (1.0 + RIDGE)
