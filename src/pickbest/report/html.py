"""A report as files: figures, CSV tables, and one HTML page that needs none of them.

The page's looks are templates/report.html.j2 and the sheets in STYLE.
"""

import base64
import re
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from itertools import groupby
from pathlib import Path

from pickbest.core.savefile import write_atomically
from pickbest.core.text import csv_text
from pickbest.report.document import BADGES, Column, Figure, Report, Table, shown
from pickbest.report.figures import draw_all
from pickbest.report.plots import need_package

# The first is what all pages share: the portfolio's service serves it as a file.
STYLE = ("portfolio/service/static/style.css", "report/templates/report.css")
PAGE = "report.html"
_KINDS = {True: "yes", False: "no", None: "plain"}


def need_packages() -> None:
    """Say before any work is done that a package is missing."""
    need_package("matplotlib", "plot", "the report")
    need_package("jinja2", "report", "the page")


def write_report(report: Report, out: Path) -> Path:
    """Write all files into `out`; returns the page's path."""
    out.mkdir(parents=True, exist_ok=True)
    blocks = [block for section in report.sections for block in section.blocks]
    draw_all((block for block in blocks if isinstance(block, Figure)), out / "figures")
    write_tables((block for block in blocks if isinstance(block, Table)), out / "tables")
    write_atomically(out / PAGE, to_html(report, out / "figures").encode())
    return out / PAGE


def to_csv(table: Table) -> str:
    """A table with all digits."""
    return csv_text([map(heading, table.columns), *table.rows])


def write_tables(tables: Iterable[Table], folder: Path) -> None:
    """Write NAME.csv for every table."""
    folder.mkdir(parents=True, exist_ok=True)
    for table in tables:
        write_atomically(folder / f"{table.name}.csv", to_csv(table).encode())


def heading(column: Column) -> str:
    """A column's name with its group, where it has one."""
    return f"{column.group}: {column.label}" if column.group else column.label


def to_html(report: Report, figures: Path) -> str:
    """The whole page; `figures` is the folder with an SVG file for every figure."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def image(figure: Figure) -> str:
        content = (figures / f"{figure.name}.svg").read_bytes()
        return f"data:image/svg+xml;base64,{base64.b64encode(content).decode()}"

    environment = Environment(
        loader=PackageLoader("pickbest.report"),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "inline": lambda text: Markup(inline(text)),
        "escaped": lambda text: Markup(escape(text)),
        "classes": lambda table, column, row=None: Markup(_classes(table, column, row)),
        "groups": _groups,
        "image": image,
        "kind": lambda block: type(block).__name__,
        "shown": shown,
    }
    style = "".join((files("pickbest") / sheet).read_text(encoding="utf-8") for sheet in STYLE)
    return environment.get_template("report.html.j2").render(
        report=report,
        style=Markup(style),
        verdicts=report.verdicts,
        findings=findings_of(report),
        badges=BADGES,
        kinds=_KINDS,
    )


def findings_of(report: Report) -> list[str]:
    """All sentences for "What we found", in the report's order."""
    return [sentence for section in report.sections for sentence in section.findings]


def inline(text: str) -> str:
    """Bold, code, links, powers, roots and indices as HTML; everything else is escaped.

    >>> inline("a **b** `c<d` [e](#f)")
    'a <strong>b</strong> <code>c&lt;d</code> <a href="#f">e</a>'
    >>> inline("OG_hybrid: T^(1/(B+1)), 2^k, sqrt(T)")
    'OG<sub>hybrid</sub>: T<sup>1/(B+1)</sup>, 2<sup>k</sup>, √(T)'
    """
    pieces = re.split(r"(`[^`]+`)", escape(text, quote=False))
    return "".join(
        f"<code>{piece[1:-1]}</code>" if piece.startswith("`") else _typeset(piece)
        for piece in pieces
    )


def _typeset(text: str) -> str:
    text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text)
    text = re.sub(r"\[([^\]]+)\]\((#[\w-]+)\)", r'<a href="\2">\1</a>', text)
    text = re.sub(r"\^\(((?:[^()]|\([^()]*\))+)\)", r"<sup>\1</sup>", text)
    text = re.sub(r"\^(−?[\w.]*\w)", r"<sup>\1</sup>", text)
    text = text.replace("sqrt(", "√(").replace("OG_hybrid", "OG<sub>hybrid</sub>")
    text = text.replace("η_B", "η<sub>B</sub>")
    text = re.sub(r"(?<=[ (])-(?=[\d.])", "−", text)
    # "B = 4" and "(6, 3)" stay on one line.
    text = re.sub(r"(?<=\w) = (?=[−+\d.⌈])", "\u00a0=\u00a0", text)
    return re.sub(r"(\(\w), (\w\))", "\\1,\u00a0\\2", text)


def _groups(table: Table) -> list[tuple[str, int]]:
    """(heading, columns under it), from left to right."""
    grouped = groupby(table.columns, key=lambda column: column.group)
    return [(group, len(list(columns))) for group, columns in grouped]


def _classes(table: Table, column: int, row: int | None) -> str:
    """The attribute `class` of a cell, or of a heading where there is no row."""
    names = ["marked"] if (row, column) in table.marked else []
    if column and table.columns[column].group != table.columns[column - 1].group:
        names.append("first")
    if any(isinstance(cells[column], str) for cells in table.rows):
        names.append("text")
    return f' class="{" ".join(names)}"' if names else ""
