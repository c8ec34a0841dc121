"""ARFF as ASlib's files write it, and what is wrong with files that are not."""

import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pickbest.core import PickbestError
from pickbest.environments.arff import read_arff, split_cells

MIXED = (
    "\ufeff% a comment\r\n"
    "@Relation 'some runs'\r\n\r\n"
    "@ATTRIBUTE instance_id STRING\r\n"
    "@attribute 'a name, with \\'quotes\\'' Numeric\r\n"
    "@Attribute\tlevel\t{low , 'very high'}\r\n"
    "@ATTRIBUTE é real % why not\r\n"
    "@DATA\r\n"
    "% another comment\r\n\r\n"
    "'x, 1' , 1e-3 , 'very high', ?\r\n"
    '"it\'s",NaN,low,-inf\r\n'
    "  y,?,low,NA\n"
)


def written(tmp_path, text, name="runs.arff"):
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


def test_quotes_comments_cases_and_line_endings(tmp_path):
    relation = read_arff(written(tmp_path, MIXED))
    assert relation.names == ("instance_id", "a name, with 'quotes'", "level", "é")
    assert relation.labels(0) == ["x, 1", "it's", "y"]
    np.testing.assert_array_equal(relation.numbers(1), [1e-3, np.nan, np.nan])
    assert relation.texts(2) == ["very high", "low", "low"]
    np.testing.assert_array_equal(relation.numbers(3), [np.nan, -np.inf, np.nan])
    assert relation.lines == [11, 12, 13]
    assert relation.place("LEVEL") == 2
    with pytest.raises(PickbestError, match="must be an attribute none, got instance_id"):
        relation.place("none")


def test_bytes_that_are_not_utf8(tmp_path):
    path = tmp_path / "runs.arff"
    path.write_bytes("@attribute f\xe9 string\n".encode("latin-1"))
    with pytest.raises(PickbestError, match="not a text in UTF-8"):
        read_arff(path)


HEAD = "@relation r\n@attribute a string\n@attribute b numeric\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no @data line; the file is empty or cut short"),
        (HEAD, "no @data line"),
        ("@data\n1,2\n", "line 2: expected 0 cells"),
        (f"{HEAD}surprise\n@data\n", "line 4: expected @attribute or @data, got 'surprise'"),
        (f"{HEAD}@attribute c complex\n@data\n", "line 4: an attribute must be numeric"),
        (f"{HEAD}@data\nx,1\ny\n", "line 6: expected 2 cells, one per attribute, got 1"),
        (f"{HEAD}@data\nx,1,2\n", "line 5: expected 2 cells"),
        (f"{HEAD}@data\n'x,1\n", "line 5: a quote is not closed"),
        (f"{HEAD}@data\n'x'y,1\n", "or something follows one"),
    ],
)
def test_what_is_wrong_and_where(tmp_path, text, message):
    path = written(tmp_path, text)
    with pytest.raises(PickbestError) as raised:
        read_arff(path)
    assert str(path) in str(raised.value)
    assert message in str(raised.value)


def test_a_word_among_numbers(tmp_path):
    relation = read_arff(written(tmp_path, f"{HEAD}@data\nx,1\n\ny,fast\n"))
    with pytest.raises(PickbestError, match=r"line 7: b must be a number or \?, got 'fast'"):
        relation.numbers(1)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(PickbestError, match="cannot be read"):
        read_arff(tmp_path / "none.arff")


@settings(deadline=None)
@given(st.lists(st.tuples(st.text(), st.sampled_from("'\"")), min_size=1))
def test_quoted_values_come_back(cells):
    """As Weka writes them."""
    line = ",".join(
        quote + re.sub(rf"([\\{quote}])", r"\\\1", text) + quote for text, quote in cells
    )
    assert split_cells(line) == [text for text, _ in cells]
