"""Problems that were seen, and how far apart they are.

Features are compared by rank: d² is the sum over features of the squared difference of two ranks,
as shares of all remembered problems, cut at FAR. So scales do not matter, constant features count
nothing, and words (see `core.features`), which are beyond all numbers, are FAR from all but
themselves.

A word stands for its own rank. It is so large that counting does not change it (1e60 + 1 = 1e60),
so nothing below has to tell words from numbers.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from pickbest.core import FloatArray, IntArray, PickbestError
from pickbest.core.features import WORD
from pickbest.core.states import counts
from pickbest.kernels.compiled import allocating, inlined

# Problems that are remembered, and the numbers that they may take.
MOST_PROBLEMS, MOST_NUMBERS = 1_000, 4_000_000
NEAR = 30
FAR = 0.25


class ProblemsState(NamedTuple):
    """The last problems, (replicates, problems, …), the oldest replaced first.

    values: encoded features. ranks: how many of the remembered are smaller; equals count half.
    ran: 1 for the arms that ran, else 0. rewards: theirs. pulls: see `kernels.regression`.
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
    """No problem seen yet."""
    fitting = MOST_NUMBERS // (3 * n_arms + 2 * n_features)
    shape = (replicates, max(1, min(MOST_PROBLEMS, fitting)))
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
    return 0.5 * ((first > second) + (first >= second))


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
