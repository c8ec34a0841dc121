"""Features: what may be given, and what is computed with."""

import numpy as np
import pytest

from pickbest.core import PickbestError
from pickbest.core.features import (
    LARGEST_NUMBER,
    MISSING,
    WORD,
    by_name,
    encoded,
    encoded_numbers,
    feature_names,
)


def test_numbers_stay_words_are_beyond_them_and_missing_is_a_word():
    names = ("a", "b", "c", "d", "e", "f")
    given = {"a": 1.5, "b": True, "c": "QF_BV", "d": None, "e": float("inf"), "f": np.nan}
    row = encoded(given, names)
    assert row[:2].tolist() == [1.5, 1.0]
    assert row[2] > WORD
    assert row[3] == row[5] == MISSING
    assert row[4] == LARGEST_NUMBER
    assert np.isfinite(row).all()
    assert by_name(given)["d"] is None
    assert by_name(given)["c"] == "QF_BV"
    assert np.array_equal(encoded(by_name(given), names), row)


def test_the_order_of_names_does_not_matter():
    names = feature_names({"b": 1, "a": 2})
    assert np.array_equal(encoded({"b": 1, "a": 2}, names), encoded({"a": 2, "b": 1}, names))


@pytest.mark.parametrize(
    ("features", "complaint"),
    [
        ({"a": 1}, "without b"),
        ({"a": 1, "b": 2, "c": 3}, "with c"),
        ([1, 2], "with 0, 1"),
        ({"a": 1, "b": [2]}, "'b' must be a number"),
        ({"a": 1, "b": "x" * 20_000}, "more than"),
        ({}, "1 to"),
        ("ab", "a list or a mapping"),
        (3, "a list or a mapping"),
        ({1: 2, "b": 2}, "name must be text"),
    ],
)
def test_a_changed_schema_and_what_is_no_feature_get_a_clear_error(features, complaint):
    with pytest.raises(PickbestError, match=complaint):
        encoded(features, ("a", "b"))


def test_tables_of_numbers():
    assert encoded_numbers(np.array([[np.nan, -np.inf]])).tolist() == [[MISSING, -LARGEST_NUMBER]]
