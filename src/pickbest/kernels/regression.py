"""The reward that an arm will have on a problem: kernel ridge regression on those like it.

    f_a(x) = m_a + sum over problems i that arm a ran on of k(x, x_i) pulls_ia

with m_a the arm's mean reward, k(x, y) = exp(-WIDTH d²(x, y) / mean d²), and pulls that solve
(K + RIDGE) pulls = rewards - m_a. They are solved as rounds come, by coordinate descent: that of
the new problem, then those of the AGAIN nearest ones, which it changes most; problems whose
features are the same are solved for together. Each sees all others, so errors of the past are
mended when a problem like it comes.
"""

import math

import numpy as np

from pickbest.core import FloatArray, IntArray
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
    """Solve for the pulls of the problem at this place and those of the same features, then for
    those of the nearest ones."""
    away = distances(problems, row, problems.ranks[row, place])
    for _ in range(1 + AGAIN):
        near = int(np.argmin(away))
        if away[near] == np.inf:
            break
        around = distances(problems, row, problems.ranks[row, near])
        alike = np.flatnonzero(around == 0.0)
        _correct_alike(problems, pairs, row, alike, around)
        away[alike] = np.inf


@allocating
def _correct_alike(
    problems: ProblemsState, pairs: PairsState, row: int, alike: IntArray, around: FloatArray
) -> None:
    """Solve exactly for the pulls of problems whose features are the same, given all others.

    With e_i the rewards less what the others pull, of n problems, the sum of their pulls is
    sum e / (n + RIDGE). One after the other, they would follow the last result.
    """
    usual, pulls = usual_reward(pairs, row, 0), problems.pulls[row]
    like = np.exp(-_rate(problems, row) * around)
    like[alike] = 0.0
    for a in range(pulls.shape[1]):
        ran = problems.ran[row, alike, a]
        if not ran.any():
            continue
        expected = arm_mean(pairs, row, 0, a, usual)
        for i in range(like.shape[0]):
            expected += like[i] * pulls[i, a]
        errors = ran * (problems.rewards[row, alike, a] - expected)
        shared = errors.sum() / (ran.sum() + RIDGE)
        pulls[alike, a] = (errors - ran * shared) / RIDGE
