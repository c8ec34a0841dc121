"""Which columns of a table are arms: in files and data frames the first may name the rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from pickbest.core import FloatArray, PickbestError, unknown_name

BY_HAND = "the options label and columns choose by hand"


@runtime_checkable
class Frame(Protocol):
    """A data frame as pandas has it: columns by name, and an index of the rows."""

    @property
    def columns(self) -> Any: ...

    @property
    def index(self) -> Any: ...

    def __getitem__(self, name: Any, /) -> Any: ...


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


@dataclass(frozen=True, eq=False)
class Arms:
    """values: (rounds, n_arms); names of arms and rows: () where there are none."""

    values: FloatArray
    names: tuple[str, ...] = ()
    row_names: tuple[str, ...] = ()


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

    label: the column that names the rows; if it is not given, the first, if it holds identifiers.
    columns: the arms, in this order; if none are given, all other columns.
    """
    wanted = [_place(table, name, source) for name in columns]
    named = None if label is None else _place(table, label, source)
    if named is None and not table.row_names and 0 not in wanted and table.columns:
        named = 0 if _are_identifiers(table.columns[0]) else None
    places = wanted or [place for place in range(len(table.columns)) if place != named]
    rows = table.row_names if named is None else tuple(map(_shown, table.columns[named]))
    values = [_numbers(table, place, source) for place in places]
    return Arms(
        np.stack(values, axis=1) if values else np.empty((len(rows), 0)),
        tuple(table.names[place] for place in places) if table.names else (),
        rows,
    )


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
    """Texts; or whole numbers among texts, or beyond [0, 1], as long as no two are equal."""
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


def _numbers(table: Columns, place: int, source: str) -> FloatArray:
    cells = table.columns[place]
    for row, cell in enumerate(cells if isinstance(cells, list | tuple) else ()):
        if not is_number(cell):
            raise PickbestError(
                f"{source}: row {row + table.first_row}, column {place + 1} must be a number, "
                f"got {cell!r} ({BY_HAND})"
            )
    return np.array(cells, dtype=np.float64)


def _shown(value: str | float) -> str:
    return value.strip() if isinstance(value, str) else f"{value:.17g}"
