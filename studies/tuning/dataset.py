"""Data sets for models, from a folder of tables or scikit-learn's own: capped and encoded.

The same bits on every machine.
"""

import csv
import gzip
import hashlib
import io
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pickbest.core import FloatArray, IntArray, PickbestError, unknown_name
from pickbest.core.errors import load_extra

SUFFIXES = (".tsv.gz", ".csv.gz", ".tsv", ".csv")
EMBEDDED = ("breast_cancer", "digits", "iris", "wine")
# The most rows and (encoded) features that are kept of a data set.
CAPS = {"rows": 1000, "features": 100}

MISSING = frozenset({"", "?", "na", "nan", "null", "none"})
MOST_CATEGORIES = 10
FEWEST_MEMBERS = 7
CAP_SEED = 0
# The column to predict.
LABEL = "target"
DATA_RULES = {
    "rows": "a stratified sample (largest remainders), drawn with a fixed seed",
    "classes": f"classes with fewer than {FEWEST_MEMBERS} rows in the sample are left out",
    "categories": "a column is a category, one-hot, if a cell of it is no number, or if it holds "
    f"between 3 and {MOST_CATEGORIES} different values that are all integers; columns with one "
    "value are left out",
    "features": "whole columns in a fixed random order, as long as their features fit",
    "missing": "the median of the training part; a category of its own",
}

Cells = Callable[[], Iterator[list[str]]]
"""Starts reading a table from its beginning: the header, then the rows."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A capped and encoded data set.

    features: (rows, features), NaN where a number is missing. labels: (rows,) indices into
    classes. facts: what was left out, for the provenance.
    """

    name: str
    features: FloatArray
    labels: IntArray
    classes: tuple[str, ...]
    facts: dict[str, Any]

    def checksum(self) -> str:
        """SHA-256 of what the models see."""
        digest = hashlib.sha256(repr((self.features.shape, self.classes)).encode())
        digest.update(np.ascontiguousarray(self.features).tobytes())
        digest.update(self.labels.tobytes())
        return digest.hexdigest()


def dataset_names(data: str) -> list[str]:
    """Names of the data sets that `data` offers: a folder, or "embedded"."""
    if data == "embedded":
        return list(EMBEDDED)
    if not (folder := Path(data)).is_dir():
        raise PickbestError(f"data must be a folder or 'embedded', and {data!r} is neither")
    files = [path.name for path in folder.iterdir() if path.name != "index.csv"]
    names = sorted({name.removesuffix(end) for name in files for end in SUFFIXES
                    if name.endswith(end)})  # fmt: skip
    if not names:
        raise PickbestError(
            f"{folder}: no data set here; a folder holds NAME{' or NAME'.join(SUFFIXES)}"
        )
    return names


def load_dataset(data: str, name: str) -> Dataset:
    """The data set of that name, capped and encoded."""
    if name not in dataset_names(data):
        raise unknown_name("data set", name, dataset_names(data))
    if data == "embedded":
        return prepare(name, lambda: _embedded(name))
    places = [Path(data) / (name + end) for end in SUFFIXES]
    place = next(path for path in places if path.is_file())
    return prepare(name, lambda: _read(place))


def _read(path: Path) -> Iterator[list[str]]:
    delimiter = "\t" if ".tsv" in path.suffixes else ","
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
            yield from csv.reader(text, delimiter=delimiter)
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise PickbestError(f"{path}: not a readable table ({error})") from error


def _embedded(name: str) -> Iterator[list[str]]:
    datasets = load_extra("sklearn.datasets", "tuning", "measuring", "scikit-learn")
    features, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
    yield [f"x{column}" for column in range(features.shape[1])] + [LABEL]
    for row, label in zip(features.tolist(), labels.tolist(), strict=True):
        yield [repr(value) for value in row] + [str(label)]


def prepare(name: str, cells: Cells) -> Dataset:
    """Cap the rows, leave rare classes out, encode and cap the columns."""
    header, place = _header(name, cells)
    labels = _labels(name, cells, place, len(header))
    kept = sample_rows(labels, CAPS["rows"])
    members = Counter(labels[row] for row in kept)
    classes = tuple(sorted(c for c, count in members.items() if count >= FEWEST_MEMBERS))
    dropped = sorted(set(labels) - set(classes))
    if len(classes) < 2:
        raise PickbestError(
            f"{name}: needs at least 2 classes with {FEWEST_MEMBERS} rows each, got {len(classes)}"
        )
    kept = [row for row in kept if labels[row] in classes]
    wanted = set(kept)
    rows = [row for index, row in enumerate(_body(cells)) if index in wanted]
    columns = {
        column: [row[index] for row in rows]
        for index, column in enumerate(header)
        if index != place
    }
    features, left_out = encode(columns, CAPS["features"], np.random.default_rng(CAP_SEED))
    if not features.shape[1]:
        raise PickbestError(f"{name}: no column is left that has at least two values")
    codes = np.array([classes.index(labels[row]) for row in kept], dtype=np.int64)
    facts = {
        "rows_in_file": len(labels),
        "columns_in_file": len(header) - 1,
        "dropped_classes": dropped,
        "dropped_columns": left_out,
    }
    return Dataset(name, features, codes, classes, facts)


