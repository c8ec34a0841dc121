"""Tsallis-INF for subsets: marginals of the regularised leader, exact draws, whole games.

The law x of a round minimises rate · <costs, x> - Σ √x_a + γ Σ (1 - x_a) ln(1 - x_a) over
0 ≤ x ≤ 1, Σ x = budget. With u_a = 1 / √x_a it solves, for one level that all arms share,

    u_a / 2 + γ ln(1 - 1 / u_a²) = rate · (cost_a - level).

The left side is concave and rises, so Newton's method from the left never overshoots.
"""

from __future__ import annotations

import math

import numpy as np

from pickbest.core import FloatArray, IntArray, KeyArray
from pickbest.kernels.compiled import kernel, part
from pickbest.kernels.random import STEP, round_key, uniform_at

# How far the marginals' sum may be from the budget, relative to it.
TOLERANCE = 1e-12
# Losses run from -1 to 1 in the paper, costs from 0 to 1: its rate 1 / √t doubles.
RATE = 2.0
# Below this u, x is 1 to the last bit.
EDGE = 1.0 + 1e-15


@kernel
def left_of_root(target: float, gamma: float) -> float:
    """A u below the root: from ln(1 - 1/u²) < 0, and from u / 2 ≤ 1 where 1 - 1/u² ≤ 3/4."""
    rest = min(0.75, math.exp(min((target - 1.0) / gamma, 0.0)))
    return max(2.0 * target, 1.0 / math.sqrt(1.0 - rest))


@kernel
def solve_arm(target: float, gamma: float, u: float) -> float:
    """The u ≥ 1 with u / 2 + γ ln(1 - 1/u²) = target; the given u is a guess."""
    for _ in range(60):
        if u < EDGE:
            u = left_of_root(target, gamma)
            if u < EDGE:
                return 1.0
        square = (u - 1.0) * (u + 1.0)
        missing = target - 0.5 * u - gamma * math.log(square / (u * u))
        step = missing * 2.0 * u * square / (u * square + 4.0 * gamma)
        u += step
        # The error is about step² / (u - 1); false where the step left the domain.
        if step * step <= 1e-14 * (u - 1.0):
            break
    return u


@kernel
def solve_law(
    costs: FloatArray, rate: float, gamma: float, budget: int, level: float, law: FloatArray
) -> float:
    """Fill law with the marginals; law and level come in as guesses. Returns the level."""
    n_arms = costs.shape[0]
    if budget == n_arms:
        return level
    # Were all arms as good as the best (worst), each would have the share budget / n_arms.
    share = budget / n_arms
    even = (-0.5 / math.sqrt(share) - gamma * math.log(1.0 - share)) / rate
    low, high = costs.min() + even, costs.max() + even
    level = min(max(level, low), high)
    for _ in range(200):
        total = 0.0
        slope = 0.0
        for a in range(n_arms):
            u = solve_arm(rate * (costs[a] - level), gamma, 1.0 / math.sqrt(law[a]))
            square = (u - 1.0) * (u + 1.0)
            law[a] = 1.0 / (u * u)
            total += law[a]
            slope += 4.0 * square / (u * u * (u * square + 4.0 * gamma))
        gap = total - budget
        if abs(gap) <= TOLERANCE * budget:
            break
        if gap > 0.0:
            high = level
        else:
            low = level
        level -= gap / (rate * slope)
        if not low < level < high:
            level = 0.5 * (low + high)
            if not low < level < high:
                break
    return level


@kernel
def draw_subset(law: FloatArray, key: np.uint64, arms: IntArray, order: IntArray) -> None:
    """A subset whose marginals are `law`: systematic sampling in a random order (Madow 1949).

    Arms lie side by side on a line, each as long as its marginal; those are picked in which
    one of the points v, v + 1, v + 2, … falls. None is longer than 1, so arms are distinct.
    """
    n_arms, budget = law.shape[0], arms.shape[0]
    counter = key + STEP
    point = uniform_at(counter)
    end = 0.0
    picked = 0
    for a in range(n_arms):
        order[a] = a
    for i in range(n_arms):
        counter += STEP
        j = i + int(uniform_at(counter) * (n_arms - i))
        arm = order[j]
        order[j] = order[i]
        end += law[arm]
        # Rounding errors must not leave a point beyond the last arm.
        if end > point or n_arms - i == budget - picked:
            arms[picked] = arm
            point += 1.0
            picked += 1
            if picked == budget:
                return


@kernel
def pick_subsets(law: FloatArray, keys: KeyArray, arms: IntArray, weights: FloatArray) -> None:
    """A subset for every replicate, with the weights 1 / marginal."""
    order = np.empty(law.shape[1], np.int64)
    for r in range(law.shape[0]):
        draw_subset(law[r], keys[r], arms[r], order)
        for j in range(arms.shape[1]):
            weights[r, j] = 1.0 / law[r, arms[r, j]]


@part
def next_rate(learned: int) -> float:
    """The rate of the round after `learned` ones."""
    return RATE / math.sqrt(learned + 1.0)


@kernel
def learn_subsets(
    costs: FloatArray,
    learned: IntArray,
    law: FloatArray,
    level: FloatArray,
    gamma: float,
    arms: IntArray,
    weights: FloatArray,
    seen: FloatArray,
) -> None:
    """Add the weighted costs of the picked arms and find the next round's law."""
    budget = arms.shape[1]
    for r in range(costs.shape[0]):
        for j in range(budget):
            costs[r, arms[r, j]] += weights[r, j] * seen[r, j]
        learned[r] += 1
        level[r] = solve_law(costs[r], next_rate(learned[r]), gamma, budget, level[r], law[r])


@kernel
def play_subsets(
    costs: FloatArray,
    learned: IntArray,
    law: FloatArray,
    level: FloatArray,
    gamma: float,
    budget: int,
    table: FloatArray,
    lasting: KeyArray,
    first_round: int,
    paid: FloatArray,
) -> None:
    """Whole games, equal bit for bit to pick_subsets and learn_subsets by turns."""
    arms = np.empty(budget, np.int64)
    order = np.empty(costs.shape[1], np.int64)
    for r in range(costs.shape[0]):
        game = table[r if table.shape[0] > 1 else 0]
        for t in range(game.shape[0]):
            draw_subset(law[r], round_key(lasting[r], first_round + t), arms, order)
            lowest = 1.0
            for j in range(budget):
                cost = game[t, arms[j]]
                costs[r, arms[j]] += 1.0 / law[r, arms[j]] * cost
                lowest = min(lowest, cost)
            paid[r, t] = lowest
            learned[r] += 1
            level[r] = solve_law(costs[r], next_rate(learned[r]), gamma, budget, level[r], law[r])
