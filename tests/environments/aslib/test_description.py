"""The YAML of ASlib's descriptions: all scalars stay text, and hostile files are refused."""

import pytest
from hypothesis import given, settings, strategies as st

from pickbest.core import PickbestError
from pickbest.environments.aslib import MOST_CHARACTERS, parse_yaml

pytest.importorskip("yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nnonsense\n", "could not find expected ':'"),
        ("a: 1\n- b\n", "expected <block end>.* line 2"),
        ("text", "line 1: expected 'key: value', got 'text'"),
        ("- a\n", "line 1: expected 'key: value'"),
        ("a: [b\nc: d\n", "flow sequence"),
        ("a: *nothing\n", "found undefined alias 'nothing'"),
        ("a: \0\n", "special characters are not allowed"),
        ("a: &a [*a]\n", "found unconstructable recursive node"),
        ("a: " + "[" * 20_000, "not the YAML of a description"),
        ('a: "\\UFFFFFFFF"', "not the YAML of a description"),
        ("? [a]\n: b\n", "unhashable"),
        ("a" * (MOST_CHARACTERS + 1), "a description must have at most 1000000 letters"),
    ],
    ids=range(12),
)
def test_broken_and_hostile_descriptions_are_refused(text, message):
    with pytest.raises(PickbestError, match=f"d.txt.*{message}"):
        parse_yaml(text, "d.txt")


@settings(deadline=None)
@given(st.text(alphabet="ab:-?[]{}&*'\"\n #!|>%@\t", max_size=40))
def test_any_text_is_read_or_gets_one_sentence(text):
    try:
        entries = parse_yaml(text)
    except PickbestError:
        return
    assert isinstance(entries, dict)
