"""Markdown, CSV, HTML and figures from the same data."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

from pickbest.report.document import (
    Chapter,
    Column,
    Figure,
    Report,
    Section,
    Series,
    Table,
    Text,
    Verdict,
)
from pickbest.report.figures import draw_all, render
from pickbest.report.html import inline, to_csv, to_html
from pickbest.report.palette import styles_of

TABLE = Table(
    "numbers",
    "Numbers <&>",
    [Column("learner"), Column("mean", 3, group="as run"), Column("z", 1, True, "as run")],
    [["OG_hybrid(2, 1)", 0.57449, -1.25], ["a|b", None, None]],
    "A note.",
    [(0, 2)],
)
FIGURE = Figure(
    "plot", "A caption.", 'Says "it".', "rounds T", "regret",
    [Series("FPML", [1, 10, 100], [1, 3, 9], "fpml", spread=[0.1, 0.2, 0.3]),
     Series("short", [1, 2], [2, 2], "#440154", "dotted", ""), Series("", [], [], "og")],
    log_x=True, log_y=True,
)  # fmt: skip
REPORT = Report(
    "A <title>",
    "Intro with `code`.",
    [("seed", "0")],
    [
        Chapter("first", "First", "Intro.", [
            Section("part", "A part",
                    [Verdict("Claim", "It **holds**.", True), Text("See [b](#first)."), TABLE,
                     FIGURE],
                    ["We found T^(1/(B+1))."]),
        ]),
        Chapter("findings", "What we found", "Intro.", [], ["**X** needs `y`."]),
    ],
)  # fmt: skip


def test_page_is_self_contained_and_says_it_all(tmp_path: Path) -> None:
    draw_all([FIGURE], tmp_path)
    page = to_html(REPORT, tmp_path)
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page)
    assert "<script" not in page
    assert "@import" not in page
    for text in (
        "A &lt;title&gt;",
        "Numbers &lt;&amp;&gt;",
        'alt="Says &quot;it&quot;."',
        "We found T<sup>1/(B+1)</sup>.",
        "Left out: <strong>X</strong> needs <code>y</code>.",
        "OG<sub>hybrid</sub>(2,\u00a01)",
        '<td class="marked">−1.2</td>',
        "0.574",
    ):
        assert text in page
    ids = re.findall(r'id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)
    Balanced().feed(page)


class Balanced(HTMLParser):
    """Fails on tags that are not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in {"meta", "link", "img", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_csv_has_all_digits_and_no_formulas() -> None:
    assert to_csv(TABLE).splitlines() == [
        "learner,as run: mean,as run: z",
        '"OG_hybrid(2, 1)",0.57449,-1.25',
        "a|b,,",
    ]
    named = to_csv(replace(TABLE, rows=[("=SUM(1)", -1.0, None), ("-x", None, None)]))
    assert named.splitlines()[1:] == ["'=SUM(1),-1.0,", "'-x,,"]


def test_figures_are_images_and_the_same_twice() -> None:
    png, svg = render(FIGURE)
    assert png.startswith(b"\x89PNG")
    assert b"<svg" in svg
    assert render(FIGURE)[0] == png


def test_code_is_not_typeset() -> None:
    assert inline("`T^(1/2) OG_hybrid`") == "<code>T^(1/2) OG_hybrid</code>"


def test_no_two_curves_of_a_picture_look_alike() -> None:
    names = ["auto", "fpml", "fpml-partial", "og", "exp3", "thompson", "mine:A", "mine:B"]
    found = styles_of(names)
    assert len({colour for colour, _ in found.values()}) == len(names)
    assert found["fpml"] == styles_of(["fpml"])["fpml"]
    many = styles_of(f"learner {n}" for n in range(24))
    assert len(set(many.values())) == 24
