"""What takes the place of `auto`'s sums where problems have features, and whether it should.

Arms count as often played with what the regression hopes for (`kernels.regression`), so that draws
from their posteriors are that value but for ties. Pairs have the sums of the remembered problems,
weighted by nearness, together with all rounds counted as WORTH plays.
"""

import math

import numpy as np

from pickbest.core import FloatArray, IntArray
from pickbest.kernels.compiled import allocating
from pickbest.kernels.neighbours import (
    ProblemsState,
    distances,
    nearness,
    ranks_among,
    remember,
)
from pickbest.kernels.pairs import PairsState, memory_in_use, share_of_arms
from pickbest.kernels.regression import (
    WORTH,
    arm_mean,
    correct,
    hoped,
    predict,
    usual_reward,
)

SURE = 1e6
LEAST_WEIGHT = 1e-6
# The regression is followed until it predicts rewards worse by that many standard deviations.
DOUBT = 2.0


@allocating
def blend_rows(
    problems: ProblemsState,
    pairs: PairsState,
    features: FloatArray,
    blended: PairsState,
    follows: IntArray,
) -> None:
    """Where features may be followed, what they say in place of what all rounds saw.

    features: (replicates, n_features). blended: with two memories, both of which are filled.
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
                blended.rewards[row, :, a] = SURE * hoped(means[a], everywhere, plays[a])
                blended.plays[row, :, a] = SURE
            if pairs.gains.shape[2] > 0:
                _blend_pairs(problems, row, nearness(away), pairs, blended)
            blended.gained[row, :], blended.guessed[row, :] = (
                pairs.gained[row, 0],
                pairs.guessed[row, 0],
            )
            for memory in range(2):
                blended.errors[row, memory] = pairs.errors[row, 0]


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
    """Compare predictions, remember the problem and learn from it; pairs: from before the round."""
    running = share_of_arms(budget, problems.ran.shape[2])
    for row in range(arms.shape[0]):
        own = ranks_among(problems, row, features[row])
        away = distances(problems, row, own)
        if away.shape[0] > 0:
            means, _ = predict(problems, pairs, row, away)
            memory, lead = memory_in_use(pairs, row, running), 0.0
            usual = usual_reward(pairs, row, memory)
            for j in range(arms.shape[1]):
                reward, free = 1.0 - seen[row, j], arm_mean(pairs, row, memory, arms[row, j], usual)
                lead += (free - reward) ** 2 - (means[arms[row, j]] - reward) ** 2
            problems.better[row] += lead
            problems.squares[row] += lead * lead
            problems.apart[row] += away.sum()
            problems.compared[row] += away.shape[0]
        correct(
            problems, pairs, row, remember(problems, row, arms[row], seen[row], features[row], own)
        )
