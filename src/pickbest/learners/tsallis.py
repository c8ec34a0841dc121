"""Tsallis-INF for subsets: one rule for costs that are drawn and costs that an adversary sets.

The law x of a round minimises rate · <costs, x> - Σ √x_a + γ Σ (1 - x_a) ln(1 - x_a) over
0 ≤ x ≤ 1, Σ x = budget. With u_a = 1 / √x_a it solves, for one level that all arms share,

    u_a / 2 + γ ln(1 - 1 / u_a²) = rate · (cost_a - level).

The left side is concave and rises, so Newton's method from the left never overshoots.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

import numpy as np

from pickbest.core import Feedback, FloatArray, IntArray, check_budget
from pickbest.core.states import counts, derived, sums
from pickbest.kernels.compiled import allocating, borrowing, inlined, kernel
from pickbest.kernels.random import STEP, uniform_at
from pickbest.kernels.rules import CompiledLearner, Pick, Rule, Told
from pickbest.learners.fpml import FPMLState

# How far the marginals' sum may be from the budget, relative to it.
TOLERANCE = 1e-12
# Losses run from -1 to 1 in the paper, costs from 0 to 1: its rate 1 / √t doubles.
RATE = 2.0
# Below this u, x is 1 to the last bit.
EDGE = 1.0 + 1e-15


class TsallisState(NamedTuple):
    """costs: cumulative estimated costs; round: how many rounds were learned.

    law: P(arm picked) in the next round; level: its multiplier, in units of cost. Both are the
    solver's next guesses, too.
    """

    costs: Annotated[FloatArray, sums(-1)]
    round: Annotated[IntArray, counts()]
    law: Annotated[FloatArray, derived(-1)]
    level: Annotated[FloatArray, derived()]


class Law(NamedTuple):
    """gamma: γ, the weight of the second part of the regulariser."""

    gamma: float


class Work(NamedTuple):
    """order: scratch of length n_arms."""

    order: IntArray


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
    lowest, highest = np.inf, -np.inf
    for a in range(n_arms):
        lowest, highest = min(lowest, costs[a]), max(highest, costs[a])
    low, high = lowest + even, highest + even
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
def solve_row(law: Law, state: TsallisState, row: int, budget: int) -> None:
    """The law of the next round, from the costs and the number of rounds."""
    rate = RATE / math.sqrt(state.round[row] + 1.0)
    state.level[row] = solve_law(
        state.costs[row], rate, law.gamma, budget, state.level[row], state.law[row]
    )


@borrowing
def solve_rows(law: Law, state: TsallisState, budget: int) -> None:
    """solve_row for every replicate."""
    for row in range(state.costs.shape[0]):
        solve_row(law, state, row, budget)


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


@allocating
def new_work(law: Law, state: TsallisState, budget: int) -> Work:
    return Work(np.empty(state.costs.shape[1], np.int64))


@inlined
def pick_row(law: Law, state: TsallisState, row: int, work: Work, pick: Pick) -> None:
    """A subset with the weights 1 / marginal."""
    key, arms, weights = pick.key, pick.arms, pick.weights
    draw_subset(state.law[row], key, arms, work.order)
    for j in range(arms.shape[0]):
        weights[j] = 1.0 / state.law[row, arms[j]]


@inlined
def learn_row(law: Law, state: TsallisState, row: int, work: Work, told: Told) -> None:
    """Add the weighted costs and find the next round's law."""
    arms, weights, seen = told.arms, told.weights, told.costs
    for j in range(arms.shape[0]):
        state.costs[row, arms[j]] += weights[j] * seen[j]
    state.round[row] += 1
    solve_row(law, state, row, arms.shape[0])


RULE = Rule(new_work, pick_row, learn_row)


@dataclass(frozen=True)
class Tsallis(CompiledLearner[Law, TsallisState, Work]):
    """The hybrid-regularised leader over subsets (Zimmert, Luo and Wei 2019). Anytime.

    Picks arm a with probability x_a, where x minimises <estimated costs, x> + Ψ(x) / rate with
    Ψ(x) = Σ -√x_a + γ (1 - x_a) ln(1 - x_a) over the hull of all B-subsets. The paper bounds
    the regret of the *sum* of the picked costs against the best B arms: of order log T where
    costs are drawn independently, and for B ≤ N / 2 of order √(B N T) whatever they are. For
    B = 1 that is the regret of this game; for B ≥ 2 it is not one against the best arm.

    >>> from pickbest.core import Seen, replicate_keys, rng_for
    >>> learner = Tsallis(n_arms=4, budget=2)
    >>> state = learner.start(replicates=1)
    >>> choice = learner.pick(state, rng_for(replicate_keys(0, 1), 0))
    >>> choice.weights
    array([[2., 2.]])
    >>> learner.learn(state, choice, Seen.of(np.array([[1.0, 0.0]]))).law.sum().round(9)
    np.float64(2.0)
    """

    n_arms: int
    budget: int
    feedback = Feedback.PICKED
    unbiased = True
    rule = RULE

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)

    @property
    def gamma(self) -> float:
        """min{1, 1 / √ln(N / (N - B))}, which is 1 for B ≤ N / 2."""
        if self.budget == self.n_arms:
            return 0.0
        return min(1.0, 1.0 / math.sqrt(math.log(self.n_arms / (self.n_arms - self.budget))))

    @cached_property
    def law(self) -> Law:
        return Law(self.gamma)

    def start(self, replicates: int) -> TsallisState:
        costs = np.zeros((replicates, self.n_arms))
        return self._guessed(FPMLState(costs, np.zeros(replicates, np.int64)))

    def portable(self, state: TsallisState) -> FPMLState:
        return FPMLState(state.costs, state.round)

    def restored(self, known: FPMLState) -> TsallisState:
        state = self._guessed(known)
        solve_rows(self.law, state, self.budget)
        return state

    def _guessed(self, known: FPMLState) -> TsallisState:
        """The law of equal costs, which is exact before the first round."""
        law = np.full(known.costs.shape, self.budget / self.n_arms)
        return TsallisState(known.costs, known.round, law, np.zeros(len(law)))
