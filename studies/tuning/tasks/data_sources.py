"""Data sets by name: a folder of tables, or scikit-learn's own."""

import csv
import gzip
import io
from collections.abc import Iterator
from pathlib import Path

from pickbest.core import PickbestError, unknown_name
from pickbest.core.errors import load_extra
from studies.tuning.tasks.dataset import DEFAULT_CAPS, LABEL, Caps, Dataset, prepare

SUFFIXES = (".tsv.gz", ".csv.gz", ".tsv", ".csv")
EMBEDDED = ("breast_cancer", "digits", "iris", "wine")


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


def load_dataset(data: str, name: str, caps: Caps = DEFAULT_CAPS) -> Dataset:
    """The data set of that name, capped and encoded: the same bits on every machine."""
    if name not in dataset_names(data):
        raise unknown_name("data set", name, dataset_names(data))
    if data == "embedded":
        return prepare(name, lambda: _embedded(name), caps)
    places = [Path(data) / (name + end) for end in SUFFIXES]
    place = next(path for path in places if path.is_file())
    return prepare(name, lambda: _read(place), caps)


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
