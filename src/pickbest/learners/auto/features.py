"""Features of problems: sets from past problems like this one, unless these predict worse.

Problems are compared by the ranks of their features: d² is the sum over features of the squared
difference of two ranks, as shares of all remembered problems, cut at FAR. So scales do not matter,
constant features count nothing, and words (see `core.features`), which are beyond all numbers, are
FAR from all but themselves. A word stands for its own rank. It is so large that counting does not
change it (1e60 + 1 = 1e60), so nothing below has to tell words from numbers.

The reward that an arm will have on a problem is a kernel ridge regression on those like it:

    f_a(x) = m_a + sum over problems i that arm a ran on of k(x, x_i) pulls_ia

with m_a the arm's mean reward, k(x, y) = exp(-WIDTH d²(x, y) / mean d²), and pulls that solve
(K + RIDGE) pulls = rewards - m_a. They are solved as rounds come, by coordinate descent: that of
the new problem, then those of the AGAIN nearest ones, which it changes most; problems whose
features are the same are solved for together. Each sees all others, so errors of the past are
mended when a problem like it comes.

In the sums of `auto.sets`, arms then count as often played with what the regression hopes for, so
that draws from their posteriors are that value but for ties. Pairs have the sums of the remembered
problems, weighted by nearness, together with all rounds counted as WORTH plays.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from pickbest.core import FloatArray, IntArray, PickbestError
from pickbest.core.features import WORD
from pickbest.core.states import counts
from pickbest.kernels.compiled import allocating, compiled, inlined
from pickbest.learners.auto.sets import PairsState, memory_in_use

# Problems that are remembered, and the numbers that they may take.
MOST_PROBLEMS, MOST_NUMBERS = 1_000, 4_000_000
NEAR = 30
FAR = 0.25


class ProblemsState(NamedTuple):
    """The last problems, (replicates, problems, …), the oldest replaced first.

    values: encoded features. ranks: how many of the remembered are smaller; equals count half.
    ran: 1 for the arms that ran, else 0. rewards: theirs. pulls: see the module.
    learned: (replicates,) problems so far.
    apart, compared: (replicates,) the sum of all d² so far, and their number.
    better, squares: (replicates,) by how much the regression predicted rewards better than all
        rounds do, and the squares of that.
    """

    values: Annotated[FloatArray, counts()]
    ranks: Annotated[FloatArray, counts()]
    ran: Annotated[FloatArray, counts(-1)]
    rewards: Annotated[FloatArray, counts(-1)]
    pulls: Annotated[FloatArray, counts(-1, signed=True)]
    learned: Annotated[IntArray, counts()]
    apart: Annotated[FloatArray, counts()]
    compared: Annotated[FloatArray, counts()]
    better: Annotated[FloatArray, counts()]
    squares: Annotated[FloatArray, counts()]

    def check(self) -> None:
        """See core.states.Checked."""
        sums = (self.squares, self.apart, self.compared)
        if any(np.any(one < 0.0) for one in sums) or np.any(self.ranks < -0.5):
            raise PickbestError("the saved problems have numbers that no round can have left")


def start_problems(replicates: int, n_arms: int, n_features: int) -> ProblemsState:
    """No problem seen yet; without features, none will be remembered."""
    fitting = MOST_NUMBERS // (3 * n_arms + 2 * n_features)
    most = max(1, min(MOST_PROBLEMS, fitting)) if n_features else 0
    shape = (replicates, most)
    return ProblemsState(
        values=np.zeros((*shape, n_features)),
        ranks=np.zeros((*shape, n_features)),
        ran=np.zeros((*shape, n_arms)),
        rewards=np.zeros((*shape, n_arms)),
        pulls=np.zeros((*shape, n_arms)),
        learned=np.zeros(replicates, np.int64),
        apart=np.zeros(replicates),
        compared=np.zeros(replicates),
        better=np.zeros(replicates),
        squares=np.zeros(replicates),
    )


@inlined
def remembered(problems: ProblemsState, row: int) -> int:
    """How many problems are remembered."""
    return int(min(problems.learned[row], problems.values.shape[1]))


@allocating
def ranks_among(problems: ProblemsState, row: int, features: FloatArray) -> FloatArray:
    """The ranks that a problem with these features has among the remembered ones."""
    values, own = problems.values[row], np.zeros(features.shape[0])
    for f in range(features.shape[0]):
        if features[f] >= WORD:
            own[f] = features[f]
    for i in range(remembered(problems, row)):
        for f in range(features.shape[0]):
            own[f] += _order(features[f], values[i, f])
    return own


@allocating
def distances(problems: ProblemsState, row: int, own: FloatArray) -> FloatArray:
    """(remembered,) d² of each remembered problem from one with these ranks."""
    ranks, number = problems.ranks[row], remembered(problems, row)
    away, share = np.empty(number), 1.0 / max(number, 1)
    for i in range(number):
        total = 0.0
        for f in range(own.shape[0]):
            apart = (ranks[i, f] - own[f]) * share
            total += min(apart * apart, FAR)
        away[i] = total
    return away


@allocating
def nearness(away: FloatArray) -> FloatArray:
    """exp(-2 d²/s²), s² being the d² of the NEAR-th nearest."""
    weights, number = np.empty(away.shape[0]), min(NEAR, away.shape[0])
    if number > 0:
        usual = np.partition(away, number - 1)[number - 1] + 1e-12
        for i in range(away.shape[0]):
            weights[i] = math.exp(-2.0 * away[i] / usual)
    return weights


@inlined
def _order(first: float, second: float) -> float:
    """1 if the first is larger, 0 if the second is, else a half."""
    if first == second:
        return 0.5
    return 1.0 if first > second else 0.0


@allocating
def remember(
    problems: ProblemsState,
    row: int,
    arms: IntArray,
    seen: FloatArray,
    features: FloatArray,
    own: FloatArray,
) -> int:
    """Put the problem in the place of the oldest one, and correct the ranks of all others.

    own: its ranks among the remembered ones. Returns its place.
    """
    values, ranks = problems.values[row], problems.ranks[row]
    known, room = problems.learned[row], values.shape[0]
    place = known % room
    gone = 1.0 if known >= room else 0.0
    old = values[place].copy()
    for f in range(features.shape[0]):
        own[f] -= gone * _order(features[f], old[f])
    for i in range(min(known, room)):
        if i != place:
            for f in range(features.shape[0]):
                value = values[i, f]
                ranks[i, f] += _order(value, features[f]) - gone * _order(value, old[f])
    values[place], ranks[place] = features, own
    problems.ran[row, place] = problems.rewards[row, place] = problems.pulls[row, place] = 0.0
    for j in range(arms.shape[0]):
        problems.ran[row, place, arms[j]] = 1.0
        problems.rewards[row, place, arms[j]] = 1.0 - seen[j]
    problems.learned[row] = known + 1
    return int(place)


# The regression ---------------------------------------------------------------------------------

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
    rate, like = _rate(problems, row), np.empty(around.shape[0])
    for i in range(around.shape[0]):
        like[i] = math.exp(-rate * around[i])
    like[alike] = 0.0
    for a in range(pulls.shape[1]):
        count = 0.0
        for i in alike:
            count += problems.ran[row, i, a]
        if count == 0.0:
            continue
        expected, total = arm_mean(pairs, row, 0, a, usual), 0.0
        for i in range(like.shape[0]):
            expected += like[i] * pulls[i, a]
        for i in alike:
            total += problems.ran[row, i, a] * (problems.rewards[row, i, a] - expected)
        shared = total / (count + RIDGE)
        for i in alike:
            error = problems.rewards[row, i, a] - expected - shared
            pulls[i, a] = problems.ran[row, i, a] * error / RIDGE


# Sets --------------------------------------------------------------------------------------------

SURE = 1e6
LEAST_WEIGHT = 1e-6
# The regression is followed until it predicts rewards worse by that many standard deviations.
DOUBT = 2.0


@compiled
def blend_rows(
    problems: ProblemsState,
    pairs: PairsState,
    features: FloatArray,
    blended: PairsState,
    follows: IntArray,
) -> None:
    """Where features may be followed, what they say in place of what all rounds saw.

    features: (replicates, n_features). blended: with one memory, which is filled.
    follows: (replicates,) 1 where the row was filled.
    """
    for row in range(follows.shape[0]):
        doubt = DOUBT * math.sqrt(problems.squares[row])
        follows[row] = problems.learned[row] > 0 and problems.better[row] >= -doubt
        if follows[row]:
            away = distances(problems, row, ranks_among(problems, row, features[row]))
            means, plays = predict(problems, pairs, row, away)
            for a in range(means.shape[0]):
                everywhere = pairs.unit[row, 0] * pairs.plays[row, 0, a]
                blended.rewards[row, 0, a] = SURE * hoped(means[a], everywhere, plays[a])
                blended.plays[row, 0, a] = SURE
            if pairs.gains.shape[2] > 0:
                _blend_pairs(problems, row, nearness(away), pairs, blended)
            blended.gained[row, 0] = pairs.gained[row, 0]
            blended.guessed[row, 0] = pairs.guessed[row, 0]


@allocating
def _blend_pairs(
    problems: ProblemsState,
    row: int,
    weights: FloatArray,
    pairs: PairsState,
    blended: PairsState,
) -> None:
    n_arms, unit = problems.ran.shape[2], pairs.unit[row, 0]
    gains, together = blended.gains[row, 0], blended.together[row, 0]
    for a in range(n_arms):
        for b in range(n_arms):
            everywhere = unit * pairs.together[row, 0, a, b]
            kept = min(WORTH, everywhere) / max(everywhere, 1e-300)
            gains[a, b] = kept * unit * pairs.gains[row, 0, a, b]
            together[a, b] = kept * everywhere
    arms = np.empty(n_arms, np.int64)
    for i in range(weights.shape[0]):
        if weights[i] <= LEAST_WEIGHT:
            continue
        number, rewards = 0, problems.rewards[row, i]
        for a in range(n_arms):
            if problems.ran[row, i, a] > 0.0:
                arms[number] = a
                number += 1
        for j in range(number):
            for k in range(number):
                if j != k:
                    gain = max(rewards[arms[j]] - rewards[arms[k]], 0.0)
                    gains[arms[j], arms[k]] += weights[i] * gain
                    together[arms[j], arms[k]] += weights[i]


@compiled
def learn_problems(
    problems: ProblemsState,
    pairs: PairsState,
    budget: int,
    arms: IntArray,
    seen: FloatArray,
    features: FloatArray,
) -> None:
    """Compare predictions, remember the problem and learn from it; pairs: from before the round."""
    for row in range(arms.shape[0]):
        own = ranks_among(problems, row, features[row])
        away = distances(problems, row, own)
        if away.shape[0] > 0:
            means, _ = predict(problems, pairs, row, away)
            memory, lead = memory_in_use(pairs, row, budget), 0.0
            usual = usual_reward(pairs, row, memory)
            for j in range(arms.shape[1]):
                reward, free = 1.0 - seen[row, j], arm_mean(pairs, row, memory, arms[row, j], usual)
                lead += (free - reward) ** 2 - (means[arms[row, j]] - reward) ** 2
            problems.better[row] += lead
            problems.squares[row] += lead * lead
            for i in range(away.shape[0]):
                problems.apart[row] += away[i]
            problems.compared[row] += away.shape[0]
        correct(
            problems, pairs, row, remember(problems, row, arms[row], seen[row], features[row], own)
        )
