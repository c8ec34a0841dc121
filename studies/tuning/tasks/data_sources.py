"""Data sets by name: a folder of tables, one table, the package pmlb, or scikit-learn's own."""

import csv
import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pickbest.core import PickbestError, unknown_name
from pickbest.core.errors import load_extra
from studies.tuning.tasks.dataset import DEFAULT_CAPS, Caps, Cells, Dataset, prepare

SUFFIXES = (".tsv.gz", ".csv.gz", ".tsv", ".csv")
EMBEDDED = ("breast_cancer", "digits", "iris", "wine")


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
    datasets = load_extra("sklearn.datasets", "tuning", "measuring", "scikit-learn")
    features, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
    yield [f"x{column}" for column in range(features.shape[1])] + ["target"]
    for row, label in zip(features.tolist(), labels.tolist(), strict=True):
        yield [repr(value) for value in row] + [str(label)]


def _pmlb() -> Any:
    return load_extra("pmlb", "tuning", "--data pmlb")


def _is_table(path: Path) -> bool:
    return path.name.endswith(SUFFIXES) and path.name != "index.csv"


def _name_of(path: Path) -> str:
    for suffix in SUFFIXES:
        if path.name.endswith(suffix):
            return path.name.removesuffix(suffix)
    raise PickbestError(f"{path}: a data set must end in {', '.join(SUFFIXES)}")
