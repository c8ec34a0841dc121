"""A report as one HTML page that needs nothing else: no network, no fonts, no scripts."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from html import escape
from itertools import groupby
from pathlib import Path

from pickbest.report.document import (
    Chapter,
    Figure,
    Report,
    Section,
    Table,
    Text,
    Verdict,
    shown,
)
from pickbest.report.markdown import BADGES, findings_of
from pickbest.report.stylesheet import CSS

_KINDS = {True: "yes", False: "no", None: "plain"}
_SUMMARY = "in-short"


def to_html(report: Report, figures: Path) -> str:
    """The whole page; `figures` is the folder with an SVG file for every figure."""
    body = [_summary(report)]
    body += [_chapter(chapter, report, figures) for chapter in report.chapters]
    facts = "".join(f"<li>{escape(name)}: {inline(value)}</li>" for name, value in report.facts)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="{escape(report.command)}">
<link rel="icon" href="data:,">
<title>{escape(report.title)}</title>
<style>{CSS}</style>
</head>
<body>
<header class="top"><div class="frame">
<h1>{escape(report.title)}</h1>
<p>{inline(report.intro)}</p>
<ul class="facts">{facts}</ul>
</div></header>
<div class="frame layout">
{_contents(report)}
<main>
{"".join(body)}
<footer>Made with <code>{escape(report.command)}</code>. Tables as CSV and figures as PNG and
SVG lie beside this page.</footer>
</main>
</div>
</body>
</html>
"""


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
    text = re.sub(r"(?<=[ (])-(?=[\d.])", "−", text)
    # "B = 4" and "(6, 3)" stay on one line.
    text = re.sub(r"(?<=\w) = (?=[−+\d.⌈])", "\u00a0=\u00a0", text)
    return re.sub(r"(\(\w), (\w\))", "\\1,\u00a0\\2", text)


def _contents(report: Report) -> str:
    items = [f'<li><a href="#{_SUMMARY}">In short</a></li>']
    for chapter in report.chapters:
        links = "".join(
            f'<li><a href="#{section.name}">{inline(section.title)}</a></li>'
            for section in chapter.sections
        )
        inner = f"<ol>{links}</ol>" if links else ""
        items.append(f'<li><a href="#{chapter.name}">{inline(chapter.title)}</a>{inner}</li>')
    return (
        '<nav aria-label="Contents"><div class="inner"><details open><summary>Contents</summary>'
        f"<ol>{''.join(items)}</ol></details></div></nav>"
    )


def _summary(report: Report) -> str:
    rows = []
    for section in report.sections:
        for verdict in section.blocks:
            if isinstance(verdict, Verdict):
                link = f'<a href="#{section.name}">{inline(verdict.statement)}</a>'
                cells = f"<td>{_badge(verdict)}</td><td>{inline(verdict.text)}</td>"
                rows.append(f"<tr><th scope='row'>{link}</th>{cells}</tr>")
    if not rows:
        return f'<h2 id="{_SUMMARY}">In short</h2><p>No part has been run yet.</p>'
    return (
        f'<h2 id="{_SUMMARY}">In short</h2><table class="summary"><thead><tr>'
        "<th>statement</th><th>verdict</th><th>measured</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _badge(verdict: Verdict) -> str:
    return f'<span class="badge {_KINDS[verdict.holds]}">{BADGES[verdict.holds]}</span>'


def _chapter(chapter: Chapter, report: Report, figures: Path) -> str:
    parts = [f'<h2 id="{chapter.name}">{inline(chapter.title)}</h2><p>{inline(chapter.intro)}</p>']
    parts += [f'<p class="missing">Left out: {inline(text)}</p>' for text in chapter.missing]
    if chapter.name == "findings":
        found = "".join(f"<li>{inline(sentence)}</li>" for sentence in findings_of(report))
        parts.append(f'<ul class="found">{found}</ul>')
    parts += [_section(section, figures) for section in chapter.sections]
    return "".join(parts)


def _section(section: Section, figures: Path) -> str:
    title = f'<a class="self" href="#{section.name}">{inline(section.title)}</a>'
    parts = [f'<h3 id="{section.name}">{title}</h3>']
    for block in section.blocks:
        if isinstance(block, Text):
            parts.append(f"<p>{inline(block.text)}</p>")
        elif isinstance(block, Verdict):
            parts.append(
                f'<div class="verdict {_KINDS[block.holds]}"><span class="statement">'
                f"{inline(block.statement)}</span> {_badge(block)}<br>{inline(block.text)}</div>"
            )
        elif isinstance(block, Figure):
            parts.append(_figure(block, figures))
        else:
            parts.append(_table(block))
    return "\n".join(parts)


def _figure(figure: Figure, figures: Path) -> str:
    content = (figures / f"{figure.name}.svg").read_bytes()
    source = f"data:image/svg+xml;base64,{base64.b64encode(content).decode()}"
    return (
        f'<figure id="figure-{figure.name}"><img src="{source}" alt="{escape(figure.alt)}">'
        f"<figcaption>{inline(figure.caption)}</figcaption></figure>"
    )


def _table(table: Table) -> str:
    starts = _group_starts(table)
    head = ""
    if any(column.group for column in table.columns):
        head = f"<tr class='groups'>{''.join(_group_cells(table))}</tr>"
    labels = "".join(
        f'<th scope="col"{_classes(table, index, starts)}>{inline(column.label)}</th>'
        for index, column in enumerate(table.columns)
    )
    marked = set(table.marked)
    rows = []
    for row_index, row in enumerate(table.rows):
        cells = []
        for index, value in enumerate(row):
            text = inline(shown(value, table.columns[index]))
            if index == 0:
                cells.append(f'<th scope="row">{text}</th>')
                continue
            extra = ["marked"] if (row_index, index) in marked else []
            cells.append(f"<td{_classes(table, index, starts, extra)}>{text}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    note = f'<p class="note">{inline(table.note)}</p>' if table.note else ""
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(table.title)}">'
        f'<table id="table-{table.name}"><caption>{inline(table.title)}</caption>'
        f"<thead>{head}<tr>{labels}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>{note}"
    )


def _group_starts(table: Table) -> set[int]:
    """Columns at which another group begins; a thin line stands before them."""
    groups = [column.group for column in table.columns]
    return {index for index in range(1, len(groups)) if groups[index] != groups[index - 1]}


def _group_cells(table: Table) -> Iterable[str]:
    index = 0
    for group, columns in groupby(table.columns, key=lambda column: column.group):
        width = len(list(columns))
        first = ' class="first"' if index else ""
        scope = ' scope="colgroup"' if group else ""
        yield f'<th colspan="{width}"{scope}{first}>{inline(group)}</th>'
        index += width


def _classes(table: Table, index: int, starts: set[int], extra: Iterable[str] = ()) -> str:
    names = list(extra)
    if index in starts:
        names.append("first")
    if any(isinstance(row[index], str) for row in table.rows):
        names.append("text")
    return f' class="{" ".join(names)}"' if names else ""
