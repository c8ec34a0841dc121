"""Warm start: a learner that has seen a table of past results before its first round."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core import (
    Choice,
    FloatArray,
    KeyArray,
    Learner,
    PickbestError,
    State,
    check_costs,
    learns_any,
    play_table,
    replicate_keys,
    rng_for,
)
from pickbest.core.states import portable, repeat_state, restored
from pickbest.core.wrapping import WrappingLearner

# The past is played with randomness of its own: that of live rounds has other streams.
PAST_STREAM = 4


@dataclass(frozen=True)
class Warm(WrappingLearner):
    """The inner learner, started with what a table of past results teaches it.

    A learner that can learn of any arms (see core.OpenLearner) is told of all results of a
    row: those of the arms that it would have picked first, then the others, the best on
    average first. Where results are missing, an arm's weight is rows / rows with a result, so
    that every arm has the total that a complete table is expected to have. All other learners
    play the table, once, and learn what they would have seen. All replicates start alike.

    table: (rounds, n_arms) costs in [0, 1], NaN or None where an arm was not run. It is kept
        as tuples, so that a saved player can be rebuilt.

    >>> from pickbest.learners.thompson import Thompson
    >>> Warm(Thompson(n_arms=2, budget=1), [[0.25, None], [0.5, 1.0]]).start(1).costs
    array([[0.75, 1.  ]])
    """

    inner: Learner
    table: ArrayLike

    def __post_init__(self) -> None:
        past = _checked(self.table, self.n_arms)
        if np.isnan(past).any() and not learns_any(self.inner):
            raise PickbestError(
                f"table: {type(self.inner).__name__} learns from complete rows only, and some "
                "results are missing: fill them in, for example with the arm's mean"
            )
        rows = (tuple(None if np.isnan(cost) else cost for cost in row) for row in past.tolist())
        object.__setattr__(self, "table", tuple(rows))

    @property
    def learns_any(self) -> bool:
        return learns_any(self.inner)

    def start(self, replicates: int) -> State:
        """The inner learner's state after the past."""
        past = np.asarray(self.table, dtype=np.float64)
        keys = replicate_keys(0, 1, stream=PAST_STREAM)
        state = self.inner.start(1)
        if learns_any(self.inner):
            state = _told(self.inner, state, past, keys)
        else:
            state, _ = play_table(self.inner, state, past[None], keys, 0)
        return repeat_state(state, replicates)

    def portable(self, state: State) -> State:
        return portable(self.inner, state)

    def restored(self, known: State) -> State:
        return restored(self.inner, known)

    def play_table(
        self, state: State, table: FloatArray, lasting: KeyArray, first_round: int
    ) -> tuple[State, FloatArray]:
        return play_table(self.inner, state, table, lasting, first_round)


def _checked(table: ArrayLike, n_arms: int) -> FloatArray:
    """(rounds, n_arms) costs in [0, 1], NaN where missing."""
    try:
        past = np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise PickbestError(f"table must be rows of numbers of one length ({error})") from error
    if past.ndim != 2 or past.shape[1] != n_arms or not len(past):
        raise PickbestError(f"table must have shape (rounds, {n_arms}), got {past.shape}")
    check_costs(np.where(np.isnan(past), 0.0, past), past.shape, "table: costs")
    return past


def _told(learner: Learner, state: State, past: FloatArray, keys: KeyArray) -> State:
    """The state after all results of every row."""
    was_run = ~np.isnan(past)
    runs = was_run.sum(axis=0)
    totals = np.where(was_run, past, 0.0).sum(axis=0)
    ranking = np.argsort(totals / np.maximum(runs, 1), kind="stable")
    weights = len(past) / np.maximum(runs, 1)
    for t, costs in enumerate(past):
        picked = learner.pick(state, rng_for(keys, t))
        if picked.weights is not None and not runs.all():
            raise PickbestError(
                f"table: arm {int(np.argmin(runs))} was never run, and to "
                f"{type(learner).__name__} it would seem to cost nothing: fill in a guess, for "
                "example the best arm's mean"
            )
        order = dict.fromkeys([*picked.arms[0].tolist(), *ranking.tolist()])
        arms = np.array([[arm for arm in order if was_run[t, arm]]], np.int64)
        state = learner.learn(state, Choice(arms, weights[arms]), costs[arms])
    return state
