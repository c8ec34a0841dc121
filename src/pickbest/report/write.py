"""A report as files: figures, CSV tables, and one page that needs none of them."""

from collections.abc import Iterable
from pathlib import Path

from pickbest.core.savefile import write_atomically
from pickbest.core.text import csv_text
from pickbest.report.document import Column, Figure, Report, Table
from pickbest.report.figures import draw_all
from pickbest.report.html import to_html
from pickbest.report.plots import need_matplotlib, need_package

PAGE = "report.html"


def need_packages() -> None:
    """Say before any work is done that a package is missing."""
    need_matplotlib("the report")
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
