"""Baselines: no noise, no learning, or learners for costs drawn independently in each round."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pickbest.core import (
    Choice,
    Draws,
    Feedback,
    FloatArray,
    IntArray,
    PickbestError,
    State,
    check_budget,
    check_positive,
)
from pickbest.kernels import softmax as softmax_kernels
from pickbest.kernels.leaders import add_weighted
from pickbest.kernels.random import fill_beta
from pickbest.learners.leaders import weights_of


@dataclass(frozen=True)
class Leaders:
    """Follow the B leaders: FPML without noise. Deterministic, so Proposition 1 ruins it."""

    n_arms: int
    budget: int
    feedback = Feedback.FULL
    unbiased = False

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)

    def start(self, replicates: int) -> State:
        """costs: cumulative costs."""
        return {"costs": np.zeros((replicates, self.n_arms))}

    def pick(self, state: State, rng: Draws) -> Choice:
        return Choice(lowest(state["costs"], self.budget))

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        state["costs"] += seen
        return state


@dataclass(frozen=True)
class Uniform:
    """B distinct arms at random, every subset equally likely; learns nothing."""

    n_arms: int
    budget: int
    feedback = Feedback.PICKED
    unbiased = True

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)

    def start(self, replicates: int) -> State:
        return {}

    def pick(self, state: State, rng: Draws) -> Choice:
        arms = lowest(rng.uniforms(self.n_arms), self.budget)
        return Choice(arms, np.full(arms.shape, self.n_arms / self.budget))

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        return state


@dataclass(frozen=True)
class Fixed:
    """The same subset in every round."""

    n_arms: int
    arms: tuple[int, ...]
    feedback = Feedback.PICKED
    unbiased = False

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        if len(set(self.arms)) != len(self.arms) or not all(
            0 <= arm < self.n_arms for arm in self.arms
        ):
            raise PickbestError(
                f"arms must be distinct and between 0 and {self.n_arms - 1}, got {self.arms}"
            )

    @property
    def budget(self) -> int:
        return len(self.arms)

    def start(self, replicates: int) -> State:
        return {}

    def pick(self, state: State, rng: Draws) -> Choice:
        return Choice(np.tile(np.array(self.arms, np.int64), (len(rng.keys), 1)))

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        return state


@dataclass(frozen=True)
class Thompson:
    """Multiple-play Thompson sampling: the B arms with the best draws from Beta posteriors.

    A reward between 0 and 1 counts as that share of a success.
    """

    n_arms: int
    budget: int
    prior: float = 1.0
    feedback = Feedback.PICKED
    unbiased = False
    learns_any = True

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        check_positive("prior", self.prior)

    def start(self, replicates: int) -> State:
        """costs, rewards: sums over the rounds in which the arm was picked."""
        shape = (replicates, self.n_arms)
        return {"costs": np.zeros(shape), "rewards": np.zeros(shape)}

    def pick(self, state: State, rng: Draws) -> Choice:
        # P(cost) ~ Beta(costs, rewards): the lowest draws lead.
        draws = np.empty(state["costs"].shape)
        fill_beta(rng.keys, self.prior + state["costs"], self.prior + state["rewards"], draws)
        return Choice(lowest(draws, self.budget))

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        add_weighted(state["costs"], choice.arms, np.ones(seen.shape), seen)
        add_weighted(state["rewards"], choice.arms, np.ones(seen.shape), 1.0 - seen)
        return state


@dataclass(frozen=True)
class UCB:
    """Multiple-play UCB1: the B arms with the lowest mean cost minus sqrt(width ln t / n)."""

    n_arms: int
    budget: int
    width: float = 2.0
    feedback = Feedback.PICKED
    unbiased = False
    learns_any = True

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        check_positive("width", self.width)

    def start(self, replicates: int) -> State:
        """costs, plays: sums over the rounds in which the arm was picked; round: learned."""
        shape = (replicates, self.n_arms)
        return {
            "costs": np.zeros(shape),
            "plays": np.zeros(shape),
            "round": np.zeros(replicates, np.int64),
        }

    def pick(self, state: State, rng: Draws) -> Choice:
        plays = np.maximum(state["plays"], 1.0)
        log_round = np.log(state["round"] + 1.0)[:, None]
        index = state["costs"] / plays - np.sqrt(self.width * log_round / plays)
        index[state["plays"] == 0] = -np.inf
        return Choice(lowest(index, self.budget))

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        ones = np.ones(seen.shape)
        add_weighted(state["costs"], choice.arms, ones, seen)
        add_weighted(state["plays"], choice.arms, ones, ones)
        state["round"] += 1
        return state


@dataclass(frozen=True)
class Exp3M:
    """Exp3.M (Uchiya, Nakamura and Kudo 2010): Exp3 for subsets and sums of rewards."""

    n_arms: int
    budget: int
    gamma: float
    feedback = Feedback.PICKED
    unbiased = True

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        if not 0.0 < self.gamma <= 1.0:
            raise PickbestError(f"gamma must be above 0 and at most 1, got {self.gamma!r}")

    def start(self, replicates: int) -> State:
        """scores: logarithms of the weights."""
        return {"scores": np.zeros((replicates, self.n_arms))}

    def pick(self, state: State, rng: Draws) -> Choice:
        scores = state["scores"]
        arms = np.empty((len(scores), self.budget), np.int64)
        weights = np.empty((len(scores), self.budget))
        softmax_kernels.pick_capped(scores, self.gamma, rng.keys, arms, weights)
        return Choice(arms, weights)

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        weights = weights_of(choice)
        # Arms whose weight was cut have probability 1 and keep their score.
        step = np.where(weights == 1.0, 0.0, weights * self.budget * self.gamma / self.n_arms)
        add_weighted(state["scores"], choice.arms, step, 1.0 - seen)
        return state


def lowest(values: FloatArray, count: int) -> IntArray:
    """(replicates, count) columns with the lowest values, ascending; ties: lowest column."""
    order: IntArray = np.argsort(values, axis=1, kind="stable")[:, :count]
    return order