def sample_rows(labels: Sequence[str], most: int) -> list[int]:
    """Rows of a stratified sample of at most `most` rows, in their order."""
    if len(labels) <= most:
        return list(range(len(labels)))
    members: dict[str, list[int]] = {}
    for row, label in enumerate(labels):
        members.setdefault(label, []).append(row)
    names = sorted(members)
    exact = [len(members[name]) * most / len(labels) for name in names]
    quota = [int(share) for share in exact]
    by_remainder = sorted(range(len(names)), key=lambda k: (quota[k] - exact[k], k))
    for k in by_remainder[: most - sum(quota)]:
        quota[k] += 1
    rng = np.random.default_rng(CAP_SEED)
    chosen: list[int] = []
    for name, count in zip(names, quota, strict=True):
        order = rng.permutation(len(members[name]))[:count]
        chosen += [members[name][k] for k in order]
    return sorted(chosen)


def _header(name: str, cells: Cells) -> tuple[list[str], int]:
    header = next(cells(), [])
    if LABEL not in header:
        raise PickbestError(f"{name}: there is no column {LABEL!r} (columns: {', '.join(header)})")
    # As pandas reads it: of columns with the same name, the first keeps it.
    unique = [n if n not in header[:k] else f"{n}.{k}" for k, n in enumerate(header)]
    return unique, header.index(LABEL)


def _labels(name: str, cells: Cells, place: int, width: int) -> list[str]:
    labels = []
    for number, row in enumerate(_body(cells), start=2):
        if len(row) != width:
            raise PickbestError(f"{name}: row {number} has {len(row)} cells, expected {width}")
        labels.append(row[place])
    return labels


def _body(cells: Cells) -> Iterator[list[str]]:
    rows = cells()
    next(rows)
    return (row for row in rows if row)


def encode(
    columns: Mapping[str, Sequence[str]], most: int, rng: np.random.Generator
) -> tuple[FloatArray, list[str]]:
    """(rows, features) of at most `most` features, and the names of the columns left out."""
    encoded = {name: encode_column(cells) for name, cells in columns.items()}
    blocks = {name: block for name, block in encoded.items() if block is not None}
    if sum(block.shape[1] for block in blocks.values()) > most:
        blocks = _that_fit(blocks, most, rng)
    rows = len(next(iter(columns.values()), ()))
    features = np.hstack(list(blocks.values())) if blocks else np.empty((rows, 0))
    return features, [name for name in columns if name not in blocks]


def encode_column(cells: Sequence[str]) -> FloatArray | None:
    """(rows, features) of a column, NaN where a number is missing; None if it is constant."""
    values = ["" if cell.strip().lower() in MISSING else cell.strip() for cell in cells]
    numbers = [_number(value) for value in values]
    if any(number is None for number in numbers):
        return _one_hot(values) if len(set(values)) > 1 else None
    known = {number for number in numbers if number is not None and not math.isnan(number)}
    if len(known) < 2:
        return None
    if 3 <= len(known) <= MOST_CATEGORIES and all(number.is_integer() for number in known):
        return _one_hot([repr(number) for number in numbers])
    return np.array(numbers, dtype=np.float64)[:, None]


def _that_fit(
    blocks: dict[str, FloatArray], most: int, rng: np.random.Generator
) -> dict[str, FloatArray]:
    """Whole columns, taken in a random order as long as they fit, in their own order."""
    names, kept, used = list(blocks), set(), 0
    for place in rng.permutation(len(names)):
        width = blocks[names[place]].shape[1]
        if used + width <= most:
            kept.add(names[place])
            used += width
    return {name: block for name, block in blocks.items() if name in kept}


def _number(value: str) -> float | None:
    """A finite number, NaN for a missing one, None for text."""
    if not value:
        return math.nan
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else math.nan


def _one_hot(values: Sequence[str]) -> FloatArray:
    names = sorted(set(values))
    return np.array([[float(value == name) for name in names] for value in values])
