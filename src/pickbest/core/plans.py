"""Plans of races in which arms may follow each other: one arm for a while, then others instead."""

from typing import NamedTuple, Protocol, runtime_checkable

from pickbest.core.arrays import BoolArray, FloatArray, IntArray
from pickbest.core.randomness import Draws
from pickbest.core.types import Learner, State


class Plans(NamedTuple):
    """What runs in a round, and when.

    arms: (replicates, 1 + budget); the first runs alone before the others start, all of them at
        once; -1 where there is none.
    slices: (replicates,) for how long the first may run, as a share of the deadline; 0: none.
    """

    arms: IntArray
    slices: FloatArray


class Runs(NamedTuple):
    """What came of a plan, (replicates, 1 + budget) each.

    times: for how long each arm ran, as a share of the deadline. answered: whether it ended with
    an answer. ran: whether it was started at all.
    """

    times: FloatArray
    answered: BoolArray
    ran: BoolArray


@runtime_checkable
class Planner(Learner, Protocol):
    """A learner that decides how many arms run, and when; the budget is the most at a time."""

    def plan(self, state: State, rng: Draws) -> Plans:
        """Choose; leaves the state as it is."""
        ...

    def learn_runs(self, state: State, plans: Plans, runs: Runs) -> State:
        """Fold a round in."""
        ...
