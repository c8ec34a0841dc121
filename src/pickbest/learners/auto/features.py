"""Features of problems: a Bayesian regression of fixed size, followed unless it predicts worse.

A problem becomes a vector φ of fixed length. Numbers are standardised by what was seen so far and
stand for themselves (the linear part); cosines of random directions of them stand for what is not
linear (random Fourier features, Rahimi and Recht 2007). Every word of every feature has a place of
its own, up to collisions, and a shift of its own in the cosines. What has no place of its own,
because there are more features than places, is added to a place that its name is hashed to.

The reward of an arm is its mean plus φ·w, with w of the arm a normal prior of variance 1. After the
rounds in which the arm ran, w has the covariance P = I - K. What is kept is K, which is 0 before
the first round, so that an arm that comes later has seen nothing. A round is one update of rank 1:

    g = φ - K φ,    w += g (r - m - φ·w) / (1 + φ·g),    K += g gᵀ / (1 + φ·g)

The set is built by `auto.sets` from sums that say the same: arms as often played with what the
regression hopes for, and pairs whose gains differ from the guess by as much as over all rounds.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, NamedTuple

import numpy as np

from pickbest.core import FloatArray, IntArray
from pickbest.core.features import WORD
from pickbest.core.states import counts
from pickbest.learners.auto.sets import PRIOR, PairsState, memory_in_use

# The length of φ at most, and the numbers that K may take in all.
LONGEST, MOST_NUMBERS = 512, 2_000_000
# Random features at most, and how narrow they are: the larger, the less problems tell of others.
# 768 of them do no better. Of 1 to 10 for the second, 1 loses .05 (± .09) on tables of solvers.
WAVES, NARROW = 256, 3.0
# The prior variance of the linear part; that of the other part is 1. With 1 instead, worlds that
# are linear are learned later; with 10, tables of solvers lose .03.
LINEAR = 2.0
# Optimism about an arm that was never played, and about one never played on problems like this, as
# a share of what is left to a reward of 1. The first falls as one over the root of plays: from .1
# to .3 it makes no difference that can be seen. The second falls with the posterior deviation of
# φ·w: without it, tables of solvers lose .01 to .02.
HOPE = 0.2
# The regression is followed until it predicts rewards worse by that many standard deviations. With
# 1, tables of solvers lose .03.
DOUBT = 2.0
# Standardised numbers are cut there. At 6, scenarios lose .01 (± .05), tables of solvers nothing.
FAR = 3.0
# As how often played the regression's word counts: draws are then that value but for ties.
SURE = 1e6


# A state with `number`, `mean`, `squares` and `weights`, see FeaturesState.
Regression = Any


class FeaturesState(NamedTuple):
    """What was seen of problems with features, (replicates, …).

    number, mean, squares: (n_features,) of the numbers of each feature: how many, their mean, and
        the sum of their squared distances from it.
    weights: (arms, places) w. known: (arms, places, places) K.
    usual, missed: the squared errors of predictions from all rounds, and of the regression.
    varied: the squares of their differences by round.
    """

    number: Annotated[FloatArray, counts()]
    mean: Annotated[FloatArray, counts(signed=True)]
    squares: Annotated[FloatArray, counts()]
    weights: Annotated[FloatArray, counts(-2, signed=True)]
    known: Annotated[FloatArray, counts(-3, signed=True)]
    usual: Annotated[FloatArray, counts()]
    missed: Annotated[FloatArray, counts()]
    varied: Annotated[FloatArray, counts()]


def start_features(replicates: int, n_arms: int, n_features: int) -> FeaturesState:
    """No problem seen yet; without features, there is no room for any."""
    fitting = max(1, int((MOST_NUMBERS / n_arms) ** 0.5))
    places = min(n_features + WAVES, LONGEST, fitting) if n_features else 0
    return FeaturesState(
        number=np.zeros((replicates, n_features)),
        mean=np.zeros((replicates, n_features)),
        squares=np.zeros((replicates, n_features)),
        weights=np.zeros((replicates, n_arms, places)),
        known=np.zeros((replicates, n_arms, places, places)),
        usual=np.zeros(replicates),
        missed=np.zeros(replicates),
        varied=np.zeros(replicates),
    )


class Places(NamedTuple):
    """Where features go: straight: the place of each in the linear part, and its sign; directions,
    shifts: of the cosines."""

    straight: IntArray
    signs: FloatArray
    directions: FloatArray
    shifts: FloatArray


@cache
def places_of(n_features: int, length: int) -> Places:
    """The places for this many features in vectors of this length: always the same ones."""
    random = np.random.RandomState(n_features)
    linear = min(n_features, length - length // 8)
    waves = min(length - linear, WAVES)
    straight, signs = np.arange(n_features), np.ones(n_features)
    straight[linear:] = random.randint(max(linear, 1), size=n_features - linear)
    signs[linear:] = random.randint(2, size=n_features - linear) * 2.0 - 1.0
    directions = random.standard_normal((waves, n_features))
    return Places(straight, signs, directions, random.uniform(0.0, 2.0 * np.pi, waves))


@cache
def word_at(feature: int, code: float, length: int, waves: int) -> tuple[int, FloatArray]:
    """The place of a word of a feature, and its shifts in the cosines."""
    random = np.random.RandomState([feature, int(code / WORD) % 2**32])
    return int(random.randint(length)), random.standard_normal(waves)


def described(state: Regression, row: int, features: FloatArray) -> FloatArray:
    """φ of a problem."""
    n_features, length = features.shape[0], state.weights.shape[2]
    places, phi = places_of(n_features, length), np.zeros(length)
    words = features >= WORD
    spread = np.sqrt(state.squares[row] / np.maximum(state.number[row], 1.0))
    used = ~words & (spread > 1e-12 * np.abs(state.mean[row]))
    apart = np.zeros(n_features)
    np.divide(features - state.mean[row], spread, out=apart, where=used)
    apart = apart.clip(-FAR, FAR)
    # Constant features tell nothing.
    telling = max(1.0, float(used.sum() + words.sum()))
    np.add.at(phi, places.straight, places.signs * apart * np.sqrt(LINEAR / telling))
    waves = places.shifts.shape[0]
    turned = places.directions @ apart
    for feature in np.flatnonzero(words):
        place, shift = word_at(int(feature), float(features[feature]), length, waves)
        phi[place] += 1.0 / np.sqrt(telling)
        turned += shift
    if waves:
        turned = np.sqrt(NARROW / telling) * turned + places.shifts
        phi[length - waves :] += np.sqrt(2.0 / waves) * np.cos(turned)
    return phi


def arm_means(pairs: PairsState, row: int, memory: int) -> FloatArray:
    """The mean reward of each arm, that of all arms being worth two plays."""
    unit = pairs.unit[row, memory]
    rewards, plays = unit * pairs.rewards[row, memory], unit * pairs.plays[row, memory]
    usual = (0.5 + rewards.sum()) / (1.0 + plays.sum())
    means: FloatArray = (2.0 * usual + rewards) / (2.0 + plays)
    return means


def followed(state: FeaturesState) -> IntArray:
    """The replicates in which features are followed."""
    return np.flatnonzero(state.usual - state.missed >= -DOUBT * np.sqrt(state.varied))


def blend_row(
    state: FeaturesState, pairs: PairsState, row: int, features: FloatArray, blended: PairsState
) -> None:
    """Fill the anchor of `blended` with what the regression says in place of all rounds."""
    phi, means = described(state, row, features), arm_means(pairs, row, 0)
    unit, plays = pairs.unit[row, 0], pairs.unit[row, 0] * pairs.plays[row, 0]
    mean = (means + state.weights[row] @ phi).clip(0.0, 1.0)
    unsure = 1.0 - (state.known[row] @ phi) @ phi / max(phi @ phi, 1e-12)
    hope = 1.0 / np.sqrt(1.0 + plays) + np.sqrt(unsure.clip(0.0, 1.0))
    hoped = mean + (1.0 - mean) * HOPE * hope
    blended.rewards[row, 0], blended.plays[row, 0] = SURE * hoped, SURE
    if pairs.gains.shape[2] > 0:
        factor, guess = pairs.gained[row, 0] / pairs.guessed[row, 0], np.outer(means, 1.0 - means)
        seen = PRIOR * factor * guess + unit * pairs.gains[row, 0]
        differs = seen / ((PRIOR + unit * pairs.together[row, 0]) * guess)
        blended.gains[row, 0] = SURE * differs * np.outer(hoped, 1.0 - hoped)
        blended.together[row, 0] = SURE


def learn_features(
    state: FeaturesState, pairs: PairsState, arms: IntArray, seen: FloatArray, features: FloatArray
) -> None:
    """Compare predictions and fold a round in, (replicates, …); pairs: from before the round."""
    for row in range(arms.shape[0]):
        values = features[row]
        phi, means = described(state, row, values), arm_means(pairs, row, 0)
        free = arm_means(pairs, row, memory_in_use(pairs, row, arms.shape[1]))
        usual, missed = 0.0, 0.0
        for arm, cost in zip(arms[row], seen[row], strict=True):
            weights, known, reward = state.weights[row, arm], state.known[row, arm], 1.0 - cost
            error = reward - means[arm] - weights @ phi
            usual += (free[arm] - reward) ** 2
            missed += error**2
            regress(weights, known, phi, error)
        state.usual[row] += usual
        state.missed[row] += missed
        state.varied[row] += (usual - missed) ** 2
        count_numbers(state, row, values)


def regress(
    weights: FloatArray, known: FloatArray, phi: FloatArray, error: FloatArray | float
) -> None:
    """Fold a round into w and K. error: of what φ·w predicted, one for each row of w."""
    gap = phi - known @ phi
    gain = gap / (1.0 + phi @ gap)
    weights += np.multiply.outer(error, gain)
    known += np.outer(gain, gap)


def count_numbers(state: Regression, row: int, values: FloatArray) -> None:
    """Fold features into their means and squares."""
    numbers = values < WORD
    state.number[row] += numbers
    step = np.where(numbers, values - state.mean[row], 0.0)
    state.mean[row] += step / np.maximum(state.number[row], 1.0)
    state.squares[row] += step * np.where(numbers, values - state.mean[row], 0.0)
