"""Tsallis-INF for subsets: one rule for costs that are drawn and costs that an adversary sets."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pickbest.core import (
    Choice,
    Draws,
    Feedback,
    FloatArray,
    KeyArray,
    State,
    check_budget,
)
from pickbest.kernels import tsallis as kernels
from pickbest.kernels.rules import weights_of


@dataclass(frozen=True)
class Tsallis:
    """The hybrid-regularised leader over subsets (Zimmert, Luo and Wei 2019). Anytime.

    Picks arm a with probability x_a, where x minimises <estimated costs, x> + Ψ(x) / rate with
    Ψ(x) = Σ -√x_a + γ (1 - x_a) ln(1 - x_a) over the hull of all B-subsets. The paper bounds
    the regret of the *sum* of the picked costs against the best B arms: of order log T where
    costs are drawn independently, and for B ≤ N / 2 of order √(B N T) whatever they are. For
    B = 1 that is the regret of this game; for B ≥ 2 it is not one against the best arm.

    >>> from pickbest.core import replicate_keys, rng_for
    >>> learner = Tsallis(n_arms=4, budget=2)
    >>> state = learner.start(replicates=1)
    >>> choice = learner.pick(state, rng_for(replicate_keys(0, 1), 0))
    >>> choice.weights
    array([[2., 2.]])
    >>> learner.learn(state, choice, np.array([[1.0, 0.0]]))["law"].sum().round(9)
    np.float64(2.0)
    """

    n_arms: int
    budget: int
    feedback = Feedback.PICKED
    unbiased = True

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)

    @property
    def gamma(self) -> float:
        """min{1, 1 / √ln(N / (N - B))}, which is 1 for B ≤ N / 2."""
        if self.budget == self.n_arms:
            return 0.0
        return min(1.0, 1.0 / math.sqrt(math.log(self.n_arms / (self.n_arms - self.budget))))

    def start(self, replicates: int) -> State:
        """costs: cumulative estimated costs; round: how many rounds were learned.

        law: P(arm picked) in the next round; level: its multiplier, in units of cost.
        """
        return {
            "costs": np.zeros((replicates, self.n_arms)),
            "round": np.zeros(replicates, np.int64),
            "law": np.full((replicates, self.n_arms), self.budget / self.n_arms),
            "level": np.zeros(replicates),
        }

    def pick(self, state: State, rng: Draws) -> Choice:
        law = state["law"]
        arms = np.empty((len(law), self.budget), np.int64)
        weights = np.empty((len(law), self.budget))
        kernels.pick_subsets(law, rng.keys, arms, weights)
        return Choice(arms, weights)

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        kernels.learn_subsets(
            state["costs"],
            state["round"],
            state["law"],
            state["level"],
            self.gamma,
            choice.arms,
            weights_of(choice),
            seen,
        )
        return state

    def play_table(
        self, state: State, table: FloatArray, lasting: KeyArray, first_round: int
    ) -> tuple[State, FloatArray]:
        paid = np.empty((len(lasting), table.shape[1]))
        kernels.play_subsets(
            state["costs"],
            state["round"],
            state["law"],
            state["level"],
            self.gamma,
            self.budget,
            table,
            lasting,
            first_round,
            paid,
        )
        return state, paid
