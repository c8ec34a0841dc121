"""What a report is made of, as data: text, verdicts, tables and figures in sections.

Pages fill it in and renderers read it: neither side knows the other. Text may
use **bold**, `code` and [links](#part-name).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

Cell = str | float | int | None

BADGES = {True: "holds", False: "does not hold", None: "note"}
"""What a verdict says, in a word or two."""


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

    look: the name of a learner or benchmark, which has the same colour everywhere, or a colour
        such as "#440154".
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
    """A plot; `name` is its file name, `alt` says what it shows, for readers who cannot see it."""

    name: str
    caption: str
    alt: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    log_x: bool = False
    log_y: bool = False


Block = Text | Verdict | Table | Figure


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
    command: str = ""
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
