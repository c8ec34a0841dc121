"""ARFF, the tables of Weka and of ASlib, read with the standard library and NumPy."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pickbest.core import FloatArray, PickbestError

Cell = str | None

QUOTED = r"""'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*\""""
CELL = re.compile(rf"\s*(?:({QUOTED})|([^,]*))\s*")
ATTRIBUTE = re.compile(
    rf"@attribute\s+({QUOTED}|[^'\"\s].*?)"
    rf"(?:\s*\{{(.*)\}}|\s+(numeric|real|integer|string|date(?:\s+(?:{QUOTED}))?))"
    r"\s*[,;]?\s*(?:%.*)?$",
    re.IGNORECASE,
)
ESCAPED = re.compile(r"\\(.)|''|\"\"", re.DOTALL)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "'": "'", '"': '"', "\\": "\\", "%": "%"}
NUMERIC = frozenset({"numeric", "real", "integer"})
# R writes NA; some tools leave the cell empty.
NO_NUMBER = frozenset({"", "NA"})


@dataclass(frozen=True)
class Attribute:
    """A column. values: what a nominal column may hold; empty for other kinds."""

    name: str
    numeric: bool
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Relation:
    """A table of text; None where a value is missing ('?').

    lines: where in the file each row stands, for messages.
    """

    path: Path
    attributes: tuple[Attribute, ...]
    rows: list[list[Cell]]
    lines: list[int]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return tuple(attribute.name for attribute in self.attributes)

    def place(self, name: str) -> int:
        """Where a column stands; -1 if there is none. Case decides only between two."""
        if name in self.names:
            return self.names.index(name)
        lowered = [known.lower() for known in self.names]
        return lowered.index(name.lower()) if name.lower() in lowered else -1

    def texts(self, column: int) -> list[Cell]:
        """The cells of a column."""
        return [row[column] for row in self.rows]

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

    def coded(self, column: int) -> FloatArray:
        """As numbers, where a nominal or text value is its place among the column's values."""
        attribute, cells = self.attributes[column], self.texts(column)
        if attribute.numeric:
            return self.numbers(column)
        known = attribute.values or sorted({cell for cell in cells if cell is not None})
        codes = {value: code for code, value in enumerate(known)}
        return np.array(
            [np.nan if cell is None else codes.setdefault(cell, len(codes)) for cell in cells],
            dtype=np.float64,
        )


def read_arff(path: str | Path) -> Relation:
    """Read a dense ARFF file: keywords in any case, quoted names, comments, '?' for missing."""
    path = Path(path)
    attributes: list[Attribute] = []
    rows: list[list[Cell]] = []
    places: list[int] = []
    in_data = False
    for number, line in enumerate(map(str.strip, read_text(path).split("\n")), start=1):
        if not line or line.startswith("%"):
            continue
        keyword = line.split(maxsplit=1)[0].lower()
        try:
            if in_data:
                rows.append(_row(line, len(attributes)))
                places.append(number)
            elif keyword.startswith("@data"):
                in_data = True
                if not attributes:
                    raise ValueError("there is no @attribute line before @data")
            elif keyword == "@attribute":
                attributes.append(_attribute(line))
            elif keyword != "@relation":
                raise ValueError(f"expected @attribute or @data, got {line[:60]!r}")
        except ValueError as error:
            raise PickbestError(f"{path}, line {number}: {error}") from error
    if not in_data:
        raise PickbestError(f"{path}: there is no @data line; the file is empty or cut short")
    return Relation(path, tuple(attributes), rows, places)


def read_text(path: Path) -> str:
    """A text file of any line ending, in UTF-8 or, failing that, Latin-1."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise PickbestError(f"{path}: cannot be read ({error.strerror})") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def split_cells(line: str) -> list[Cell]:
    """The cells of a row; ValueError where a quote is not closed.

    >>> split_cells(r"'a, b', ?, it\'s, 'it\\'s', '?'")
    ['a, b', None, "it's", "it's", '?']
    """
    if "'" not in line and '"' not in line:
        return [None if cell == "?" else cell for cell in map(str.strip, line.split(","))]
    cells: list[Cell] = []
    position = 0
    while True:
        match = CELL.match(line, position)
        if match is None or (match[2] or "").startswith(("'", '"')):
            raise ValueError("a quote is not closed")
        plain = (match[2] or "").strip()
        cells.append(unquoted(match[1]) if match[1] else None if plain == "?" else plain)
        position = match.end()
        if position == len(line):
            return cells
        if line[position] != ",":
            raise ValueError("a comma must follow a quoted value")
        position += 1


def unquoted(text: str) -> str:
    """What a quoted name or value says; other text as it is."""
    if text[:1] not in {"'", '"'}:
        return text

    def plain(match: re.Match[str]) -> str:
        if match[1] is None:
            return text[0] if match[0][0] == text[0] else match[0]
        return ESCAPES.get(match[1], match[0])

    return ESCAPED.sub(plain, text[1:-1])


def _attribute(line: str) -> Attribute:
    match = ATTRIBUTE.match(line)
    if match is None:
        raise ValueError(
            "an attribute must be numeric, real, integer, string, date or {value, …}, "
            f"got {line[:60]!r}"
        )
    name, values, kind = unquoted(match[1]), match[2], (match[3] or "").lower()
    if values is None:
        return Attribute(name, kind in NUMERIC)
    return Attribute(name, False, tuple(cell for cell in split_cells(values) if cell))


def _row(line: str, width: int) -> list[Cell]:
    if line.startswith("{") and line.endswith("}"):
        raise ValueError("sparse rows {index value, …} are not read; write all cells")
    cells = split_cells(line)
    if len(cells) == width + 1 and cells[-1] == "":
        cells.pop()
    if len(cells) != width:
        raise ValueError(f"expected {width} cells, one per attribute, got {len(cells)}")
    return cells
