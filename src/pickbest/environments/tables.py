"""Costs fixed in advance: recorded tables, and their CSV, Parquet or NumPy files."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from pickbest.core import (
    Draws,
    FloatArray,
    IntArray,
    MissingExtraError,
    PickbestError,
    State,
    check_costs,
)
from pickbest.core.savefile import array_from_npy, arrays_from_npz

# How many times larger than its file a table may be; a file that unfolds further is none.
MOST_UNPACKED = 1_000
MOST_CELLS = 10**9
SUFFIXES = (".csv", ".tsv", ".parquet", ".npy", ".npz")


class Oblivious:
    """What environments that do not react to the player have in common: no state, no reaction."""

    adaptive = False

    def start(self, replicates: int) -> State:
        return ()

    def react(self, state: State, arms: IntArray, costs: FloatArray) -> State:
        return state


@dataclass(frozen=True, eq=False)
class Table(Oblivious):
    """A recorded cost table, played row by row, the same in every replicate.

    table: (rounds, n_arms) costs in [0, 1].

    >>> Table([[0.1, 0.9], [0.3, 0.2]]).n_arms
    2
    """

    table: ArrayLike
    arm_names: tuple[str, ...] = ()
    source: str = "array"
    varies = False

    def __post_init__(self) -> None:
        costs = as_costs(self.table, self.source)
        names = self.arm_names or tuple(f"arm {a}" for a in range(costs.shape[1]))
        if len(names) != costs.shape[1]:
            raise PickbestError(
                f"arm_names must have one name for each of {costs.shape[1]} arms, got {len(names)}"
            )
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise PickbestError(f"{self.source}: the arm {twice!r} occurs twice")
        object.__setattr__(self, "table", costs)
        object.__setattr__(self, "arm_names", tuple(names))

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
class Shuffled(Oblivious):
    """A recorded table whose rounds come in an order of their own in each replicate.

    >>> Shuffled(Table([[0.1, 0.9], [0.3, 0.2]])).rounds
    2
    """

    inner: Table
    varies = True

    @property
    def n_arms(self) -> int:
        return self.inner.n_arms

    @property
    def rounds(self) -> int:
        return self.inner.rounds

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


def as_costs(values: ArrayLike, source: str) -> FloatArray:
    """A checked (rounds, n_arms) table of costs."""
    array = np.asarray(values)
    if array.ndim != 2 or 0 in array.shape:
        raise PickbestError(
            f"{source}: a table needs at least one round and one arm, got shape {array.shape}"
        )
    return check_costs(array, array.shape, name=f"{source}: costs")


def read_table(path: str | Path, rewards: bool = False) -> Table:
    """Read a table of costs, or of rewards (then cost = 1 - reward), one row a round.

    A first column of text is a row label, not an arm; a first row of text names the arms.
    """
    values, names = _read(Path(path))
    kind = "rewards" if rewards else "costs"
    checked = check_costs(values, values.shape, name=f"{path}: {kind}")
    return Table(1.0 - checked if rewards else checked, names, str(path))


def read_past(
    path: str | Path, rewards: bool = False, arm_names: tuple[str, ...] = ()
) -> FloatArray:
    """As `read_table`, for past results: NaN where a cell is empty or nan (the arm was not run).

    arm_names: the arms wanted, in their order, where the file names its own; a file without
        names must have the arms in the same order.
    """
    values, names = _read(Path(path), missing=True)
    if names and arm_names:
        unknown = [name for name in arm_names if name not in names]
        if unknown:
            raise PickbestError(f"{path}: there is no arm {unknown[0]!r}, only {', '.join(names)}")
        values = values[:, [names.index(name) for name in arm_names]]
    known = np.where(np.isnan(values), 0.0, values)
    check_costs(known, known.shape, name=f"{path}: {'rewards' if rewards else 'costs'}")
    return 1.0 - values if rewards else values


def _read(path: Path, missing: bool = False) -> tuple[FloatArray, tuple[str, ...]]:
    """(values, names of arms, if any); missing: whether cells of text may be empty."""
    if not path.exists():
        raise PickbestError(f"{path}: no such file")
    if path.suffix not in SUFFIXES:
        raise PickbestError(
            f"{path}: a table must be one of {', '.join(SUFFIXES)}, got suffix {path.suffix!r}"
        )
    if path.suffix in {".csv", ".tsv"}:
        values, names = values_of(path, text_rows(path), missing)
    elif path.suffix == ".parquet":
        values, names = _read_parquet(path)
    else:
        values, names = _read_numpy(path)
    if values.ndim != 2 or 0 in values.shape:
        raise PickbestError(
            f"{path}: a table needs at least one round and one arm, got shape {values.shape}"
        )
    return values, names


def text_rows(path: Path) -> list[list[str]]:
    """The cells of a .csv or .tsv file."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            delimiter = "\t" if path.suffix == ".tsv" else ","
            rows = [row for row in csv.reader(file, delimiter=delimiter) if any(row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise PickbestError(f"{path}: not a text table ({error})") from error
    if not rows:
        raise PickbestError(f"{path}: the file is empty; a table needs at least one row")
    return rows


def values_of(
    path: Path, rows: list[list[str]], missing: bool = False
) -> tuple[FloatArray, tuple[str, ...]]:
    """(values, names of arms, if any) of cells of text; see `read_table`."""
    if missing:
        rows = [[cell if cell.strip() else "nan" for cell in row] for row in rows]
    header = rows.pop(0) if not all(_is_number(cell) for cell in rows[0][1:] or rows[0]) else None
    if not rows:
        raise PickbestError(f"{path}: there is a header but no round; add one row per round")
    width = len(header or rows[0])
    for number, row in enumerate(rows, start=2 if header else 1):
        if len(row) != width:
            raise PickbestError(f"{path}: row {number} has {len(row)} cells, expected {width}")
    labelled = not any(_is_number(row[0]) for row in rows)
    first = 1 if labelled else 0
    values = np.empty((len(rows), width - first))
    for index, row in enumerate(rows):
        for column, cell in enumerate(row[first:]):
            if not _is_number(cell):
                number = index + (2 if header else 1)
                raise PickbestError(
                    f"{path}: row {number}, column {column + first + 1} must be a number, "
                    f"got {cell!r}"
                )
            values[index, column] = float(cell)
    names = tuple(cell.strip() for cell in header[first:]) if header else ()
    return values, names


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _read_parquet(path: Path) -> tuple[FloatArray, tuple[str, ...]]:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingExtraError("pyarrow", "data", "reading Parquet tables") from error
    try:
        file = parquet.ParquetFile(
            path, thrift_string_size_limit=10**7, thrift_container_size_limit=10**6
        )
        size = path.stat().st_size
        rows, width = file.metadata.num_rows, len(file.schema_arrow)
        if rows < 0 or rows * width > min(MOST_CELLS, MOST_UNPACKED * (size + 10_000)):
            raise PickbestError(f"{path}: {rows} rows of {width} columns cannot be in {size} bytes")
        kinds = file.schema_arrow.types
        first = 0 if kinds and _is_numeric(kinds[0], arrow) else 1
        names = tuple(file.schema_arrow.names[first:])
        for name, kind in zip(names, kinds[first:], strict=True):
            if not _is_numeric(kind, arrow):
                raise PickbestError(f"{path}: column {name!r} must hold numbers")
        table = file.read(use_threads=False)
        values = [table.column(n).to_numpy().astype(np.float64) for n in range(first, len(kinds))]
    except PickbestError:
        raise
    except (arrow.ArrowException, OSError, ValueError, TypeError, OverflowError) as error:
        raise PickbestError(f"{path}: not a readable Parquet file ({error})") from error
    return np.stack(values, axis=1) if values else np.empty((0, 0)), names


def _is_numeric(kind: object, arrow: object) -> bool:
    types = arrow.types  # type: ignore[attr-defined]
    return bool(types.is_floating(kind) or types.is_integer(kind))


def _read_numpy(path: Path) -> tuple[FloatArray, tuple[str, ...]]:
    """Sizes are taken from the bytes that are there, never from what a header promises."""
    try:
        content = path.read_bytes()
        if path.suffix == ".npy":
            loaded = array_from_npy(content)
        else:
            arrays = arrays_from_npz(content, MOST_UNPACKED * (len(content) + 10_000))
            if len(arrays) != 1:
                raise PickbestError(
                    f"an npz table must hold exactly one array, got {sorted(arrays)}"
                )
            (loaded,) = arrays.values()
    except OSError as error:
        raise PickbestError(f"{path}: cannot be read ({error.strerror})") from error
    except PickbestError as error:
        raise PickbestError(f"{path}: not a readable NumPy table ({error})") from error
    return loaded.astype(np.float64), ()
