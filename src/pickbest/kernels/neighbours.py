"""What was seen on problems like this one: past problems, weighted by how near they are.

Features are compared by rank: d² is the sum over features of the squared difference of two ranks,
as shares of all remembered problems, cut at FAR. A past problem counts exp(-2 d²/s²), s² being the
d² of the NEAR-th nearest. So scales do not matter, constant features count nothing, and words
(see `core.features`), which are beyond all numbers, are FAR from all but themselves.

A word stands for its own rank. It is so large that counting does not change it (1e60 + 1 = 1e60),
so nothing below has to tell words from numbers.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from pickbest.core import FloatArray, IntArray, PickbestError
from pickbest.core.features import WORD
from pickbest.core.states import counts
from pickbest.kernels.compiled import allocating, inlined
from pickbest.kernels.pairs import PairsState, mean_reward, memory_in_use, share_of_arms

# Problems that are remembered, and the numbers that they may take.
MOST_PROBLEMS, MOST_NUMBERS = 1_000, 4_000_000
NEAR = 30
FAR = 0.25
# As how many plays of an arm the rounds of all problems count, beside the weighted ones.
WORTH = 2.0
# A weighted round counts as that many in the posteriors from which sets are drawn: where every
# problem has few neighbours, trying arms out in each neighbourhood would cost more than it finds.
SHARPER = 8.0
# Neighbours are followed until they predict rewards worse by that many standard deviations.
DOUBT = 2.0
LEAST_WEIGHT = 1e-6


class ProblemsState(NamedTuple):
    """The last problems, (replicates, problems, …), the oldest replaced first.

    values: encoded features. ranks: how many of the remembered are smaller; equals count half.
    ran: 1 for the arms that ran, else 0. rewards: theirs.
    learned: (replicates,) problems so far.
    better, squares: (replicates,) by how much neighbours predicted rewards better than all
        rounds do, and the squares of that.
    """

    values: Annotated[FloatArray, counts()]
    ranks: Annotated[FloatArray, counts()]
    ran: Annotated[FloatArray, counts(-1)]
    rewards: Annotated[FloatArray, counts(-1)]
    learned: Annotated[IntArray, counts()]
    better: Annotated[FloatArray, counts()]
    squares: Annotated[FloatArray, counts()]

    def check(self) -> None:
        """See core.states.Checked."""
        if np.any(self.squares < 0.0) or np.any(self.ranks < -0.5):
            raise PickbestError("the saved problems have numbers that no round can have left")


def start_problems(replicates: int, n_arms: int, n_features: int) -> ProblemsState:
    """No problem seen yet."""
    fitting = MOST_NUMBERS // (2 * (n_arms + n_features))
    shape = (replicates, max(1, min(MOST_PROBLEMS, fitting)))
    return ProblemsState(
        values=np.zeros((*shape, n_features)),
        ranks=np.zeros((*shape, n_features)),
        ran=np.zeros((*shape, n_arms)),
        rewards=np.zeros((*shape, n_arms)),
        learned=np.zeros(replicates, np.int64),
        better=np.zeros(replicates),
        squares=np.zeros(replicates),
    )


@allocating
def nearness(problems: ProblemsState, row: int, features: FloatArray) -> FloatArray:
    """(remembered,) the weight of each remembered problem."""
    values, ranks = problems.values[row], problems.ranks[row]
    number = min(problems.learned[row], values.shape[0])
    own = _words(features)
    for i in range(number):
        for f in range(features.shape[0]):
            own[f] += _order(features[f], values[i, f])
    away = np.empty(number)
    share = 1.0 / max(number, 1)
    for i in range(number):
        total = 0.0
        for f in range(features.shape[0]):
            apart = (ranks[i, f] - own[f]) * share
            total += min(apart * apart, FAR)
        away[i] = total
    if number > 0:
        usual = np.partition(away, min(NEAR, number) - 1)[min(NEAR, number) - 1] + 1e-12
        for i in range(number):
            away[i] = math.exp(-2.0 * away[i] / usual)
    return away


@allocating
def _words(features: FloatArray) -> FloatArray:
    """The ranks from which counting begins: 0 of numbers, words themselves."""
    words = np.zeros(features.shape[0])
    for f in range(features.shape[0]):
        if features[f] >= WORD:
            words[f] = features[f]
    return words


@inlined
def _order(first: float, second: float) -> float:
    """1 if the first is larger, 0 if the second is, else a half."""
    return 0.5 * ((first > second) + (first >= second))


@allocating
def local_sums(
    problems: ProblemsState, row: int, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(rewards, plays) of each arm, weighted."""
    n_arms = problems.ran.shape[2]
    rewards, plays = np.zeros(n_arms), np.zeros(n_arms)
    for i in range(weights.shape[0]):
        if weights[i] > LEAST_WEIGHT:
            for a in range(n_arms):
                rewards[a] += weights[i] * problems.rewards[row, i, a]
                plays[a] += weights[i] * problems.ran[row, i, a]
    return rewards, plays


