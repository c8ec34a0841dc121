"""Baselines: the leaders without noise, random arms, the same arms."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from pickbest.core import (
    Choice,
    Draws,
    Feedback,
    FloatArray,
    IntArray,
    PickbestError,
    Seen,
    check_budget,
)
from pickbest.core.states import sums


class LeadersState(NamedTuple):
    """costs: cumulative costs."""

    costs: Annotated[FloatArray, sums(-1)]


class Nothing(NamedTuple):
    """The state of a learner that learns nothing."""


@dataclass(frozen=True)
class Leaders:
    """Follow the B leaders: FPML without noise. Deterministic, so Proposition 1 ruins it."""

    n_arms: int
    budget: int
    feedback = Feedback.FULL
    unbiased = False

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)

    def start(self, replicates: int) -> LeadersState:
        return LeadersState(np.zeros((replicates, self.n_arms)))

    def pick(self, state: LeadersState, draws: Draws, features: FloatArray | None = None) -> Choice:
        return Choice(lowest(state.costs, self.budget))

    def learn(
        self, state: LeadersState, choice: Choice, seen: Seen, features: FloatArray | None = None
    ) -> LeadersState:
        np.add(state.costs, seen.high, out=state.costs)
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

    def start(self, replicates: int) -> Nothing:
        return Nothing()

    def pick(self, state: Nothing, draws: Draws, features: FloatArray | None = None) -> Choice:
        arms = lowest(draws.uniforms(self.n_arms), self.budget)
        return Choice(arms, np.full(arms.shape, self.n_arms / self.budget))

    def learn(
        self, state: Nothing, choice: Choice, seen: Seen, features: FloatArray | None = None
    ) -> Nothing:
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

    def start(self, replicates: int) -> Nothing:
        return Nothing()

    def pick(self, state: Nothing, draws: Draws, features: FloatArray | None = None) -> Choice:
        return Choice(np.tile(np.array(self.arms, np.int64), (len(draws.keys), 1)))

    def learn(
        self, state: Nothing, choice: Choice, seen: Seen, features: FloatArray | None = None
    ) -> Nothing:
        return state


def lowest(values: FloatArray, count: int) -> IntArray:
    """(replicates, count) columns with the lowest values, ascending; ties: lowest column."""
    order: IntArray = np.argsort(values, axis=1, kind="stable")[:, :count]
    return order
