"""Jobs that are arrays: a weighted sum over items, combined over the pulled arms."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core import BoolArray, FloatArray, IntArray, PickbestError
from pickbest.submodular.jobs import kernels
from pickbest.submodular.jobs.actions import (
    Action,
    Schedule,
    check_actions,
    durations_of,
    show,
    unit_actions,
)
from pickbest.submodular.jobs.rounds import Job

# Weights are sums of many numbers: so much rounding is forgiven.
ROUNDING = 1e-9
_EVERY_ARM = np.empty((0, 0), np.int64)


class Combine(Enum):
    """How the arms of a schedule act on one item: see `jobs.kernels`."""

    MAX = kernels.MAX
    MISS = kernels.MISS


@dataclass(frozen=True, eq=False)
class TableJobs:
    """Jobs of a built-in family; `families` makes them.

    entries: (replicates or 1, rounds or 1, n_items, n_arms), in [0, 1].
    weights: (replicates or 1, rounds or 1, n_items), adding up to at most 1.
    """

    combine: Combine
    entries: FloatArray
    weights: FloatArray
    actions: Schedule
    rounds: int

    @property
    def n_arms(self) -> int:
        return len(self.actions)

    @property
    def replicates(self) -> int:
        """How many replicates have jobs of their own; 1: all meet the same."""
        return max(len(self.entries), len(self.weights))

    @cached_property
    def durations(self) -> IntArray:
        return durations_of(self.actions)

    def round(self, index: int) -> "TableRound":
        if not 0 <= index < self.rounds:
            raise PickbestError(f"round must be between 0 and {self.rounds - 1}, got {index}")
        entries = self.entries[:, index if self.entries.shape[1] > 1 else 0]
        weights = self.weights[:, index if self.weights.shape[1] > 1 else 0]
        return TableRound(
            self.combine,
            np.ascontiguousarray(entries),
            np.ascontiguousarray(weights),
            label=f"round {index}",
        )

    def job(self, index: int, replicate: int = 0) -> Job:
        every = self.round(index)
        entries, weights = _part(every.entries, replicate), _part(every.weights, replicate)
        own = TableRound(self.combine, entries[None], weights[None])
        places = {action: arm for arm, action in enumerate(self.actions)}

        def value(schedule: Schedule) -> float:
            summary = own.start(1, len(schedule))
            for action in schedule:
                if action not in places:
                    raise PickbestError(
                        f"round {index}: {show((action,))} in the schedule {show(schedule)} "
                        "is not one of the job's actions"
                    )
                kernels.extend(self.combine.value, own.entries[0], places[action], summary[0])
            return float(own.values(summary)[0])

        return value

    def values(self, arms: ArrayLike, replicate: int = 0) -> FloatArray:
        """(rounds,) values of the schedule of these arms: one for all rounds, or one row per round.

        >>> from pickbest.submodular.jobs import best_of
        >>> best_of([[0.5, 0.2, 0.0], [0.0, 0.1, 0.7]]).values([0, 1])
        array([0.5, 0.1])
        """
        rows = np.atleast_2d(np.asarray(arms, np.int64))
        if len(rows) not in (1, self.rounds):
            raise PickbestError(f"arms must have 1 or {self.rounds} rows, got {len(rows)}")
        if rows.size and not 0 <= rows.min() <= rows.max() < self.n_arms:
            raise PickbestError(f"arms must be between 0 and {self.n_arms - 1}, got {arms!r}")
        pulled = np.broadcast_to(rows, (self.rounds, rows.shape[1]))
        every = self.as_replicates(replicate)
        summary = every.start(self.rounds, rows.shape[1])
        kept = np.ones(self.rounds, np.bool_)
        for j in range(rows.shape[1]):
            summary = every.extend(summary, pulled[:, j], kept)
        return every.values(summary)

    def as_replicates(self, replicate: int = 0) -> "TableRound":
        """All rounds of one replicate side by side, as if they were replicates of one round."""
        entries, weights = _part(self.entries, replicate), _part(self.weights, replicate)
        return TableRound(self.combine, entries, weights)


@dataclass(frozen=True, eq=False)
class TableRound:
    """The jobs of one round: entries (replicates or 1, n_items, n_arms), weights likewise."""

    combine: Combine
    entries: FloatArray
    weights: FloatArray
    label: str = "all rounds"

    def start(self, replicates: int, longest: int) -> FloatArray:
        empty = 0.0 if self.combine is Combine.MAX else 1.0
        return np.full((replicates, self.entries.shape[1]), empty)

    def gains(self, summary: FloatArray, arms: IntArray | None = None) -> FloatArray:
        asked = _EVERY_ARM if arms is None else np.ascontiguousarray(arms)
        columns = self.entries.shape[2] if arms is None else asked.shape[1]
        out = np.empty((len(summary), columns))
        kernels.fill_gains(self.combine.value, self.entries, self.weights, summary, asked, out)
        return out

    def extend(self, summary: FloatArray, arms: IntArray, kept: BoolArray) -> FloatArray:
        longer = summary.copy()
        arms = np.ascontiguousarray(arms)
        kernels.extend_all(self.combine.value, self.entries, arms, kept, longer)
        return longer

    def values(self, summary: FloatArray) -> FloatArray:
        out = np.empty(len(summary))
        kernels.fill_values(self.combine.value, self.weights, summary, out)
        return out


def table_jobs(
    combine: Combine,
    entries: ArrayLike,
    weights: ArrayLike,
    actions: Iterable[Action | Hashable] | None,
    what: str,
) -> TableJobs:
    """Check the arrays and give them all their axes.

    entries: (…, n_arms, n_items) with up to two axes before: rounds, or replicates and rounds.
    weights: (…, n_items) likewise.
    what: the word for entries in messages.
    """
    matrix, shares = _numbers(entries, what), _numbers(weights, "weights")
    if not 2 <= matrix.ndim <= 4 or not 1 <= shares.ndim <= 3 or 0 in matrix.shape:
        raise PickbestError(
            f"{what} must be (n_arms, n_items) with axes for rounds and replicates before, and "
            f"weights (n_items,) likewise; got {matrix.shape} and {shares.shape}"
        )
    matrix = matrix.reshape((1,) * (4 - matrix.ndim) + matrix.shape)
    shares = shares.reshape((1,) * (3 - shares.ndim) + shares.shape)
    rounds = max(matrix.shape[1], shares.shape[1])
    replicates = max(matrix.shape[0], shares.shape[0])
    fits = (
        matrix.shape[3] == shares.shape[2]
        and {matrix.shape[1], shares.shape[1]} <= {1, rounds}
        and {matrix.shape[0], shares.shape[0]} <= {1, replicates}
    )
    if not fits:
        raise PickbestError(
            f"{what} {np.shape(entries)} and weights {np.shape(weights)} do not fit together"
        )
    chosen = unit_actions(matrix.shape[2]) if actions is None else check_actions(actions)
    if len(chosen) != matrix.shape[2]:
        raise PickbestError(f"{len(chosen)} actions for {matrix.shape[2]} arms of {what}")
    _check_range(matrix, chosen, what)
    _check_weights(shares)
    by_item = np.ascontiguousarray(np.swapaxes(matrix, 2, 3))
    return TableJobs(combine, by_item, shares, chosen, rounds)


def _part(array: FloatArray, replicate: int) -> FloatArray:
    part: FloatArray = array[replicate if len(array) > 1 else 0]
    return part


def _numbers(values: ArrayLike, what: str) -> FloatArray:
    try:
        return np.asarray(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise PickbestError(f"{what} must be an array of numbers: {error}") from error


def _check_range(matrix: FloatArray, actions: Schedule, what: str) -> None:
    if matrix.min() >= 0.0 and matrix.max() <= 1.0:
        return
    replicate, index, arm, item = np.argwhere(~((matrix >= 0.0) & (matrix <= 1.0)))[0]
    value = matrix[replicate, index, arm, item]
    raise PickbestError(
        f"round {index}: {what} must be between 0 and 1, got {value:g} on item {item} "
        f"for the schedule {show((actions[arm],))}"
    )


def _check_weights(shares: FloatArray) -> None:
    low, total = shares.min(axis=2), shares.sum(axis=2)
    bad = ~((low >= 0.0) & (total <= 1.0 + ROUNDING))
    if not bad.any():
        return
    replicate, index = np.argwhere(bad)[0]
    if not low[replicate, index] >= 0.0:
        raise PickbestError(
            f"round {index}: weights must be numbers of at least 0, got {low[replicate, index]:g}"
        )
    raise PickbestError(
        f"round {index}: weights must add up to at most 1, so that a schedule of all arms stays "
        f"in [0, 1]; got {total[replicate, index]:g}"
    )
