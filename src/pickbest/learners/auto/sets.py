"""Sets of arms that complement each other, from what was seen of single arms and of pairs.

For each arm the sum of its rewards and its plays are kept, for each ordered pair (a, b) the sum
of what a gained over b, (r_a - r_b)+, and how often both ran. With mean rewards m, independent
rewards of 0 and 1 would give the gain m_a (1 - m_b). The data scale that guess by one factor, and
it counts as PRIOR observations. So a set becomes complementary where pairs differ from it, and
else is the top B.

All of it is kept twice: in the anchor, which forgets nothing, and in a memory that forgets. Sets
come from the anchor unless the memory has predicted clearly better lately. What is stored is
divided by a unit, so that forgetting is one product.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from pickbest.core import FloatArray, IntArray, PickbestError
from pickbest.core.states import counts
from pickbest.kernels.compiled import inlined, kernel
from pickbest.kernels.random import beta_from

# With more arms than this, the table of pairs would not fit: sets are the top B then.
MOST_PAIRED = 500
# How many observations the guess of a gain is worth. With 1, the paper's rewards lose .04.
PRIOR = 16.0
# The discount by round of the memory that forgets, and of how well it has predicted. It brings .1
# where problems come in families, and costs nothing where they come in any order.
MEMORY = 0.96
SMALLEST_UNIT = 1e-6


class PairsState(NamedTuple):
    """What was seen, (replicates, 2, …): in the anchor, and in the memory that forgets.

    rewards, plays: sums of each arm.
    gains, together: sums of each ordered pair; empty above MOST_PAIRED arms.
    unit: what rewards, plays, gains and together must be multiplied by.
    gained, guessed: the gains of all pairs, and their guesses.
    better, squares: (replicates,) by how much the memory predicted rewards better than the
        anchor, and the squares of that, lately.
    """

    rewards: Annotated[FloatArray, counts(-1)]
    plays: Annotated[FloatArray, counts(-1)]
    gains: Annotated[FloatArray, counts(-2, -1)]
    together: Annotated[FloatArray, counts(-2, -1)]
    unit: Annotated[FloatArray, counts()]
    gained: Annotated[FloatArray, counts()]
    guessed: Annotated[FloatArray, counts()]
    better: Annotated[FloatArray, counts(signed=True)]
    squares: Annotated[FloatArray, counts()]

    def check(self) -> None:
        """See core.states.Checked: samplers would look for ever beyond these."""
        if self.unit.min() <= 0.0 or self.unit.max() > 1.0:
            raise PickbestError("pairs: unit must be above 0 and at most 1")


def start_pairs(replicates: int, n_arms: int) -> PairsState:
    """Nothing seen yet; guesses begin as if one gain had been guessed right."""
    paired = n_arms if n_arms <= MOST_PAIRED else 0
    shape = (replicates, 2)
    return PairsState(
        rewards=np.zeros((*shape, n_arms)),
        plays=np.zeros((*shape, n_arms)),
        gains=np.zeros((*shape, paired, paired)),
        together=np.zeros((*shape, paired, paired)),
        unit=np.ones(shape),
        gained=np.ones(shape),
        guessed=np.ones(shape),
        better=np.zeros(replicates),
        squares=np.zeros(replicates),
    )


@inlined
def mean_reward(rewards: float, plays: float, unit: float) -> float:
    """The posterior mean of an arm's reward."""
    return (1.0 + unit * rewards) / (2.0 + unit * plays)


@inlined
def guessed_gain(factor: float, first: float, second: float) -> float:
    """What an arm gains over another, from their mean rewards; factor: gained / guessed."""
    return min(0.99, factor * first * (1.0 - second))


@inlined
def trials_of(n_arms: int) -> float:
    """How many trials of the Beta posteriors a result counts as.

    The more arms there are, the less can be learned of each, and the sooner it must be trusted.
    """
    return float(n_arms)


