"""Recorded tables of costs, in their order or shuffled, and which columns of one are arms."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core import Draws, PickbestError, State, check_count, unknown_name
from pickbest.core.arrays import FloatArray, IntArray, check_costs
from pickbest.core.wrapping import WrappingEnvironment

# A table of more arms than this does not list them all.
MOST_NAMED = 12
BY_HAND = "choose columns with the options label and columns"


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


@runtime_checkable
class Frame(Protocol):
    """A data frame as pandas has it: columns by name, and an index of the rows."""

    @property
    def columns(self) -> Any: ...

    @property
    def index(self) -> Any: ...

    def __getitem__(self, name: Any, /) -> Any: ...


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
            values, names, rows = choose_arms(from_frame(self.table), "the data frame")
            object.__setattr__(self, "table", values)
            object.__setattr__(self, "arm_names", self.arm_names or names)
            object.__setattr__(self, "row_names", self.row_names or rows)
        costs = np.asarray(self.table)
        if costs.ndim != 2 or 0 in costs.shape:
            raise PickbestError(
                f"{self.source}: a table needs at least one round and one arm, got shape "
                f"{costs.shape}"
            )
        costs = check_costs(costs, costs.shape, name=f"{self.source}: costs")
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


# Which columns are arms: in files and data frames the first may name the rows --------------------


@dataclass(frozen=True, eq=False)
class Columns:
    """A table of which it is not known yet which columns are arms.

    columns: each as texts or as numbers. names: theirs, or () where they have none.
    row_names: where something other than a column names the rows.
    first_row: the number that the first row has for people.
    """

    columns: Sequence[Sequence[str] | FloatArray]
    names: tuple[str, ...] = ()
    row_names: tuple[str, ...] = ()
    first_row: int = 1


# (rounds, n_arms) values; names of arms, and of rows: () where there are none.
Arms = tuple[FloatArray, tuple[str, ...], tuple[str, ...]]


def from_frame(frame: Frame) -> Columns:
    """The columns of a data frame; an index that only counts names nothing."""
    names = tuple(map(str, frame.columns))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise PickbestError(f"the data frame has two columns {twice!r}")
    columns = [_column(np.asarray(frame[name])) for name in frame.columns]
    rows = tuple(map(str, frame.index))
    counted = rows == tuple(map(str, range(len(rows))))
    return Columns(columns, names, () if counted else rows, first_row=0)


def choose_arms(
    table: Columns, source: str, label: str | None = None, columns: Sequence[str] = ()
) -> Arms:
    """The arms among the columns.

    label: the column that names the rows; by default the first, if it holds identifiers.
    columns: the arms, in this order; by default all others.
    """
    wanted = [_place(table, name, source) for name in columns]
    named = None if label is None else _place(table, label, source)
    if named is None and not table.row_names and 0 not in wanted and table.columns:
        named = 0 if _are_identifiers(table.columns[0]) else None
    places = wanted or [place for place in range(len(table.columns)) if place != named]
    rows = table.row_names
    if named is not None:
        cells = table.columns[named]
        rows = tuple(cell.strip() if isinstance(cell, str) else f"{cell:.17g}" for cell in cells)
    values = [_numbers(table, place, source, rows) for place in places]
    names = tuple(table.names[place] for place in places) if table.names else ()
    return np.stack(values, axis=1) if values else np.empty((len(rows), 0)), names, rows


def _column(values: np.ndarray[Any, Any]) -> Sequence[str] | FloatArray:
    if np.issubdtype(values.dtype, np.number) or values.dtype == np.bool_:
        return values.astype(np.float64)
    return [str(value) for value in values]


def _place(table: Columns, name: str, source: str) -> int:
    if not table.names:
        raise PickbestError(f"{source}: there is no header, so no column is called {name!r}")
    if name not in table.names:
        raise unknown_name(f"column of {source}", name, table.names)
    return table.names.index(name)


def _are_identifiers(column: Sequence[str] | FloatArray) -> bool:
    """Texts; or whole numbers among texts or beyond [0, 1], as long as no two are equal."""
    numbers = [float(value) for value in column if is_number(value)]
    if not numbers:
        return True
    beyond = len(numbers) < len(column) or min(numbers) < 0.0 or max(numbers) > 1.0
    return beyond and all(map(float.is_integer, numbers)) and len(set(column)) == len(column)


def is_number(cell: str | float) -> bool:
    """Whether it can be read as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _numbers(table: Columns, place: int, source: str, rows: tuple[str, ...]) -> FloatArray:
    cells = table.columns[place]
    column = repr(table.names[place]) if table.names else str(place + 1)
    for number, cell in enumerate(cells if isinstance(cells, list | tuple) else ()):
        if not is_number(cell):
            row = f"row {number + table.first_row}" + (f" ({rows[number]!r})" if rows else "")
            if not cell.strip():
                raise PickbestError(
                    f"{source}: {row}, column {column} is empty: fill it in (1 where an arm gave "
                    "no answer), or leave the row out"
                )
            raise PickbestError(
                f"{source}: {row}, column {column} must be a number, got {cell!r} ({BY_HAND})"
            )
    return np.array(cells, dtype=np.float64)
