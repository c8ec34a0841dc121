"""Schedules: how many arms run, and which one before others, where processor time has a price.

Thompson sampling: every round draws survival curves from what is known of them (`auto.kinds`)
and plays the plan that would be cheapest if they were true (`auto.prices`).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pickbest.core import (
    Choice,
    Draws,
    Feedback,
    FloatArray,
    IntArray,
    KeyArray,
    PickbestError,
    Plans,
    Runs,
    Seen,
    check_budget,
)
from pickbest.kernels.compiled import allocating, compiled
from pickbest.learners.auto.kinds import (
    BINS,
    KINDS,
    KindsState,
    draw_survival,
    fill_hazards,
    learn_kinds,
    start_kinds,
)
from pickbest.learners.auto.prices import Prices, Scratch, best_plan, best_set

Price = float | tuple[float, ...]


@dataclass(frozen=True)
class Schedules:
    """Plans of at most `budget` arms at a time, whose total cost is learned to be low.

    The total cost is that of the answer, and a price for the processor time of all arms.

    price: of a processor for as long as the deadline; or one for each arm.
    call_price: of each start of an arm; or one for each arm.
    cost: "runtime": the time until the answer, as a share of the deadline, 1 without one;
        "solved": 0, or 1 without one.

    >>> Schedules(n_arms=3, budget=2, price=0.5).prices.seconds.tolist()
    [0.5, 0.5, 0.5]
    """

    n_arms: int
    budget: int
    price: Price = 0.0
    call_price: Price = 0.0
    cost: str = "runtime"
    feedback = Feedback.PICKED
    unbiased = False

    def __post_init__(self) -> None:
        check_budget(self.budget, self.n_arms)
        if self.cost not in ("runtime", "solved"):
            raise PickbestError(f"cost must be runtime or solved, got {self.cost!r}")
        for name, given in (("price", self.price), ("call_price", self.call_price)):
            values = np.atleast_1d(np.asarray(given, float))
            if values.shape not in ((1,), (self.n_arms,)) or not np.all(
                (values >= 0.0) & (values < np.inf)
            ):
                raise PickbestError(
                    f"{name} must be a number of at least 0, or one for each of {self.n_arms} "
                    f"arms, got {given!r}"
                )

    @cached_property
    def prices(self) -> Prices:
        seconds, calls = (
            np.ascontiguousarray(np.broadcast_to(np.asarray(each, float), (self.n_arms,)))
            for each in (self.price, self.call_price)
        )
        timed = self.cost == "runtime"
        return Prices(seconds, calls, 1.0 if timed else 0.0, 0.0 if timed else 1.0)

    def start(self, replicates: int) -> KindsState:
        return start_kinds(replicates, self.n_arms)

    def plan(self, state: KindsState, draws: Draws) -> Plans:
        arms = np.empty((len(draws.keys), 1 + self.budget), np.int64)
        slices = np.empty(len(draws.keys))
        _plan_rows.gradually(self.prices, state, draws.keys, False, arms, slices)
        return Plans(arms, slices)

    def learn_runs(self, state: KindsState, plans: Plans, runs: Runs) -> KindsState:
        arms = np.where(runs.ran, plans.arms, -1)
        _learn_rows.gradually(state, arms, runs.times, runs.answered.astype(float))
        return state

    def pick(self, state: KindsState, draws: Draws, features: FloatArray | None = None) -> Choice:
        """Where all arms must start at once: the set that is best whatever processors cost."""
        arms = np.empty((len(draws.keys), 1 + self.budget), np.int64)
        free = self.prices._replace(seconds=np.zeros(self.n_arms), calls=np.zeros(self.n_arms))
        _plan_rows.gradually(free, state, draws.keys, True, arms, np.empty(len(draws.keys)))
        return Choice(np.ascontiguousarray(arms[:, 1:]))

    def learn(
        self, state: KindsState, choice: Choice, seen: Seen, features: FloatArray | None = None
    ) -> KindsState:
        """Where nobody says how long arms took, costs stand for times."""
        times = seen.high if seen.times is None else seen.times
        answered = (seen.low == seen.high) & (times < 1.0)
        _learn_rows.gradually(state, choice.arms, times, answered.astype(float))
        return state


@allocating
def _new_scratch(n_arms: int, budget: int) -> Scratch:
    return Scratch(
        np.empty((KINDS, n_arms, BINS)),
        np.empty((KINDS, n_arms, BINS + 1)),
        np.empty(BINS),
        np.empty((KINDS, BINS + 1)),
        np.empty((KINDS, BINS + 1)),
        np.empty(KINDS),
        np.empty(KINDS),
        np.empty(budget, np.int64),
        np.empty(n_arms),
    )


@compiled
def _plan_rows(
    prices: Prices,
    state: KindsState,
    keys: KeyArray,
    whole: bool,
    arms: IntArray,
    slices: FloatArray,
) -> None:
    """whole: whether all places are filled with arms that start at once."""
    n_arms = prices.seconds.shape[0]
    scratch, every = _new_scratch(n_arms, arms.shape[1] - 1), np.arange(n_arms)
    for row in range(keys.shape[0]):
        fill_hazards(state, row, every, scratch.pooled, scratch.hazards)
        draw_survival(state, row, keys[row], scratch.hazards, scratch.survival)
        if whole:
            arms[row, 0], slices[row] = -1, 0.0
            best_set(prices, scratch, state.mass[row], 1.0, -1, True, arms[row, 1:])
        else:
            slices[row] = best_plan(prices, scratch, state.mass[row], arms[row])


@compiled
def _learn_rows(state: KindsState, arms: IntArray, times: FloatArray, answered: FloatArray) -> None:
    n_arms = state.answers.shape[2]
    scratch, every = _new_scratch(n_arms, 1), np.arange(n_arms)
    for row in range(arms.shape[0]):
        fill_hazards(state, row, every, scratch.pooled, scratch.hazards)
        learn_kinds(
            state, row, scratch.hazards, scratch.weights, arms[row], times[row], answered[row]
        )