@kernel
def propose(
    state: PairsState, row: int, key: np.uint64, chosen: IntArray, scores: FloatArray
) -> None:
    """Arms one by one: a posterior draw of the mean, times what each earlier arm leaves of it.

    Fills chosen. scores: scratch of length n_arms.
    """
    memory = memory_in_use(state, row, chosen.shape[0])
    rewards, plays = state.rewards[row, memory], state.plays[row, memory]
    gains, together = state.gains[row, memory], state.together[row, memory]
    n_arms, unit = rewards.shape[0], state.unit[row, memory]
    factor = state.gained[row, memory] / state.guessed[row, memory]
    trials, counter = trials_of(n_arms) * unit, key
    for a in range(n_arms):
        bad = trials * max(plays[a] - rewards[a], 0.0)
        counter, scores[a] = beta_from(counter, 1.0 + trials * rewards[a], 1.0 + bad)
    for place in range(chosen.shape[0]):
        last = int(np.argmax(scores))
        chosen[place], scores[last] = last, -1.0
        if gains.shape[0] > 0:
            other = mean_reward(rewards[last], plays[last], unit)
            for a in range(n_arms):
                if scores[a] < 0.0:
                    continue
                mean = mean_reward(rewards[a], plays[a], unit)
                gain = PRIOR * guessed_gain(factor, mean, other) + unit * gains[a, last]
                gain /= PRIOR + unit * together[a, last]
                scores[a] *= min(gain / mean, 1.0)


@inlined
def memory_in_use(state: PairsState, row: int, budget: int) -> int:
    """0, the anchor, unless the memory that forgets has predicted clearly better lately.

    That is by 1 / B standard deviations: the more arms run, the more it sees. With any advantage
    at all, tables in random order lose .04.
    """
    return 1 if state.better[row] > math.sqrt(state.squares[row]) / budget else 0


@inlined
def learn_pairs(state: PairsState, row: int, arms: IntArray, seen: FloatArray) -> None:
    """Compare what both memories predicted with the costs of the arms that ran; fold these in."""
    better = _squared_errors(state, row, 0, arms, seen) - _squared_errors(state, row, 1, arms, seen)
    state.better[row] = MEMORY * state.better[row] + better
    state.squares[row] = MEMORY * state.squares[row] + better * better
    for memory in range(2):
        learn_memory(state, row, memory, arms, seen)


@kernel
def _squared_errors(
    state: PairsState, row: int, memory: int, arms: IntArray, seen: FloatArray
) -> float:
    """How far a memory's predictions of rewards were off."""
    unit, total = state.unit[row, memory], 0.0
    for i in range(arms.shape[0]):
        rewards, plays = state.rewards[row, memory, arms[i]], state.plays[row, memory, arms[i]]
        error = mean_reward(rewards, plays, unit) - (1.0 - seen[i])
        total += error * error
    return total


@kernel
def learn_memory(
    state: PairsState, row: int, memory: int, arms: IntArray, seen: FloatArray
) -> None:
    """Fold the costs of the arms that ran into one memory."""
    rewards, plays = state.rewards[row, memory], state.plays[row, memory]
    gains, together = state.gains[row, memory], state.together[row, memory]
    unit, paired = state.unit[row, memory], gains.shape[0] > 0
    discount = 1.0 if memory == 0 else MEMORY
    gained, guessed = 0.0, 0.0
    for i in range(arms.shape[0] if paired else 0):
        mean = mean_reward(rewards[arms[i]], plays[arms[i]], unit)
        for j in range(arms.shape[0]):
            if i != j:
                other = mean_reward(rewards[arms[j]], plays[arms[j]], unit)
                gained += max(seen[j] - seen[i], 0.0)
                guessed += mean * (1.0 - other)
    state.gained[row, memory] = discount * state.gained[row, memory] + gained
    state.guessed[row, memory] = discount * state.guessed[row, memory] + guessed
    unit *= discount
    if unit < SMALLEST_UNIT:
        for a in range(rewards.shape[0]):
            rewards[a] *= unit
            plays[a] *= unit
            for b in range(gains.shape[0]):
                gains[a, b] *= unit
                together[a, b] *= unit
        unit = 1.0
    state.unit[row, memory] = unit
    for i in range(arms.shape[0]):
        rewards[arms[i]] += (1.0 - seen[i]) / unit
        plays[arms[i]] += 1.0 / unit
        for j in range(arms.shape[0] if paired else 0):
            if i != j:
                gains[arms[i], arms[j]] += max(seen[j] - seen[i], 0.0) / unit
                together[arms[i], arms[j]] += 1.0 / unit
