"""The YAML of ASlib's descriptions: all scalars stay text, and hostile files are refused."""

import pytest
from hypothesis import given, settings, strategies as st

from pickbest.core import PickbestError
from pickbest.environments.aslib.description import MOST_CHARACTERS, parse_yaml

yaml = pytest.importorskip("yaml")


def trees(alphabet):
    """Maps of names to names, lists and maps."""
    names = st.text(alphabet=alphabet, min_size=1, max_size=30)
    values = st.recursive(
        names,
        lambda inner: (
            st.lists(inner, min_size=1, max_size=4)
            | st.dictionaries(names, inner, min_size=1, max_size=4)
        ),
        max_leaves=8,
    )
    return st.dictionaries(names, values, min_size=1, max_size=5)


@settings(deadline=None)
@given(trees("abcXYZ019 _-./+*()':\"#,[]{}&!?%"), st.sampled_from([2, 4]))
def test_descriptions_are_read_as_a_yaml_package_writes_them(tree, indent):
    text = yaml.safe_dump(tree, default_flow_style=False, indent=indent)
    assert parse_yaml(text) == tree


@settings(deadline=None)
@given(trees("abcXYZ019_-./+*():#,[]{}&!?%"))
def test_flow_lists_and_maps_of_names(tree):
    text = yaml.safe_dump({"tree": tree}, default_flow_style=None)
    assert parse_yaml(text) == {"tree": tree}


def test_folded_and_literal_text_anchors_and_long_keys():
    text = """---
measures: &m   # an anchor
- runtime   # a comment
- 'it''s # no comment'
again: *m
folded: one
  two
  - three
literal: |
    first
    second
quoted: "a \\"b\\"
  c"
flow: [a, "b, c",
  {d: e, f: }
]
? a long key
: inner: 1
  other: ?
items:
  - name: x
    size: 2
  -
  - y
empty:
tagged: !!str 12
    """
    assert parse_yaml(text) == {
        "measures": ["runtime", "it's # no comment"],
        "again": ["runtime", "it's # no comment"],
        "folded": "one two - three",
        "literal": "first\nsecond\n",
        "quoted": 'a "b" c',
        "flow": ["a", "b, c", {"d": "e", "f": ""}],
        "a long key": {"inner": "1", "other": "?"},
        "items": [{"name": "x", "size": "2"}, "", "y"],
        "empty": "",
        "tagged": "12",
    }
    assert parse_yaml("") == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nnonsense\n", r"could not find expected ':' .*begins on line 2"),
        ("a: 1\n- b\n", "d.txt, line 2: expected <block end>"),
        ("text", "d.txt, line 1: expected 'key: value', got 'text'"),
        ("- a\n", "d.txt, line 1: expected 'key: value'"),
        ("a: [b\nc: d\n", r"d.txt, line 2: .*flow sequence that begins on line 1"),
        ("a: 'b\nc: d\n", "d.txt, line 3: .*quoted scalar that begins on line 1"),
        ("a:\n  b: 1\n    c: 2\n d: 1\n", "d.txt, line 3: mapping values are not allowed here"),
        ("a: *nothing\n", "d.txt, line 1: found undefined alias 'nothing'"),
        ("a: \0\n", "d.txt: special characters are not allowed"),
    ],
)
def test_broken_descriptions(text, message):
    with pytest.raises(PickbestError, match=message):
        parse_yaml(text, "d.txt")


BOMB = "a0: &a0 [x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, "d.txt: its aliases stand for more than 1000000 values"),
        ("a: &a [*a]\n", "d.txt, line 1: found unconstructable recursive node"),
        ("a: " + "[" * 20_000, "d.txt: not the YAML of a description"),
        ('a: "\\UFFFFFFFF"', "d.txt: not the YAML of a description"),
        ("? [a]\n: b\n", "d.txt.*unhashable"),
        ("a" * (MOST_CHARACTERS + 1), "d.txt: a description must have at most 1000000 letters"),
    ],
    ids=["bomb", "recursion", "depth", "letter", "key", "size"],
)
def test_hostile_descriptions_are_refused(text, message):
    with pytest.raises(PickbestError, match=message):
        parse_yaml(text, "d.txt")


@settings(deadline=None)
@given(st.text(alphabet="ab:-?[]{}&*'\"\n #!|>%@\t", max_size=40))
def test_any_text_is_read_or_gets_one_sentence(text):
    try:
        entries = parse_yaml(text)
    except PickbestError:
        return
    assert isinstance(entries, dict)
