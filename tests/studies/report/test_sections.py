"""What only studies put on a page: Markdown, sections kept as JSON, shades."""

import pytest

from pickbest.report.document import (
    Chapter,
    Column,
    Figure,
    Report,
    Section,
    Series,
    Table,
    Verdict,
)
from studies.report.markdown import to_markdown
from studies.report.sections import section_from_json, section_to_json, shade

TABLE = Table(
    "numbers",
    "Numbers",
    [Column("learner"), Column("mean", 3), Column("z", 1, True)],
    [["OG_hybrid(2, 1)", 0.57449, -1.25], ["a|b", None, None]],
    marked=[(0, 2)],
)
FIGURE = Figure("plot", "A caption.", 'Says "it".', "T", "regret", [Series("", [1], [2], "og")])
SECTION = Section(
    "part", "A part", [Verdict("Claim", "It **holds**.", True), TABLE, FIGURE], ["A."]
)


def test_markdown() -> None:
    text = to_markdown(Report("Title", "Intro.", [], [Chapter("first", "First", "", [SECTION])]))
    assert "| OG_hybrid(2, 1) | 0.574 | **−1.2** |" in text
    assert "| a\\|b | – | – |" in text
    assert '![Says "it".](figures/plot.png)' in text
    assert "| [Claim](#part) | holds | It **holds**. |" in text


def test_a_section_comes_back_from_json() -> None:
    assert section_from_json(section_to_json(SECTION)) == SECTION


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"blocks": [{"kind": "Nothing"}]}'])
def test_what_is_not_a_section_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        section_from_json(text)


def test_shades_differ() -> None:
    assert len({shade(step, 5) for step in range(1, 6)}) == 5
    assert shade(1, 1) == shade(1, 4)
