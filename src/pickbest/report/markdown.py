"""A report as Markdown, and its tables as CSV."""

from collections.abc import Iterable
from pathlib import Path

from pickbest.core.savefile import write_atomically
from pickbest.core.text import csv_text
from pickbest.report.document import Column, Figure, Report, Section, Table, Text, Verdict, shown

BADGES = {True: "holds", False: "does not hold", None: "note"}


def to_markdown(report: Report, figures: str = "figures") -> str:
    """The whole report; images are links into the folder `figures`."""
    lines = [f"# {report.title}", "", report.intro, ""]
    lines += [report.summary, ""] if report.summary else []
    lines += [f"- {name}: {value}" for name, value in report.facts]
    lines += ["", "## In short", "", "| statement | verdict | measured |", "|---|---|---|"]
    lines += [
        f"| [{_cell(verdict.statement)}](#{section.name}) | {BADGES[verdict.holds]} "
        f"| {_cell(verdict.text)} |"
        for section, verdict in report.verdicts
    ]
    for chapter in report.chapters:
        lines += ["", f'<a id="{chapter.name}"></a>', "", f"## {chapter.title}", "", chapter.intro]
        lines += ["", *(f"Left out: {sentence}" for sentence in chapter.missing)]
        if chapter.name == "findings":
            lines += ["", *(f"- {sentence}" for sentence in findings_of(report))]
        for section in chapter.sections:
            lines += ["", *_section(section, figures)]
    return "\n".join(lines) + "\n"


def findings_of(report: Report) -> list[str]:
    """All sentences for "What we found", in the report's order."""
    return [sentence for section in report.sections for sentence in section.findings]


def _section(section: Section, figures: str) -> list[str]:
    lines = [f'<a id="{section.name}"></a>', "", f"### {section.title}"]
    for block in section.blocks:
        lines.append("")
        if isinstance(block, Text):
            lines.append(block.text)
        elif isinstance(block, Verdict):
            lines.append(f"**{block.statement}: {BADGES[block.holds]}.** {block.text}")
        elif isinstance(block, Figure):
            lines += [f"![{block.alt}]({figures}/{block.name}.png)", "", f"*{block.caption}*"]
        else:
            lines += _table(block)
    return lines


def _table(table: Table) -> list[str]:
    heads = [_cell(heading(column)) for column in table.columns]
    rules = ["---" if column.digits is None else "---:" for column in table.columns]
    lines = [f"**{table.title}**", "", f"| {' | '.join(heads)} |", f"|{'|'.join(rules)}|"]
    marked = set(table.marked)
    for row_index, row in enumerate(table.rows):
        cells = []
        for index, value in enumerate(row):
            text = _cell(shown(value, table.columns[index]))
            cells.append(f"**{text}**" if (row_index, index) in marked else text)
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, *(["", table.note] if table.note else [])]


def heading(column: Column) -> str:
    """A column's name with its group, where it has one."""
    return f"{column.group}: {column.label}" if column.group else column.label


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def to_csv(table: Table) -> str:
    """A table with all digits."""
    return csv_text([map(heading, table.columns), *table.rows])


def write_tables(tables: Iterable[Table], folder: Path) -> None:
    """Write NAME.csv for every table."""
    folder.mkdir(parents=True, exist_ok=True)
    for table in tables:
        write_atomically(folder / f"{table.name}.csv", to_csv(table).encode())
