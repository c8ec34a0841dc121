"""A report as files: figures, CSV tables, Markdown, and one page that needs none of them."""

from pathlib import Path

from pickbest.core.savefile import write_atomically
from pickbest.report.document import Figure, Report, Table
from pickbest.report.figures import draw_all
from pickbest.report.html import to_html
from pickbest.report.markdown import to_markdown, write_tables
from pickbest.report.plots import need_matplotlib, need_package

PAGE, MARKDOWN = "report.html", "report.md"


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
    write_atomically(out / MARKDOWN, to_markdown(report).encode())
    write_atomically(out / PAGE, to_html(report, out / "figures").encode())
    return out / PAGE
