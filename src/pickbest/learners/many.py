"""FPML for very many arms.

With partial feedback a round takes microseconds at 10^7 arms as at 10^3; with full feedback it
takes little more than adding the costs up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pickbest.core import (
    Choice,
    Draws,
    Feedback,
    FloatArray,
    PickbestError,
    State,
    check_budget,
    check_positive,
)
from pickbest.kernels import buckets, fused, many
from pickbest.kernels.leaders import check_decay
from pickbest.kernels.rules import weights_of
from pickbest.learners.fpml import start_leaders


@dataclass(frozen=True)
class FPMLManyArms:
    """FPMLPartial with exact weights and a constant epsilon, for hundreds of arms and more.

    Its picks have the same law and its weights the same values, but it keeps arms in buckets
    of similar weight, so that a round touches only a few of them (see kernels.buckets). Time
    grows with the square of the budget, for the weights, and hardly with n_arms.

    >>> from pickbest.core import replicate_keys, rng_for
    >>> learner = FPMLManyArms(n_arms=1_000, budget=2, epsilon=0.01)
    >>> state = learner.start(replicates=1)
    >>> choice = learner.pick(state, rng_for(replicate_keys(0, 1), 0))
    >>> choice.weights.round(9)
    array([[500., 500.]])
    >>> state = learner.learn(state, choice, np.array([[0.5, 1.0]]))
    >>> learner.costs(state)[0, choice.arms[0]].round(9)
    array([250., 500.])
    """

    n_arms: int
    budget: int
    epsilon: float
    feedback = Feedback.PICKED
    unbiased = True

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        check_positive("epsilon", self.epsilon)
        if self.n_arms > buckets.MOST_ARMS:
            raise PickbestError(f"n_arms must be at most {buckets.MOST_ARMS}, got {self.n_arms}")

    def start(self, replicates: int) -> State:
        """The arrays of `kernels.buckets`: every arm's cost in bits, and where it stands."""
        bits = np.zeros((replicates, self.n_arms))
        links = np.zeros((replicates, buckets.links_size(self.n_arms)), np.int32)
        slots = np.zeros((replicates, buckets.SLOTS_SIZE), np.int64)
        buckets.fill(bits[0], links[0], slots[0], self.budget)
        links[1:] = links[0]
        slots[1:] = slots[0]
        return {"bits": bits, "links": links, "slots": slots}

    def pick(self, state: State, rng: Draws) -> Choice:
        arms = np.empty((len(state["bits"]), self.budget), np.int64)
        weights = np.empty(arms.shape)
        many.pick_many(state["bits"], state["links"], state["slots"], rng.keys, True, arms, weights)
        return Choice(arms, weights)

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        learned = many.learn_many(
            state["bits"],
            state["links"],
            state["slots"],
            self.epsilon / math.log(2.0),
            choice.arms,
            weights_of(choice),
            seen,
        )
        if not learned:
            raise PickbestError(f"costs must be at least 0, got {np.min(seen)}")
        return state

    def costs(self, state: State) -> FloatArray:
        """(replicates, n_arms) cumulative estimated costs."""
        estimated: FloatArray = state["bits"] * (math.log(2.0) / self.epsilon)
        return estimated


@dataclass(frozen=True)
class FPMLFullManyArms:
    """FPML with full feedback and fresh perturbations, for thousands of arms and more.

    Its picks have FPML's law, but only the few arms that may lead are perturbed (see
    kernels.fused).

    >>> from pickbest.core import replicate_keys, rng_for
    >>> learner = FPMLFullManyArms(n_arms=5_000, budget=2, epsilon=1.0)
    >>> state = learner.start(replicates=1)
    >>> costs = np.ones((1, 5_000))
    >>> costs[0, 17] = 0.0
    >>> choice = learner.pick(state, rng_for(replicate_keys(0, 1), 0))
    >>> for _ in range(60):
    ...     state = learner.learn(state, choice, costs)
    >>> int(learner.pick(state, rng_for(replicate_keys(0, 1), 1)).arms[0, 0])
    17
    """

    n_arms: int
    budget: int
    epsilon: float
    decay: float = 0.0
    feedback = Feedback.FULL
    unbiased = False

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        check_positive("epsilon", self.epsilon)
        check_decay(self.decay)

    def start(self, replicates: int) -> State:
        """costs: cumulative; lowest: the lowest of each block of arms; round: learned."""
        return {
            **start_leaders(replicates, self.n_arms),
            "lowest": np.zeros((replicates, fused.n_blocks(self.n_arms))),
        }

    def pick(self, state: State, rng: Draws) -> Choice:
        arms = np.empty((len(state["costs"]), self.budget), np.int64)
        epsilon = self.epsilon * (state["round"] + 1.0) ** -self.decay
        fused.pick_from_blocks(state["costs"], state["lowest"], epsilon, rng.keys, arms)
        return Choice(arms)

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        fused.add_costs(state["costs"], seen, state["lowest"])
        state["round"] += 1
        return state
