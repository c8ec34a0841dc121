"""Online greedy: one learner per slot, each fed what it adds to the slots before it.

OG (Algorithm 3, unit durations) has a single-arm learner in each slot; OG_hybrid
(Algorithm 2) has FPML with budget `slot_budget` in each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pickbest.core import (
    BoolArray,
    Choice,
    Draws,
    Feedback,
    FloatArray,
    IntArray,
    KeyArray,
    PickbestError,
    SlotLearner,
    State,
    TableSlotLearner,
    check_budget,
    check_count,
    play_rounds,
)
from pickbest.learners.leaders import weights_of


@dataclass(frozen=True)
class Greedy:
    """`slots` copies of a learner; slot i is fed cost = 1 - gain over the slots before it.

    distinct: a slot leaves out the arms that earlier slots took. Such an arm would gain
        nothing there, so its cost in that slot is known to be 1 and is learned as such; the
        weights of the other arms are those of the pick among the free ones. So the estimates
        of a slot are unbiased, given what the slots before it picked.
    Without it slots pick independently, as in the paper's experiments, and arms may repeat.

    shared: slot i also learns from the arms of later slots. Given the picks of the slots
        before j ≥ i, slot j estimates slot i's costs without bias, too: they are known for the
        arms that slots i to j - 1 took, and an arm that is first picked in slot j counts with
        its weight there. Slot i learns the mean of these estimates over all j ≥ i, in which an
        arm that is first picked in slot m has the weight
        (its weight in m + number of slots after m) / number of slots from i on.
        What slots before i took costs 1 in slot i, with certainty. All this holds for distinct
        and for independent slots.

    >>> from pickbest.learners.weights import Hedge
    >>> Greedy(Hedge(n_arms=5, rate=0.1), slots=3).budget
    3
    """

    inner: SlotLearner
    slots: int
    distinct: bool = True
    shared: bool = False

    def __post_init__(self) -> None:
        check_count("slots", self.slots)
        if self.shared and self.inner.feedback is Feedback.FULL:
            raise PickbestError(
                "shared needs slots that see picked arms only: with full feedback each slot "
                "sees all costs already"
            )
        if self.distinct:
            check_budget(self.budget, self.n_arms)

    @property
    def n_arms(self) -> int:
        return self.inner.n_arms

    @property
    def budget(self) -> int:
        return self.slots * self.inner.budget

    @property
    def feedback(self) -> Feedback:
        return self.inner.feedback

    @property
    def unbiased(self) -> bool:
        """The weights are unbiased slot by slot, not for the round as a whole."""
        return False

    def start(self, replicates: int) -> State:
        """The states of the slots, their names prefixed with the slot's number."""
        return {
            f"{slot}/{name}": array
            for slot in range(self.slots)
            for name, array in self.inner.start(replicates).items()
        }

    def pick(self, state: State, rng: Draws) -> Choice:
        replicates = len(rng.keys)
        taken = np.zeros((replicates, self.n_arms if self.distinct else 0), np.bool_)
        return self.pick_free(state, rng, taken)

    def pick_free(self, state: State, rng: Draws, taken: BoolArray) -> Choice:
        choices = []
        for slot in range(self.slots):
            choice = self.inner.pick_free(slot_state(state, slot), rng.child(slot), taken)
            choices.append(choice)
            if self.distinct and slot + 1 < self.slots:
                taken = taken.copy()
                np.put_along_axis(taken, choice.arms, True, axis=1)
        arms = np.hstack([choice.arms for choice in choices])
        if choices[0].weights is None:
            return Choice(arms)
        return Choice(arms, np.hstack([weights_of(choice) for choice in choices]))

    def learn(self, state: State, choice: Choice, seen: FloatArray) -> State:
        full = self.feedback is Feedback.FULL
        paid = np.take_along_axis(seen, choice.arms, axis=1) if full else seen
        lowest = np.ones((len(seen), 1))
        for slot in range(self.slots):
            first, last = slot * self.inner.budget, (slot + 1) * self.inner.budget
            slot_choice = (
                self._shared(choice, slot) if self.shared else columns(choice, first, last)
            )
            costs = seen if full or self.shared else np.ascontiguousarray(seen[:, first:last])
            if slot > 0:
                # Algorithm 2: one minus what the arm adds to the best of the slots before.
                costs = 1.0 - np.maximum(lowest - costs, 0.0)
            if self.distinct and not (full or self.shared):
                slot_choice, costs = _with_known(choice, slot_choice, costs, first)
            learned = self.inner.learn(slot_state(state, slot), slot_choice, costs)
            state.update({f"{slot}/{name}": array for name, array in learned.items()})
            lowest = np.minimum(lowest, paid[:, first:last].min(axis=1, keepdims=True))
        return state

    def _shared(self, choice: Choice, slot: int) -> Choice:
        """All arms of a round, with the weights that they have in one slot."""
        slot_of = np.arange(self.budget) // self.inner.budget
        after = self.slots - 1 - slot_of
        weights = np.where(slot_of < slot, 1.0, (weights_of(choice) + after) / (self.slots - slot))
        return Choice(choice.arms, weights if self.distinct else once(choice.arms, weights))

    def play_table(
        self, state: State, table: FloatArray, lasting: KeyArray, first_round: int
    ) -> tuple[State, FloatArray]:
        if not isinstance(self.inner, TableSlotLearner):
            return play_rounds(self, state, table, lasting, first_round)
        states = [slot_state(state, slot) for slot in range(self.slots)]
        paid = self.inner.play_slots(
            states, table, lasting, first_round, self.distinct, self.shared
        )
        return state, paid


def slot_state(state: State, slot: int | str) -> State:
    """The state of one slot's learner, or of another part of a learner."""
    prefix = f"{slot}/"
    return {
        name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)
    }


def columns(choice: Choice, first: int, last: int) -> Choice:
    """The part of a choice from column `first` up to `last`."""
    arms = np.ascontiguousarray(choice.arms[:, first:last])
    if choice.weights is None:
        return Choice(arms)
    return Choice(arms, np.ascontiguousarray(choice.weights[:, first:last]))


def _with_known(
    choice: Choice, slot_choice: Choice, costs: FloatArray, taken: int
) -> tuple[Choice, FloatArray]:
    """Add the arms that earlier slots took: in this slot their cost is 1, with certainty."""
    known = np.ones((len(costs), taken))
    arms = np.hstack([slot_choice.arms, choice.arms[:, :taken]])
    weights = np.hstack([weights_of(slot_choice), known])
    return Choice(arms, weights), np.hstack([costs, known])


def once(arms: IntArray, weights: FloatArray) -> FloatArray:
    """The weights, but 0 for an arm that occurs before in its row."""
    same = arms[:, :, None] == arms[:, None, :]
    repeated = np.tril(same, k=-1).any(axis=2)
    return np.where(repeated, 0.0, weights)
