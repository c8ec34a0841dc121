"""What a third arm adds to two others, where it was seen, and sets of three that follow from it.

`kernels.pairs` builds sets one arm after the other, and takes what each arm leaves of the next as
independent. Where two arms answer the same problems that is wrong: a third adds a multiple of it.
So for every arm a and every two others x, y, what a added in rounds that show all three costs,
(r_a - max(r_x, r_y))+, is kept. The product of pairs, times one factor for all (seen / guessed), is
worth as many rounds as it takes to add WORTH: a Gamma prior of that shape for a Poisson rate.

A set of three is then looked at again: an arm gives way to one that adds more to the two that stay,
in draws from what is known. So sets that nobody can tell apart are all played, also those without
the arm that is best alone, with which pairs begin. The more arms could come, the likelier one of
them only seems to add more: with k of them draws are k⁴ times as sure, and it must add 2 - 1/k
times as much.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from pickbest.core import FloatArray, IntArray
from pickbest.core.states import counts
from pickbest.kernels.compiled import inlined, kernel
from pickbest.kernels.pairs import (
    PairsState,
    best_prior,
    expected_gain,
    guessed_gain,
    mean_reward,
    memory_in_use,
)
from pickbest.kernels.random import gamma_from, slot_key

# With more arms than this there are too many triples to see each often enough.
MOST_TRIPLED = 20
# How much the guess adds until what was seen counts as much as it does.
WORTH = 16.0
SMALLEST_GAIN = 1e-6


class TriplesState(NamedTuple):
    """gains, together: (replicates, arms, arms, arms), empty above MOST_TRIPLED arms.

    Sums of what the first arm added to the other two, in whichever order, and how often it could.
    gained, guessed: (replicates,) of all of them, and what pairs would say.
    """

    gains: Annotated[FloatArray, counts(-3, -2, -1)]
    together: Annotated[FloatArray, counts(-3, -2, -1)]
    gained: Annotated[FloatArray, counts()]
    guessed: Annotated[FloatArray, counts()]


def start_triples(replicates: int, n_arms: int) -> TriplesState:
    """Nothing seen yet; guesses begin as if half a gain had been guessed right."""
    tripled = n_arms if n_arms <= MOST_TRIPLED else 0
    shape, half = (replicates, tripled, tripled, tripled), np.full(replicates, 0.5)
    return TriplesState(np.zeros(shape), np.zeros(shape), half, half.copy())


@inlined
def _gain_over(pairs: PairsState, row: int, arm: int, other: int) -> float:
    """What an arm gains over another one, as far as the anchor knows."""
    anchor = pairs.unit.shape[1] - 1
    rewards, plays = pairs.rewards[row, anchor], pairs.plays[row, anchor]
    unit, factor = pairs.unit[row, anchor], pairs.gained[row, anchor] / pairs.guessed[row, anchor]
    first = mean_reward(rewards[arm], plays[arm], unit)
    second = mean_reward(rewards[other], plays[other], unit)
    gains, together = pairs.gains[row, anchor, arm, other], pairs.together[row, anchor, arm, other]
    prior = best_prior(pairs.errors[row, anchor])
    gain = expected_gain(gains, together, unit, prior, guessed_gain(factor, first, second))
    return min(gain, first)


@kernel
def guessed_third(pairs: PairsState, row: int, factor: float, arm: int, x: int, y: int) -> float:
    """What an arm adds to two others if these are independent, times a factor."""
    anchor = pairs.unit.shape[1] - 1
    rewards, plays = pairs.rewards[row, anchor, arm], pairs.plays[row, anchor, arm]
    mean = mean_reward(rewards, plays, pairs.unit[row, anchor])
    first, second = _gain_over(pairs, row, arm, x), _gain_over(pairs, row, arm, y)
    return min(factor * first * second / mean, first, second)


@kernel
def _drawn_third(
    triples: TriplesState,
    pairs: PairsState,
    row: int,
    counter: np.uint64,
    arm: int,
    x: int,
    y: int,
) -> tuple[np.uint64, float]:
    """(counter, what an arm adds to two others), a draw; of the guess alone, its shape is k⁴."""
    factor = max(triples.gained[row] / triples.guessed[row], 1.0)
    guess = max(guessed_third(pairs, row, factor, arm, x, y), SMALLEST_GAIN)
    added = WORTH + triples.gains[row, arm, x, y]
    rounds = WORTH / guess + triples.together[row, arm, x, y]
    shape = added / WORTH * (triples.gains.shape[1] - 3.0) ** 4
    counter, log = gamma_from(counter, shape)
    return counter, math.exp(log) / shape * added / rounds


@kernel
def look_again(
    triples: TriplesState, pairs: PairsState, row: int, key: np.uint64, arms: IntArray
) -> None:
    """Let one arm of a set of three give way to another one, where that adds clearly more.

    Sets that were never seen together are tried first, and where a short memory predicts clearly
    better, what all rounds say of triples is out of date.
    """
    n_arms = triples.gains.shape[1]
    if arms.shape[0] != 3 or n_arms <= 3 or triples.together[row, arms[0], arms[1], arms[2]] == 0.0:
        return
    if memory_in_use(pairs, row, 0.0) > 0:
        return
    margin = 2.0 - 1.0 / (n_arms - 3)
    counter, most, place, comes = slot_key(key, 4), 0.0, -1, -1
    for p in range(3):
        x, y = arms[(p + 1) % 3], arms[(p + 2) % 3]
        counter, own = _drawn_third(triples, pairs, row, counter, arms[p], x, y)
        for a in range(n_arms):
            if a != arms[p] and a != x and a != y:
                counter, adds = _drawn_third(triples, pairs, row, counter, a, x, y)
                more = adds - margin * own
                if more > most:
                    most, place, comes = more, p, a
    if place >= 0:
        arms[place] = comes


@kernel
def learn_triples(
    triples: TriplesState, pairs: PairsState, row: int, arms: IntArray, costs: FloatArray
) -> None:
    """Fold in a round that shows the costs of its three arms; pairs: from before it."""
    if arms.shape[0] != 3 or triples.gains.shape[1] == 0:
        return
    for p in range(3):
        i, j = (p + 1) % 3, (p + 2) % 3
        arm, x, y = arms[p], arms[i], arms[j]
        gain = max(min(costs[i], costs[j]) - costs[p], 0.0)
        triples.gained[row] += gain
        triples.guessed[row] += guessed_third(pairs, row, 1.0, arm, x, y)
        for first, second in ((x, y), (y, x)):
            triples.gains[row, arm, first, second] += gain
            triples.together[row, arm, first, second] += 1.0
