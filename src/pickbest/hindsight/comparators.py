"""Sets of arms in hindsight that are cheap to find: the best arm, the top B, the greedy B."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core import FloatArray, PickbestError, check_budget, check_costs


@dataclass(frozen=True)
class Subset:
    """Arms chosen in hindsight and what they pay.

    arms: ascending.
    cost: total over the rounds.
    bound: no subset of this size costs less; None where the method proves nothing.
    proven: whether `cost` is the least possible (up to 1e-9, relative above 1).
    """

    arms: tuple[int, ...]
    cost: float
    bound: float | None = None
    proven: bool = False

    def mean_cost(self, rounds: int) -> float:
        """The cost of a round.

        >>> Subset(arms=(0, 3), cost=12.0).mean_cost(rounds=24)
        0.5
        """
        return self.cost / rounds


def subset_cost(costs: ArrayLike, arms: Iterable[int]) -> float:
    """What a set of arms pays: the sum over rounds of its smallest cost.

    >>> subset_cost([[0.5, 0.25, 1.0], [0.5, 1.0, 0.0]], arms=[1, 2])
    0.25
    """
    table = check_table(costs)
    return _total(table, _check_arms(arms, table.shape[1]))


def best_arm(costs: ArrayLike) -> Subset:
    """The single arm with the lowest total cost; the lowest index of equals.

    >>> best_arm([[0.5, 0.25, 1.0], [0.5, 1.0, 0.0]])
    Subset(arms=(0,), cost=1.0, bound=1.0, proven=True)
    """
    table = check_table(costs)
    return proven(table, [int(table.sum(axis=0).argmin())])


def top_arms(costs: ArrayLike, budget: int) -> Subset:
    """The `budget` arms with the lowest total cost each; lower indices of equals.

    >>> top_arms([[0.5, 0.25, 1.0], [0.5, 1.0, 0.0]], budget=2)
    Subset(arms=(0, 2), cost=0.5, bound=None, proven=False)
    """
    table = check_table(costs)
    order = np.argsort(table.sum(axis=0), kind="stable")
    return unproven(table, order[: check_budget(budget, table.shape[1])])


def greedy_subset(costs: ArrayLike, budget: int) -> Subset:
    """Arms added one at a time, each the one that lowers the cost most; first of equals.

    >>> greedy_subset([[0.5, 0.25, 1.0], [0.5, 1.0, 0.0]], budget=2)
    Subset(arms=(0, 2), cost=0.5, bound=None, proven=False)
    """
    table = check_table(costs)
    return unproven(table, greedy_arms(table, check_budget(budget, table.shape[1])))


def random_subset_costs(costs: FloatArray, budget: int) -> FloatArray:
    """(rounds,): what a uniformly random subset of `budget` arms pays, in expectation.

    The k-th cheapest arm is the cheapest of a subset with probability
    C(n - k, budget - 1) / C(n, budget).

    >>> random_subset_costs(np.array([[0.0, 0.5, 1.0]]), budget=2).round(3)
    array([0.167])
    """
    n_arms = costs.shape[1]
    total = comb(n_arms, check_budget(budget, n_arms))
    chances = [comb(n_arms - place, budget - 1) / total for place in range(1, n_arms + 1)]
    expected: FloatArray = np.sort(costs, axis=1) @ np.array(chances)
    return expected


def check_table(costs: ArrayLike) -> FloatArray:
    """A checked (rounds, n_arms) table of costs."""
    try:
        shape = np.shape(costs)
    except ValueError as error:
        raise PickbestError("costs must be a table with rows of equal length") from error
    if len(shape) != 2 or 0 in shape:
        raise PickbestError(
            f"costs must be a table (rounds, n_arms) with at least 1 of each, got shape {shape}"
        )
    return check_costs(costs, shape)


def _check_arms(arms: Iterable[int], n_arms: int) -> list[int]:
    chosen = list(arms)
    whole = all(isinstance(a, int | np.integer) and not isinstance(a, bool) for a in chosen)
    fits = whole and all(0 <= a < n_arms for a in chosen) and len(set(chosen)) == len(chosen)
    if not chosen or not fits:
        raise PickbestError(
            f"arms must be distinct whole numbers between 0 and {n_arms - 1}, at least one, "
            f"got {chosen!r}"
        )
    return [int(a) for a in chosen]


def _total(table: FloatArray, arms: list[int]) -> float:
    return float(table[:, arms].min(axis=1).sum())


def unproven(table: FloatArray, arms: Iterable[int]) -> Subset:
    """These arms and what they pay."""
    chosen = sorted(int(a) for a in arms)
    return Subset(tuple(chosen), _total(table, chosen))


def proven(table: FloatArray, arms: Iterable[int]) -> Subset:
    """These arms, known to pay least."""
    chosen = unproven(table, arms)
    return replace(chosen, bound=chosen.cost, proven=True)


def greedy_arms(table: FloatArray, budget: int) -> list[int]:
    """Arms in the order in which greed adds them."""
    arms: list[int] = []
    paid = table.max(axis=1)
    for _ in range(budget):
        totals = np.minimum(table, paid[:, None]).sum(axis=0)
        totals[arms] = np.inf
        arms.append(int(totals.argmin()))
        paid = np.minimum(paid, table[:, arms[-1]])
    return arms
