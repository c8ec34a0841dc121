"""Tables of costs in files: CSV, TSV (also compressed) and NumPy's."""

import csv
import gzip
import io
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pickbest.core import FloatArray, PickbestError, check_costs
from pickbest.core.savefile import array_from_npy
from pickbest.environments.tables import Arms, Columns, Table, choose_arms, is_number

# How many times larger than its file a table may be; a file that unfolds further is none.
MOST_UNPACKED = 1_000
TEXT_SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
SUFFIXES = (*TEXT_SUFFIXES, ".npy")


def read_table(
    path: str | Path, rewards: bool = False, label: str | None = None, columns: Sequence[str] = ()
) -> Table:
    """Read a table of costs, or of rewards (then cost = 1 - reward), one row per round.

    A first row of text names the arms. A first column of identifiers names the rows and is no
    arm: texts, or whole numbers of which some are beyond 1, all different.
    label: the column that names the rows, chosen by hand. columns: the arms, by hand.
    """
    path = Path(path)
    if not path.exists():
        raise PickbestError(f"{path}: no such file")
    if not path.name.endswith(SUFFIXES):
        raise PickbestError(
            f"{path}: a table must be one of {', '.join(SUFFIXES)}, got suffix {path.suffix!r}"
        )
    if path.suffix == ".npy":
        if label is not None or columns:
            raise PickbestError(f"{path}: the columns of an array have no names to choose by")
        arms: Arms = (_read_numpy(path), (), ())
    else:
        arms = choose_arms(read_text_table(path), str(path), label, columns)
    values, names, rows = arms
    if values.ndim != 2 or 0 in values.shape:
        raise PickbestError(
            f"{path}: a table needs at least one round and one arm, got shape {values.shape}"
        )
    kind = "rewards" if rewards else "costs"
    if not rewards and values.min() >= 0.0 and 1.0 < values.max() < np.inf:
        raise PickbestError(
            f"{path}: costs must be between 0 and 1, got {values.max():g}. If these are "
            f"seconds, use `pickbest replay {path} --deadline SECONDS`; otherwise divide by the "
            "largest value that matters"
        )
    checked = check_costs(values, values.shape, name=f"{path}: {kind}")
    return Table(1.0 - checked if rewards else checked, names, str(path), rows)


def read_text_table(path: Path) -> Columns:
    """The columns of a .csv or .tsv file, packed or not, with names where it has a header."""
    try:
        text = unpacked(path).decode("utf-8-sig")
        separator = "\t" if ".tsv" in path.suffixes else ","
        cells = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        rows = [row for row in cells if any(row)]
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise PickbestError(f"{path}: not a text table ({error})") from error
    if not rows:
        raise PickbestError(f"{path}: the file is empty; a table needs at least one row")
    header = rows.pop(0) if not all(is_number(cell) for cell in rows[0][1:] or rows[0]) else None
    if not rows:
        raise PickbestError(f"{path}: there is a header but no round; add one row per round")
    width, first_row = len(header or rows[0]), 2 if header else 1
    for number, row in enumerate(rows, start=first_row):
        if len(row) != width:
            raise PickbestError(f"{path}: row {number} has {len(row)} cells, expected {width}")
    names = tuple(cell.strip() for cell in header or ())
    return Columns(list(zip(*rows, strict=True)), names, first_row=first_row)


def unpacked(path: Path) -> bytes:
    """What a file holds, packed or not; PickbestError where it unfolds too far."""
    content = path.read_bytes()
    if path.suffix != ".gz":
        return content
    most = MOST_UNPACKED * (len(content) + 10_000)
    with gzip.open(io.BytesIO(content)) as file:
        whole = file.read(most + 1)
    if len(whole) > most:
        raise PickbestError(f"{path}: {len(content)} bytes unfold to more than {most}")
    return whole


def _read_numpy(path: Path) -> FloatArray:
    """Sizes are taken from the bytes that are there, never from what a header promises."""
    try:
        return array_from_npy(path.read_bytes()).astype(np.float64)
    except OSError as error:
        raise PickbestError(f"{path}: cannot be read ({error.strerror})") from error
    except PickbestError as error:
        raise PickbestError(f"{path}: not a readable NumPy table ({error})") from error
