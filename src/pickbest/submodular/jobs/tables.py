"""Jobs that are arrays: a weighted sum over items, combined over the pulled arms.

The families `best_of`, `coverage`, `probabilistic_coverage` and `time_to_solve` make them. All are
monotone, submodular, and blind to order. Their arrays may have an axis of rounds in front; whatever
lacks it is the same in every round. `actions` names the arms and gives them durations; left out,
arms are activities 0, 1, … of duration 1.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core import FloatArray, IntArray, PickbestError, check_positive
from pickbest.submodular import kernels
from pickbest.submodular.jobs.actions import (
    Schedule,
    action_grid,
    check_actions,
    durations_of,
    show,
    unit_actions,
)
from pickbest.submodular.jobs.functions import RoundJob, check_round

Actions = Iterable[Hashable]

# Weights are sums of many numbers: so much rounding is forgiven.
ROUNDING = 1e-9


class Combine(Enum):
    """How the arms of a schedule act on one item: see `submodular.kernels`."""

    MAX = kernels.MAX
    MISS = kernels.MISS


@dataclass(frozen=True, eq=False)
class TableJobs:
    """Jobs of a built-in family, the same for all replicates.

    entries: (rounds or 1, n_items, n_arms), in [0, 1].
    weights: (rounds or 1, n_items), adding up to at most 1.
    """

    combine: Combine
    entries: FloatArray
    weights: FloatArray
    actions: Schedule
    rounds: int

    @property
    def n_arms(self) -> int:
        return len(self.actions)

    @cached_property
    def durations(self) -> IntArray:
        return durations_of(self.actions)

    def values(self, arms: ArrayLike) -> FloatArray:
        """(rounds,) values of the schedule of these arms: one for all rounds, or a row per round.

        >>> best_of([[0.5, 0.2, 0.0], [0.0, 0.1, 0.7]]).values([0, 1])
        array([0.5, 0.1])
        """
        rows = np.atleast_2d(np.asarray(arms, np.int64))
        if len(rows) not in (1, self.rounds):
            raise PickbestError(f"arms must have 1 or {self.rounds} rows, got {len(rows)}")
        if rows.size and not 0 <= rows.min() <= rows.max() < self.n_arms:
            raise PickbestError(f"arms must be between 0 and {self.n_arms - 1}, got {arms!r}")
        summary = self.start()
        for pulled in np.broadcast_to(rows, (self.rounds, rows.shape[1])).T:
            summary = self.extend(summary, pulled)
        return self.worth(summary)

    def round(self, index: int) -> RoundJob:
        """The job of round `index`, counted from 0, to be asked one schedule at a time."""
        check_round(index, self.rounds)
        entries = self.entries[index if len(self.entries) > 1 else 0][None]
        weights = self.weights[index if len(self.weights) > 1 else 0][None]
        alone = TableJobs(self.combine, entries, weights, self.actions, 1)
        place = {action: arm for arm, action in enumerate(self.actions)}
        return RoundJob(
            lambda schedule: float(alone.values([place[action] for action in schedule])[0]),
            f"round {index}",
        )

    # A schedule that is being built is known by its summary: one number per round and item.

    def start(self) -> FloatArray:
        """(rounds, n_items): the summary of the empty schedule."""
        empty = 0.0 if self.combine is Combine.MAX else 1.0
        return np.full((self.rounds, self.entries.shape[1]), empty)

    def gains(self, summary: FloatArray) -> FloatArray:
        """(rounds, n_arms): what each arm adds."""
        out = np.empty((len(summary), self.n_arms))
        kernels.fill_gains(self.combine.value, self.entries, self.weights, summary, out)
        return out

    def extend(self, summary: FloatArray, arms: IntArray) -> FloatArray:
        """The summary with one more arm in every round."""
        longer = summary.copy()
        kernels.extend_all(self.combine.value, self.entries, np.ascontiguousarray(arms), longer)
        return longer

    def worth(self, summary: FloatArray) -> FloatArray:
        """(rounds,): the value of the schedule."""
        out = np.empty(len(summary))
        kernels.fill_values(self.combine.value, self.weights, summary, out)
        return out


def best_of(rewards: ArrayLike, actions: Actions | None = None) -> TableJobs:
    """The largest reward among the pulled arms: the game of the learners, as a job.

    rewards: (rounds, n_arms).

    >>> best_of([[0.25, 0.75, 0.5]]).values([0, 2])
    array([0.5])
    """
    table = np.asarray(rewards)
    if table.ndim != 2:
        raise PickbestError(f"rewards must be (rounds, n_arms), got shape {table.shape}")
    return table_jobs(Combine.MAX, table[..., None], [1.0], actions, "rewards")


def coverage(covers: ArrayLike, weights: ArrayLike, actions: Actions | None = None) -> TableJobs:
    """The total weight of the items, each as far as the best pulled arm covers it.

    covers: (n_arms, n_items), true or false, or how well the arm covers the item, in [0, 1]
        (facility location). weights: (n_items,).

    >>> coverage([[1, 1, 0], [0, 0.5, 1]], weights=[0.5, 0.25, 0.25]).values([1, 0])
    array([1.])
    """
    return table_jobs(Combine.MAX, covers, weights, actions, "covers")


def probabilistic_coverage(
    chances: ArrayLike, weights: ArrayLike, actions: Actions | None = None
) -> TableJobs:
    """The expected weight of the items on which at least one pull succeeds.

    chances: (n_arms, n_items), independent of each other; an arm that is pulled twice tries
    twice. weights: (n_items,).

    >>> probabilistic_coverage([[0.5], [0.25]], weights=[1.0]).values([0, 1])
    array([0.625])
    """
    return table_jobs(Combine.MISS, chances, weights, actions, "chances")


def time_to_solve(
    times: ArrayLike,
    durations: Sequence[int],
    horizon: float,
    activities: Sequence[Hashable] | None = None,
) -> TableJobs:
    """A problem is solved by a run that lasts long enough; a quicker solution is worth more.

    Action (v, τ) runs activity v from scratch for τ units and solves the problem if that takes
    at most τ. The reward is 1 - (time that the quickest such run took) / horizon.

    times: (rounds, n_activities), infinite where an activity never solves the problem.
    durations: those that every activity can be run for; arms are activity by activity.

    Time counts within the run, and runs do not resume one another: a reward that falls with
    the time since the schedule began is not monotone, and one for resumed runs is not
    submodular.

    >>> jobs = time_to_solve([[2.0, 6.0]], durations=[1, 2, 8], horizon=8)
    >>> [float(jobs.values([arm])[0]) for arm in range(jobs.n_arms)]
    [0.0, 0.75, 0.75, 0.0, 0.0, 0.25]
    """
    check_positive("horizon", horizon)
    needed = np.asarray(times, np.float64)
    if needed.ndim != 2 or not np.all(needed >= 0.0):
        raise PickbestError(
            "times must be (rounds, n_activities), of numbers that are at least 0 (or infinite)"
        )
    rounds, n_activities = needed.shape
    if activities is not None and len(activities) != n_activities:
        raise PickbestError(f"{len(activities)} activities for times of {n_activities}")
    actions = action_grid(activities or n_activities, durations)
    solved = needed[:, :, None] <= np.asarray(durations, np.float64)
    worth = np.clip(1.0 - needed / horizon, 0.0, 1.0)[:, :, None]
    return best_of(np.where(solved, worth, 0.0).reshape(rounds, len(actions)), actions)


def table_jobs(
    combine: Combine, entries: ArrayLike, weights: ArrayLike, actions: Actions | None, what: str
) -> TableJobs:
    """Check the arrays and give them all their axes.

    entries: (n_arms, n_items), weights: (n_items,), both with an axis of rounds before them or
        without. what: the word for entries in messages.
    """
    try:
        matrix = np.asarray(entries, np.float64)
        shares = np.asarray(weights, np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise PickbestError(f"{what} and weights must be arrays of numbers: {error}") from error
    if matrix.ndim not in (2, 3) or shares.ndim not in (1, 2) or 0 in matrix.shape:
        raise PickbestError(
            f"{what} must be (n_arms, n_items) with an axis for rounds before, or without, and "
            f"weights (n_items,) likewise; got {matrix.shape} and {shares.shape}"
        )
    matrix = matrix.reshape((1,) * (3 - matrix.ndim) + matrix.shape)
    shares = np.atleast_2d(shares)
    rounds = max(len(matrix), len(shares))
    if matrix.shape[2] != shares.shape[1] or not {len(matrix), len(shares)} <= {1, rounds}:
        raise PickbestError(
            f"{what} {np.shape(entries)} and weights {np.shape(weights)} do not fit together"
        )
    chosen = unit_actions(matrix.shape[1]) if actions is None else check_actions(actions)
    if len(chosen) != matrix.shape[1]:
        raise PickbestError(f"{len(chosen)} actions for {matrix.shape[1]} arms of {what}")
    for index, arm, item in np.argwhere(~((matrix >= 0.0) & (matrix <= 1.0)))[:1]:
        raise PickbestError(
            f"round {index}: {what} must be between 0 and 1, got {matrix[index, arm, item]:g} on "
            f"item {item} for the schedule {show((chosen[arm],))}"
        )
    for index, item in np.argwhere(~(shares >= 0.0))[:1]:
        raise PickbestError(
            f"round {index}: weights must be numbers of at least 0, got {shares[index, item]:g}"
        )
    for index in np.flatnonzero(~(shares.sum(axis=1) <= 1.0 + ROUNDING))[:1]:
        raise PickbestError(
            f"round {index}: weights must add up to at most 1, so that a schedule of all arms "
            f"stays in [0, 1]; got {shares[index].sum():g}"
        )
    by_item = np.ascontiguousarray(np.swapaxes(matrix, 1, 2))
    return TableJobs(combine, by_item, shares, chosen, rounds)
