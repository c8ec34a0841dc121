"""ARFF as ASlib's files write it, and what is wrong with files that are not."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pickbest.core import PickbestError
from pickbest.environments.arff import read_arff, split_cells

MIXED = (
    "% a comment\r\n"
    "@Relation 'some runs'\r\n\r\n"
    "@ATTRIBUTE instance_id STRING\r\n"
    "@attribute 'a name, with \\'quotes\\'' Numeric\r\n"
    "@Attribute\tlevel\t{low , 'very high'}\r\n"
    "@ATTRIBUTE plain name with update real % why not\r\n"
    "@ATTRIBUTE when DATE 'yyyy-MM-dd'\r\n"
    "@DATA,\r\n"
    "% another comment\r\n\r\n"
    "'x, 1' , 1e-3 , 'very high', ?, 2020-01-01\r\n"
    '"it\'s",NaN,low,-inf,?,\r\n'
    "  y,?,low,NA,?\n"
)


def written(tmp_path, text, name="runs.arff"):
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


def test_quotes_comments_cases_and_line_endings(tmp_path):
    relation = read_arff(written(tmp_path, MIXED))
    names = ("instance_id", "a name, with 'quotes'", "level", "plain name with update", "when")
    assert relation.names == names
    assert relation.texts(0) == ["x, 1", "it's", "y"]
    np.testing.assert_array_equal(relation.numbers(1), [1e-3, np.nan, np.nan])
    assert relation.attributes[2].values == ("low", "very high")
    np.testing.assert_array_equal(relation.coded(2), [1, 0, 0])
    np.testing.assert_array_equal(relation.coded(3), [np.nan, -np.inf, np.nan])
    np.testing.assert_array_equal(relation.coded(4), [0, np.nan, np.nan])
    assert relation.lines == [12, 13, 14]
    assert (relation.place("LEVEL"), relation.place("none")) == (2, -1)


def test_bytes_that_are_not_utf8_and_a_byte_order_mark(tmp_path):
    path = tmp_path / "runs.arff"
    path.write_bytes("@attribute f\xe9 string\n@data\n\xe9\n".encode("latin-1"))
    assert read_arff(path).texts(0) == ["é"]
    path.write_bytes("\ufeff@attribute é string\n@data\né\n".encode())
    assert (read_arff(path).names, read_arff(path).texts(0)) == (("é",), ["é"])


HEAD = "@relation r\n@attribute a string\n@attribute b numeric\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no @data line; the file is empty or cut short"),
        (HEAD, "no @data line"),
        ("@data\n1,2\n", "no @attribute line"),
        (f"{HEAD}surprise\n@data\n", "line 4: expected @attribute or @data, got 'surprise'"),
        (f"{HEAD}@attribute c complex\n@data\n", "line 4: an attribute must be numeric"),
        (f"{HEAD}@attribute c {{'x, y}}\n@data\n", "line 4: a quote is not closed"),
        (f"{HEAD}@data\nx,1\ny\n", "line 6: expected 2 cells, one per attribute, got 1"),
        (f"{HEAD}@data\nx,1,2\n", "line 5: expected 2 cells"),
        (f"{HEAD}@data\n'x,1\n", "line 5: a quote is not closed"),
        (f"{HEAD}@data\n'x'y,1\n", "line 5: a comma must follow"),
        (f"{HEAD}@data\n{{0 x, 1 2}}\n", "line 5: sparse rows"),
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


def quoted(text, quote):
    """As Weka writes a value."""
    body = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    for character, escape in (("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        body = body.replace(character, escape)
    return f"{quote}{body}{quote}"


@settings(deadline=None)
@given(st.lists(st.tuples(st.text(), st.sampled_from("'\"")), min_size=1))
def test_quoted_values_come_back(cells):
    line = ",".join(quoted(text, quote) for text, quote in cells)
    assert split_cells(line) == [text for text, _ in cells]


@settings(deadline=None)
@given(st.lists(st.text(alphabet="ab ,'\"\\", min_size=0), min_size=1))
def test_doubled_quotes_come_back_too(cells):
    doubled = [text.replace("\\", "\\\\").replace("'", "''") for text in cells]
    assert split_cells(",".join(f"'{text}'" for text in doubled)) == cells
