"""Sets of arms that complement each other, from what was seen of single arms and of pairs.

For each arm the sum of its rewards and its plays are kept, for each ordered pair (a, b) the sum
of what a gained over b, (r_a - r_b)+, and how often both ran. With mean rewards m, independent
rewards of 0 and 1 would give the gain m_a (1 - m_b). The data scale that guess by one factor,
and decide how many observations it is worth: the number in PRIORS that has predicted the gains
best so far. So a set becomes complementary where pairs differ from it, and else is the top B.

All of it is kept once for each memory, a discount by round. What is stored is divided by the
memory's unit, so that discounting is one product. Where there are several, the last one never
forgets a change of the world: it is the anchor, from which sets take their first arms.

Of one replicate: arms is (memories, 2, n_arms), pairs (memories, 2, n_arms, n_arms), or
(memories, 2, 0, 0) where there are too many arms for pairs; memory is (memories, COLUMNS).
"""

from __future__ import annotations

import math

import numpy as np

from pickbest.core import FloatArray, IntArray
from pickbest.kernels.compiled import kernel
from pickbest.kernels.random import STEP, beta_from, slot_key, uniform_at

PRIORS = np.array([2.0, 8.0, 32.0, 128.0, 1e6])
# Columns of `memory`: the unit; the observed gains and their guesses; the squared distances of
# rewards from their means, and what they would be for rewards of 0 and 1; by how much it
# predicted rewards better than the first memory, with the squares of that; errors of each prior.
UNIT, GAINED, GUESSED, VARIED, COULD_VARY, BETTER, SQUARES, ERRORS = 0, 1, 2, 3, 4, 5, 6, 7
COLUMNS = ERRORS + len(PRIORS)

# A result counts as that many trials of the Beta posteriors if rewards are 0 or 1; as more where
# they vary less, at most by the factor MOST_SHARPER.
SHARPNESS, MOST_SHARPER = 4.0, 3.0
# The variance of a pair's gain that is explored, as a share of the posterior's, times N²: the
# more pairs there are, the less can be learned of each.
PAIR_NOISE = 4.0
# An arm keeps at least that share of its reward beside another one, if B = N; less if B is less.
LEAST_SHARE = 0.04
# Another memory is used when it predicts better by that many standard deviations, if B = 1;
# fewer where more arms run, because a short memory then sees more.
DRIFT, DRIFT_FALL = 1.25, 2.5
DRIFT_DISCOUNT = 0.97
# Where it is better by that many, the world has changed: all but the anchor keep only that part.
CHANGE, KEPT = 3.0, 0.1
SMALLEST_UNIT = 1e-6


@kernel
def start_memory(memory: FloatArray) -> None:
    """What `memory` holds before the first round."""
    memory[:] = 0.0
    for m in range(memory.shape[0]):
        memory[m, :BETTER] = 1.0


@kernel
def share_of_arms(budget: int, n_arms: int) -> float:
    """0 where one arm runs, 1 where all do."""
    return float((budget - 1) / max(n_arms - 1, 1))


@kernel
def memory_in_use(memory: FloatArray, running: float) -> int:
    """The first memory, unless another one has predicted clearly better lately.

    running: see `share_of_arms`.
    """
    used, highest = 0, max(DRIFT - DRIFT_FALL * running, 0.0)
    for m in range(1, memory.shape[0] - 1):
        lead = memory[m, BETTER] / math.sqrt(memory[m, SQUARES] + 1e-300)
        if lead > highest:
            used, highest = m, lead
    return used


@kernel
def mean_reward(arms: FloatArray, unit: float, arm: int) -> float:
    """The posterior mean of an arm's reward."""
    return float((1.0 + unit * arms[0, arm]) / (2.0 + unit * arms[1, arm]))


@kernel
def expected_gain(
    pairs: FloatArray, unit: float, prior: float, guess: float, first: int, second: int
) -> float:
    """What `first` gains over `second`, the guess being worth `prior` observations."""
    gained, together = unit * pairs[0, first, second], unit * pairs[1, first, second]
    return float((prior * guess + gained) / (prior + together))


@kernel
def guessed_gain(memory: FloatArray, first: float, second: float) -> float:
    """The guess from two mean rewards."""
    return float(min(0.99, memory[GAINED] / memory[GUESSED] * first * (1.0 - second)))


@kernel
def sharpness(memory: FloatArray) -> float:
    """How many trials a result counts as."""
    return float(SHARPNESS * min(max(memory[COULD_VARY] / memory[VARIED], 1.0), MOST_SHARPER))


@kernel
def best_prior(memory: FloatArray) -> float:
    """The number of observations that has predicted best."""
    best = 0
    for k in range(1, PRIORS.shape[0]):
        if memory[ERRORS + k] < memory[ERRORS + best]:
            best = k
    return float(PRIORS[best])


