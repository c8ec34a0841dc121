"""The doubling trick: any learner that needs the number of rounds, without knowing it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pickbest.core import (
    Choice,
    Draws,
    Feedback,
    FloatArray,
    Learner,
    State,
)


class ForRounds(Protocol):
    """Makes a learner that is tuned for a number of rounds."""

    def __call__(self, rounds: int) -> Learner: ...


@dataclass(frozen=True)
class Doubling:
    """Epochs of 1, 2, 4, … rounds, each with a fresh learner tuned for its length.

    A result that arrives in a later epoch than its pick is learned in that later epoch: its
    weights stay valid, because they were fixed when the arms were picked.
    """

    for_rounds: ForRounds

    @property
    def n_arms(self) -> int:
        return self.for_rounds(1).n_arms

    @property
    def budget(self) -> int:
        return self.for_rounds(1).budget

    @property
    def feedback(self) -> Feedback:
        return self.for_rounds(1).feedback

    @property
    def unbiased(self) -> bool:
        return self.for_rounds(1).unbiased

    def start(self, replicates: int) -> State:
        """The inner learner's state, and epoch_round: rounds learned, a number a replicate."""
        return {**self._inner(0).start(replicates), "epoch_round": np.zeros(replicates, np.int64)}

    def pick(self, state: State, rng: Draws) -> Choice:
        return self._inner(_learned(state)).pick(_without_count(state), rng)

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        learned = _learned(state)
        counts = state["epoch_round"] + 1
        state = self._inner(learned).learn(_without_count(state), choice, seen)
        if _epoch(learned + 1) != _epoch(learned):
            state = self._inner(learned + 1).start(len(counts))
        return {**state, "epoch_round": counts}

    def _inner(self, learned: int) -> Learner:
        return self.for_rounds(2 ** _epoch(learned))


def _epoch(learned: int) -> int:
    """Epoch k holds rounds 2^k - 1 to 2^(k+1) - 2, counted from 0."""
    return (learned + 1).bit_length() - 1


def _learned(state: State) -> int:
    return int(state["epoch_round"][0])


def _without_count(state: State) -> State:
    return {name: array for name, array in state.items() if name != "epoch_round"}
