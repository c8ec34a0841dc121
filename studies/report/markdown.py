"""A report as Markdown."""

from pickbest.report.document import BADGES, Figure, Report, Section, Table, Text, Verdict, shown
from pickbest.report.html import findings_of, heading


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


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