@kernel
def build_set(
    arms: FloatArray,
    pairs: FloatArray,
    memory: FloatArray,
    flat: bool,
    first: int,
    end: int,
    key: np.uint64,
    chosen: IntArray,
    scores: FloatArray,
) -> None:
    """Arms one by one: a posterior draw of the mean, times what each earlier arm leaves of it.

    Fills the places from `first` to `end` (excluded) of `chosen`, behind the arms that are there.
    arms, pairs and memory are those of one memory. flat: draw arms uniformly instead. scores
    is scratch of length n_arms.
    """
    n_arms, unit = arms.shape[1], memory[UNIT]
    least = LEAST_SHARE * share_of_arms(chosen.shape[0], n_arms)
    trials = sharpness(memory) * unit
    counter = key
    for a in range(n_arms):
        if flat:
            counter += STEP
            scores[a] = uniform_at(counter)
            continue
        good = trials * arms[0, a]
        bad = trials * max(arms[1, a] - arms[0, a], 0.0)
        counter, scores[a] = beta_from(counter, 1.0 + good, 1.0 + bad)
    if first == 0:
        chosen[0] = np.argmax(scores)
    paired = pairs.shape[1] > 0 and not flat
    prior = best_prior(memory)
    noise = slot_key(key, 1)
    for place in range(1, end):
        last = chosen[place - 1]
        scores[last] = -1.0
        if paired:
            other = mean_reward(arms, unit, last)
            for a in range(n_arms):
                noise += STEP
                if scores[a] < 0.0:
                    continue
                mean = mean_reward(arms, unit, a)
                gain = expected_gain(pairs, unit, prior, guessed_gain(memory, mean, other), a, last)
                spread = PAIR_NOISE / (n_arms * n_arms) * gain * (1.0 - gain)
                spread /= prior + unit * pairs[1, a, last] + 1.0
                # A uniform draw of that variance is as good as any, and quick.
                gain += math.sqrt(12.0 * spread) * (uniform_at(noise) - 0.5)
                scores[a] *= min(max(gain / mean, least), 1.0)
        if place >= first:
            chosen[place] = np.argmax(scores)


@kernel
def learn_set(
    arms: FloatArray,
    pairs: FloatArray,
    memory: FloatArray,
    discounts: FloatArray,
    chosen: IntArray,
    seen: FloatArray,
) -> None:
    """Fold in the costs of the arms that ran, in every memory."""
    if memory.shape[0] > 1:
        changed = False
        usual = _squared_errors(arms[0], pairs[0], memory[0], chosen, seen)
        for m in range(1, memory.shape[0] - 1):
            better = usual - _squared_errors(arms[m], pairs[m], memory[m], chosen, seen)
            memory[m, BETTER] = DRIFT_DISCOUNT * memory[m, BETTER] + better
            memory[m, SQUARES] = DRIFT_DISCOUNT * memory[m, SQUARES] + better * better
            changed = changed or memory[m, BETTER] > CHANGE * math.sqrt(memory[m, SQUARES])
        if changed:
            for m in range(memory.shape[0] - 1):
                memory[m, UNIT] *= KEPT
                memory[m, BETTER] = memory[m, SQUARES] = 0.0
    for m in range(memory.shape[0]):
        _learn_memory(arms[m], pairs[m], memory[m], discounts[m], chosen, seen)


@kernel
def _squared_errors(
    arms: FloatArray, pairs: FloatArray, memory: FloatArray, chosen: IntArray, seen: FloatArray
) -> float:
    """How far a memory's predictions were off: of rewards, and of the gains of pairs."""
    unit, prior, total = memory[UNIT], best_prior(memory), 0.0
    for i in range(chosen.shape[0]):
        mean = mean_reward(arms, unit, chosen[i])
        error = mean - (1.0 - seen[i])
        total += error * error
        for j in range(chosen.shape[0] if pairs.shape[1] > 0 else 0):
            if i != j:
                guess = guessed_gain(memory, mean, mean_reward(arms, unit, chosen[j]))
                gain = expected_gain(pairs, unit, prior, guess, chosen[i], chosen[j])
                error = gain - max(seen[j] - seen[i], 0.0)
                total += error * error
    return total


@kernel
def _learn_memory(
    arms: FloatArray,
    pairs: FloatArray,
    memory: FloatArray,
    discount: float,
    chosen: IntArray,
    seen: FloatArray,
) -> None:
    count, unit = chosen.shape[0], memory[UNIT]
    memory[VARIED] *= discount
    memory[COULD_VARY] *= discount
    for i in range(count):
        mean = mean_reward(arms, unit, chosen[i])
        memory[VARIED] += (1.0 - seen[i] - mean) ** 2
        memory[COULD_VARY] += mean * (1.0 - mean)
    paired = pairs.shape[1] > 0
    if paired:
        gained, guessed = 0.0, 0.0
        for k in range(ERRORS, COLUMNS):
            memory[k] *= discount
        for i in range(count):
            first = chosen[i]
            mean = mean_reward(arms, unit, first)
            for j in range(count):
                if i == j:
                    continue
                second = chosen[j]
                other = mean_reward(arms, unit, second)
                guess = guessed_gain(memory, mean, other)
                gain = max(seen[j] - seen[i], 0.0)
                for k in range(PRIORS.shape[0]):
                    error = expected_gain(pairs, unit, PRIORS[k], guess, first, second) - gain
                    memory[ERRORS + k] += error * error
                gained += gain
                guessed += mean * (1.0 - other)
        memory[GAINED] = discount * memory[GAINED] + gained
        memory[GUESSED] = discount * memory[GUESSED] + guessed
    unit *= discount
    if unit < SMALLEST_UNIT:
        arms *= unit
        pairs *= unit
        unit = 1.0
    memory[UNIT] = unit
    for i in range(count):
        arms[0, chosen[i]] += (1.0 - seen[i]) / unit
        arms[1, chosen[i]] += 1.0 / unit
        if paired:
            for j in range(count):
                if i != j:
                    pairs[0, chosen[i], chosen[j]] += max(seen[j] - seen[i], 0.0) / unit
                    pairs[1, chosen[i], chosen[j]] += 1.0 / unit
