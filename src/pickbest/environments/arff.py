"""ARFF, the tables of Weka and of ASlib, read with the standard library and NumPy."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pickbest.core import FloatArray, PickbestError

Cell = str | None

QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
SPACE, CELL = re.compile(r"\s*"), re.compile(rf"(?:({QUOTED})\s*|([^,'\"]*))(,|$)")
ATTRIBUTE = re.compile(
    rf"@attribute\s+({QUOTED}|\S+)\s*(?:\s(?:numeric|real|integer|string)|{{.*}})", re.IGNORECASE
)
# R writes NA; some tools leave the cell empty.
NO_NUMBER = frozenset({"", "NA"})


@dataclass(frozen=True)
class Relation:
    """A table of text; None where a value is missing ('?').

    names: of the columns. lines: where in the file each row stands, for messages.
    """

    path: Path
    names: tuple[str, ...]
    rows: list[list[Cell]]
    lines: list[int]

    def place(self, column: str) -> int:
        """Where a column stands, its name in any case."""
        lowered = [known.lower() for known in self.names]
        if column.lower() not in lowered:
            names = ", ".join(self.names)
            raise PickbestError(f"{self.path}: there must be an attribute {column}, got {names}")
        return lowered.index(column.lower())

    def texts(self, column: int) -> list[Cell]:
        """The cells of a column."""
        return [row[column] for row in self.rows]

    def labels(self, column: int) -> list[str]:
        """The cells of a column, none of which may be missing."""
        for row, line in zip(self.rows, self.lines, strict=True):
            if not row[column]:
                name = self.names[column]
                raise PickbestError(f"{self.path}, line {line}: {name} must not be missing")
        return [cell for cell in self.texts(column) if cell]

    def numbers(self, column: int) -> FloatArray:
        """A column as numbers, NaN where missing."""
        values = np.full(len(self.rows), np.nan)
        for row, cell in enumerate(self.texts(column)):
            if cell is not None and cell not in NO_NUMBER:
                try:
                    values[row] = float(cell)
                except ValueError:
                    raise PickbestError(
                        f"{self.path}, line {self.lines[row]}: {self.names[column]} must be a "
                        f"number or ?, got {cell!r}"
                    ) from None
        return values


def read_arff(path: str | Path) -> Relation:
    """Read a dense ARFF file: keywords in any case, quoted names, comments, '?' for missing."""
    path = Path(path)
    names: list[str] = []
    rows: list[list[Cell]] = []
    lines: list[int] = []
    in_data = False
    for number, line in enumerate(map(str.strip, read_text(path).split("\n")), start=1):
        if not line or line.startswith("%"):
            continue
        keyword = line.split(maxsplit=1)[0].lower()
        try:
            if in_data:
                rows.append(split_cells(line))
                lines.append(number)
                if len(rows[-1]) != len(names):
                    raise ValueError(
                        f"expected {len(names)} cells, one per attribute, got {len(rows[-1])}"
                    )
            elif keyword == "@data":
                in_data = True
            elif keyword == "@attribute":
                names.append(_attribute(line))
            elif keyword != "@relation":
                raise ValueError(f"expected @attribute or @data, got {line[:60]!r}")
        except ValueError as error:
            raise PickbestError(f"{path}, line {number}: {error}") from error
    if not in_data:
        raise PickbestError(f"{path}: there is no @data line; the file is empty or cut short")
    return Relation(path, tuple(names), rows, lines)


def read_text(path: Path) -> str:
    """A text file in UTF-8."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise PickbestError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise PickbestError(f"{path}: not a text in UTF-8 ({error})") from error


def split_cells(line: str) -> list[Cell]:
    r"""The cells of a row; ValueError where a quote is not closed.

    >>> split_cells(r"'a, b', ?, plain, 'it\'s', '?'")
    ['a, b', None, 'plain', "it's", '?']
    """
    cells: list[Cell] = []
    position = 0
    while True:
        start = SPACE.match(line, position)
        match = CELL.match(line, start.end() if start else position)
        if match is None:
            raise ValueError("a quote is not closed, or something follows one")
        plain = (match[2] or "").strip()
        cells.append(_unquoted(match[1]) if match[1] else None if plain == "?" else plain)
        position = match.end()
        if not match[3]:
            return cells


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text[:1] in {"'", '"'} else text


def _attribute(line: str) -> str:
    match = ATTRIBUTE.match(line)
    if match is None:
        raise ValueError(
            f"an attribute must be numeric, real, integer, string or {{value, …}}, "
            f"got {line[:60]!r}"
        )
    return _unquoted(match[1])
