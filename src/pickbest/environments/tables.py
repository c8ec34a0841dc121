"""Costs fixed in advance: recorded tables, in their order or shuffled."""

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core import Draws, PickbestError, State, check_count
from pickbest.core.arrays import FloatArray, IntArray, check_costs
from pickbest.core.wrapping import WrappingEnvironment
from pickbest.environments.columns import Frame, choose_arms, from_frame

# A table of more arms than this does not list them all.
MOST_NAMED = 12


class Oblivious:
    """What environments that do not react to the player have in common: no state, no reaction."""

    adaptive = False

    def __post_init__(self) -> None:
        for name in ("n_arms", "rounds"):
            check_count(name, getattr(self, name))

    def start(self, replicates: int) -> State:
        return ()

    def react(self, state: State, arms: IntArray, costs: FloatArray) -> State:
        return state


@dataclass(frozen=True, eq=False)
class Table(Oblivious):
    """A recorded cost table, played row by row, the same in every replicate.

    table: (rounds, n_arms) costs in [0, 1]; of a data frame, the columns are the arms' names, and
        its index, or a first column of identifiers, the rows' names.

    >>> Table([[0.1, 0.9], [0.3, 0.2]], arm_names=("fast", "slow"))
    Table(2 rounds, 2 arms: fast, slow)
    """

    table: ArrayLike | Frame
    arm_names: tuple[str, ...] = ()
    source: str = "array"
    row_names: tuple[str, ...] = field(default=(), repr=False)
    varies = False

    def __post_init__(self) -> None:
        if isinstance(self.table, Frame):
            arms = choose_arms(from_frame(self.table), "the data frame")
            object.__setattr__(self, "table", arms.values)
            object.__setattr__(self, "arm_names", self.arm_names or arms.names)
            object.__setattr__(self, "row_names", self.row_names or arms.row_names)
        costs = as_costs(self.table, self.source)
        names = self.arm_names or tuple(f"arm {a}" for a in range(costs.shape[1]))
        if len(self.row_names) not in (0, len(costs)):
            raise PickbestError(
                f"row_names must have one name for each of {len(costs)} rounds, "
                f"got {len(self.row_names)}"
            )
        if len(names) != costs.shape[1]:
            raise PickbestError(
                f"arm_names must have one name for each of {costs.shape[1]} arms, got {len(names)}"
            )
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise PickbestError(f"{self.source}: the arm {twice!r} occurs twice")
        object.__setattr__(self, "table", costs)
        object.__setattr__(self, "arm_names", tuple(names))

    def __repr__(self) -> str:
        names = self.arm_names if self.n_arms <= MOST_NAMED else (*self.arm_names[:MOST_NAMED], "…")
        return f"Table({self.rounds} rounds, {self.n_arms} arms: {', '.join(names)})"

    @property
    def costs_table(self) -> FloatArray:
        """(rounds, n_arms) costs."""
        return np.asarray(self.table)

    @property
    def n_arms(self) -> int:
        return int(self.costs_table.shape[1])

    @property
    def rounds(self) -> int:
        return int(self.costs_table.shape[0])

    def costs(self, state: State, round_index: int, rng: Draws) -> FloatArray:
        return np.tile(self.costs_table[round_index], (len(rng.keys), 1))


@dataclass(frozen=True, eq=False)
class Shuffled(WrappingEnvironment):
    """A recorded table whose rounds come in an order of their own in each replicate.

    >>> Shuffled(Table([[0.1, 0.9], [0.3, 0.2]])).rounds
    2
    """

    inner: Table
    varies = True

    def costs(self, state: State, round_index: int, rng: Draws) -> FloatArray:
        return self.inner.costs_table[self.order(rng)[:, round_index]]

    def order(self, rng: Draws) -> IntArray:
        """(replicates, rounds): which row of the table each round is."""
        return _orders(rng.lasting.tobytes(), self.rounds)


@lru_cache(maxsize=4)
def _orders(lasting: bytes, rounds: int) -> IntArray:
    """(replicates, rounds): an order of the rounds for each lasting key; kept for a whole run."""
    keys = np.frombuffer(lasting, dtype=np.uint64)
    return np.argsort(Draws(keys, keys).uniforms(rounds), axis=1)


def as_costs(values: ArrayLike | Frame, source: str) -> FloatArray:
    """A checked (rounds, n_arms) table of costs."""
    array = np.asarray(values)
    if array.ndim != 2 or 0 in array.shape:
        raise PickbestError(
            f"{source}: a table needs at least one round and one arm, got shape {array.shape}"
        )
    return check_costs(array, array.shape, name=f"{source}: costs")
