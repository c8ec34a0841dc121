"""What a report is made of, as data: text, verdicts, tables and figures in sections.

Experiments fill it in, renderers read it, and it is kept as JSON; so neither side knows of
the other. Text may use **bold**, `code` and [links](#part-name).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

Cell = str | float | int | None


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Verdict:
    """One sentence that says whether a statement was met, computed from the numbers.

    holds: None where the sentence reports and does not judge.
    """

    statement: str
    text: str
    holds: bool | None = None


@dataclass(frozen=True)
class Column:
    """How a column of a table is shown.

    digits: after the point; None for text and whole numbers.
    group: a heading that neighbouring columns share.
    """

    label: str
    digits: int | None = None
    signed: bool = False
    group: str = ""


def alike(*labels: str, digits: int | None = None, group: str = "") -> list[Column]:
    """Columns that are shown alike."""
    return [Column(label, digits, group=group) for label in labels]


@dataclass(frozen=True)
class Table:
    """A table; `name` is its file name, `marked` lists (row, column) of cells to point out.

    wraps: its cells are sentences, which may take several lines.
    """

    name: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    marked: Sequence[tuple[int, int]] = ()
    wraps: bool = False


@dataclass(frozen=True)
class Series:
    """One line, or one set of points, of a figure.

    look: the name of a learner or benchmark, which has the same colour everywhere, or
        "shade 2/5": the second of five steps of one quantity.
    line: solid, dashed, dotted or none. spread: half the length of the error bars.
    label: written at the end of the line; empty: none.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    look: str
    line: str = "solid"
    marker: str = "o"
    spread: Sequence[float] | None = None


@dataclass(frozen=True)
class Figure:
    """A plot; `name` is its file name, `alt` says what it shows to who cannot see it."""

    name: str
    caption: str
    alt: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    log_x: bool = False
    log_y: bool = False


Block = Text | Verdict | Table | Figure
_KINDS: dict[str, type[Block]] = {kind.__name__: kind for kind in (Text, Verdict, Table, Figure)}


@dataclass(frozen=True)
class Section:
    """The result of one part; `findings` are sentences for the summary of what we found."""

    name: str
    title: str
    blocks: Sequence[Block]
    findings: Sequence[str] = ()


@dataclass(frozen=True)
class Chapter:
    """Sections under one heading. `missing` says what was left out and how to get it."""

    name: str
    title: str
    intro: str
    sections: Sequence[Section]
    missing: Sequence[str] = ()


@dataclass(frozen=True)
class Report:
    """All that the page shows.

    summary: one paragraph for the first screen. facts: (what, value) pairs about how it was made.
    command: what makes it.
    """

    title: str
    intro: str
    facts: Sequence[tuple[str, str]]
    chapters: Sequence[Chapter] = field(default_factory=tuple)
    command: str = "pickbest reproduce"
    summary: str = ""

    @property
    def sections(self) -> list[Section]:
        return [section for chapter in self.chapters for section in chapter.sections]

    @property
    def verdicts(self) -> list[tuple[Section, Verdict]]:
        """Every verdict with its section, in order."""
        return [
            (section, block)
            for section in self.sections
            for block in section.blocks
            if isinstance(block, Verdict)
        ]


def section_to_json(section: Section) -> str:
    """A section as JSON text; `section_from_json` reads it.

    >>> section = Section("s", "S", [Text("Hello."), Table("t", "T", [Column("B")], [[1]])])
    >>> section_from_json(section_to_json(section)).blocks[0]
    Text(text='Hello.')
    """
    blocks = [{"kind": type(block).__name__, **asdict(block)} for block in section.blocks]
    return json.dumps({**asdict(section), "blocks": blocks}, indent=1, allow_nan=False)


def section_from_json(text: str) -> Section:
    """The section that `section_to_json` wrote; ValueError where it did not."""
    try:
        raw = json.loads(text)
        blocks = [_block(entry) for entry in raw["blocks"]]
        return Section(raw["name"], raw["title"], blocks, raw["findings"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a section: {error!r}") from error


def _block(raw: Mapping[str, Any]) -> Block:
    fields = dict(raw)
    kind = _KINDS[fields.pop("kind")]
    if kind is Table:
        fields["columns"] = [Column(**column) for column in fields["columns"]]
        fields["marked"] = [(row, column) for row, column in fields["marked"]]
    if kind is Figure:
        fields["series"] = [Series(**series) for series in fields["series"]]
    return kind(**fields)


def shown(value: Cell, column: Column) -> str:
    """A cell as text.

    >>> shown(0.57449, Column("mean", 3)), shown(None, Column("z", 1)), shown(12000, Column("T"))
    ('0.574', '–', '12,000')
    """
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    sign = "+" if column.signed else ""
    digits = 0 if column.digits is None else column.digits
    return f"{value:{sign},.{digits}f}".replace("-", "−")


def listed(items: Sequence[str]) -> str:
    """Words in a row.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"
