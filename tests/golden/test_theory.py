"""Every function of `pickbest.theory` has the values, and refuses the arguments, of 0.1.0."""

from __future__ import annotations

import inspect
from itertools import groupby

import pytest

from pickbest import theory
from pickbest.core import PickbestError
from tests.golden.golden_assets import FOLDER, read_json
from tests.golden.replay import assert_same_data, plain

ROWS = {
    name: list(rows)
    for name, rows in groupby(read_json(FOLDER / "theory.json.gz"), lambda row: row["function"])
}


@pytest.mark.parametrize("name", ROWS)
def test_theory_says_what_it_said(name):
    for row in ROWS[name]:
        expected = {key: row[key] for key in ("value", "error", "message") if key in row}
        assert_same_data(evaluated(getattr(theory, name), row["arguments"]), expected, row)


def evaluated(function, arguments):
    named = dict(arguments)
    positional = [
        named.pop(parameter.name)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD and parameter.name in named
    ]
    try:
        return {"value": plain(function(*positional, **named))}
    except (PickbestError, OverflowError) as error:
        return {"error": type(error).__name__, "message": str(error)}
