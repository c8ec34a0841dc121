"""Data sets by name: a folder of tables, one table, the package pmlb, or scikit-learn's own."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pickbest.core import (
    FloatArray,
    IntArray,
    MissingExtraError,
    PickbestError,
    unknown_name,
)
from pickbest.tuning.encoding import CATEGORY_RULE, encode

SUFFIXES = (".tsv.gz", ".csv.gz", ".tsv", ".csv")
EMBEDDED = ("breast_cancer", "digits", "iris", "wine")
FEWEST_MEMBERS = 7
CAP_SEED = 0
RULES = {
    "rows": "a stratified sample (largest remainders), drawn with a fixed seed",
    "classes": f"classes with fewer than {FEWEST_MEMBERS} rows in the sample are left out",
    "categories": CATEGORY_RULE,
    "features": "whole columns in a fixed random order, as long as their features fit",
    "missing": "the median of the training part; a category of its own",
}

Cells = Callable[[], Iterator[list[str]]]
"""Starts reading a table from its beginning: the header, then the rows."""


@dataclass(frozen=True)
class Caps:
    """The most rows and (encoded) features that are kept of a data set."""

    rows: int = 1000
    features: int = 100


DEFAULT_CAPS = Caps()


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
    """Names of the data sets that `data` offers: a folder, a file, "embedded" or "pmlb"."""
    if data == "embedded":
        return list(EMBEDDED)
    if data == "pmlb":
        return sorted(_pmlb().classification_dataset_names)
    path = Path(data)
    if path.is_file():
        return [_name_of(path)]
    if not path.is_dir():
        raise PickbestError(
            f"data must be a folder, a file, 'embedded' or 'pmlb', and {data!r} is none of them"
        )
    names = sorted({_name_of(file) for file in path.iterdir() if _is_table(file)})
    if not names:
        raise PickbestError(
            f"{path}: no data set here; a folder holds NAME{' or NAME'.join(SUFFIXES)}"
        )
    return names


def load_dataset(data: str, name: str, label: str = "target", caps: Caps = DEFAULT_CAPS) -> Dataset:
    """The data set of that name, capped and encoded: the same bits on every machine."""
    if name not in dataset_names(data):
        raise unknown_name("data set", name, dataset_names(data))
    return prepare(name, _cells(data, name), label, caps)


def prepare(name: str, cells: Cells, label: str, caps: Caps) -> Dataset:
    """Cap the rows, leave rare classes out, encode and cap the columns."""
    header, place = _header(name, cells, label)
    labels = _labels(name, cells, place, len(header))
    kept = sample_rows(labels, caps.rows)
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
    features, left_out = encode(columns, caps.features, np.random.default_rng(CAP_SEED))
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


def _header(name: str, cells: Cells, label: str) -> tuple[list[str], int]:
    header = next(cells(), [])
    if label not in header:
        raise PickbestError(f"{name}: there is no column {label!r} (columns: {', '.join(header)})")
    # As pandas reads it: of columns with the same name, the first keeps it.
    unique = [n if n not in header[:k] else f"{n}.{k}" for k, n in enumerate(header)]
    return unique, header.index(label)


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


def _cells(data: str, name: str) -> Cells:
    if data == "embedded":
        return lambda: _embedded(name)
    if data == "pmlb":
        cache = Path.home() / ".cache" / "pickbest" / "pmlb"
        _pmlb().fetch_data(name, local_cache_dir=str(cache))
        return lambda: _read(cache / name / f"{name}.tsv.gz")
    path = Path(data)
    if path.is_dir():
        path = next(path / (name + end) for end in SUFFIXES if (path / (name + end)).is_file())
    return lambda: _read(path)


def _read(path: Path) -> Iterator[list[str]]:
    delimiter = "\t" if ".tsv" in path.suffixes else ","
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
            yield from csv.reader(text, delimiter=delimiter)
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise PickbestError(f"{path}: not a readable table ({error})") from error


def _embedded(name: str) -> Iterator[list[str]]:
    try:
        from sklearn import datasets
    except ImportError as error:
        raise MissingExtraError("scikit-learn", "tuning", "measuring") from error
    features, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
    yield [f"x{column}" for column in range(features.shape[1])] + ["target"]
    for row, label in zip(features.tolist(), labels.tolist(), strict=True):
        yield [repr(value) for value in row] + [str(label)]


def _pmlb() -> Any:
    try:
        import pmlb
    except ImportError as error:
        raise MissingExtraError("pmlb", "tuning", "--data pmlb") from error
    return pmlb


def _is_table(path: Path) -> bool:
    return path.name.endswith(SUFFIXES) and path.name != "index.csv"


def _name_of(path: Path) -> str:
    for suffix in SUFFIXES:
        if path.name.endswith(suffix):
            return path.name.removesuffix(suffix)
    raise PickbestError(f"{path}: a data set must end in {', '.join(SUFFIXES)}")