@allocating
def blend_rows(
    problems: ProblemsState,
    pairs: PairsState,
    features: FloatArray,
    blended: PairsState,
    follows: IntArray,
) -> None:
    """Where neighbours may be followed, what they saw in place of what all rounds saw.

    features: (replicates, n_features). blended: with two memories, both of which are filled.
    follows: (replicates,) 1 where the row was filled.
    """
    for row in range(follows.shape[0]):
        doubt = DOUBT * math.sqrt(problems.squares[row])
        follows[row] = problems.learned[row] > 0 and problems.better[row] >= -doubt
        if follows[row]:
            weights = nearness(problems, row, features[row])
            _blend_arms(problems, row, weights, pairs, blended)
            if pairs.gains.shape[2] > 0:
                _blend_pairs(problems, row, weights, pairs, blended)
            for memory in range(2):
                blended.gained[row, memory] = pairs.gained[row, 0]
                blended.guessed[row, memory] = pairs.guessed[row, 0]
                blended.varied[row, memory] = pairs.varied[row, 0]
                blended.could_vary[row, memory] = pairs.could_vary[row, 0]
                blended.errors[row, memory] = pairs.errors[row, 0]


@allocating
def _blend_arms(
    problems: ProblemsState,
    row: int,
    weights: FloatArray,
    pairs: PairsState,
    blended: PairsState,
) -> None:
    rewards, plays = local_sums(problems, row, weights)
    unit = pairs.unit[row, 0]
    for a in range(rewards.shape[0]):
        everywhere = unit * pairs.plays[row, 0, a]
        usual = mean_reward(pairs.rewards[row, 0, a], pairs.plays[row, 0, a], unit)
        kept = min(WORTH, everywhere)
        for memory in range(2):
            blended.rewards[row, memory, a] = SHARPER * (rewards[a] + kept * usual)
            blended.plays[row, memory, a] = SHARPER * (plays[a] + kept)


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
    blended.gains[row, 1], blended.together[row, 1] = gains, together


@allocating
def learn_problems(
    problems: ProblemsState,
    pairs: PairsState,
    budget: int,
    arms: IntArray,
    seen: FloatArray,
    features: FloatArray,
) -> None:
    """Compare predictions, then remember the problem; pairs: from before the round."""
    running = share_of_arms(budget, problems.ran.shape[2])
    for row in range(arms.shape[0]):
        if problems.learned[row] > 0:
            memory = memory_in_use(pairs, row, running)
            lead = _lead(problems, row, pairs, memory, arms[row], seen[row], features[row])
            problems.better[row] += lead
            problems.squares[row] += lead * lead
        _remember(problems, row, arms[row], seen[row], features[row])


@allocating
def _lead(
    problems: ProblemsState,
    row: int,
    pairs: PairsState,
    memory: int,
    arms: IntArray,
    seen: FloatArray,
    features: FloatArray,
) -> float:
    """By how much the squared errors of neighbours are below those of the memory in use.

    Both take the mean of all arms for a prior, so that features which say nothing lose.
    """
    rewards, plays = local_sums(problems, row, nearness(problems, row, features))
    known, times, unit = (
        pairs.rewards[row, memory],
        pairs.plays[row, memory],
        pairs.unit[row, memory],
    )
    usual = (0.5 + unit * known.sum()) / (1.0 + unit * times.sum())
    lead = 0.0
    for j in range(arms.shape[0]):
        arm, reward = arms[j], 1.0 - seen[j]
        free = (2.0 * usual + unit * known[arm]) / (2.0 + unit * times[arm])
        near = (rewards[arm] + WORTH * free) / (plays[arm] + WORTH)
        lead += (free - reward) ** 2 - (near - reward) ** 2
    return lead


@allocating
def _remember(
    problems: ProblemsState, row: int, arms: IntArray, seen: FloatArray, features: FloatArray
) -> None:
    """Put the problem in the place of the oldest one, and correct the ranks of all others."""
    values, ranks = problems.values[row], problems.ranks[row]
    known, room = problems.learned[row], values.shape[0]
    number, place = min(known, room), known % room
    gone = 1.0 if known >= room else 0.0
    old = values[place].copy()
    own = _words(features)
    for i in range(number):
        if i != place:
            for f in range(features.shape[0]):
                value = values[i, f]
                ranks[i, f] += _order(value, features[f]) - gone * _order(value, old[f])
                own[f] += _order(features[f], value)
    values[place], ranks[place] = features, own
    problems.ran[row, place] = 0.0
    problems.rewards[row, place] = 0.0
    for j in range(arms.shape[0]):
        problems.ran[row, place, arms[j]] = 1.0
        problems.rewards[row, place, arms[j]] = 1.0 - seen[j]
    problems.learned[row] = known + 1
