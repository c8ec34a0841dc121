"""The doubling trick: any learner that needs the number of rounds, without knowing it."""

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Protocol

import numpy as np

from pickbest.core import Choice, Draws, Feedback, FloatArray, IntArray, Learner, Seen, is_unbiased
from pickbest.core.states import counts, portable, restored


class ForRounds(Protocol):
    """Makes a learner that is tuned for a number of rounds."""

    def __call__(self, rounds: int) -> Learner: ...


class DoublingState(NamedTuple):
    """inner: of the epoch's learner; learned: rounds, the same number in every replicate."""

    inner: Any
    learned: Annotated[IntArray, counts()]


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
        return is_unbiased(self.for_rounds(1))

    def start(self, replicates: int) -> DoublingState:
        return DoublingState(self.after(0).start(replicates), np.zeros(replicates, np.int64))

    def pick(
        self, state: DoublingState, draws: Draws, features: FloatArray | None = None
    ) -> Choice:
        return self._now(state).pick(state.inner, draws)

    def learn(
        self, state: DoublingState, choice: Choice, seen: Seen, features: FloatArray | None = None
    ) -> DoublingState:
        learned = int(state.learned[0])
        inner = self.after(learned).learn(state.inner, choice, seen)
        if _epoch(learned + 1) != _epoch(learned):
            inner = self.after(learned + 1).start(len(state.learned))
        return DoublingState(inner, state.learned + 1)

    def portable(self, state: DoublingState) -> DoublingState:
        return state._replace(inner=portable(self._now(state), state.inner))

    def restored(self, known: DoublingState) -> DoublingState:
        return known._replace(inner=restored(self._now(known), known.inner))

    def _now(self, state: DoublingState) -> Learner:
        return self.after(int(state.learned[0]))

    def after(self, learned: int) -> Learner:
        """The learner of the epoch that holds the next round."""
        return self.for_rounds(2 ** _epoch(learned))


def _epoch(learned: int) -> int:
    """Epoch k holds rounds 2^k - 1 to 2^(k+1) - 2, counted from 0."""
    return (learned + 1).bit_length() - 1
