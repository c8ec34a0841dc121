"""Dataclasses as JSON and back."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import pytest

from pickbest.core.codec import EXCLUDED, decode, encode, plain, storable


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    colour: Colour | None = None
    secret: int = field(default=0, metadata=EXCLUDED)


@dataclass(frozen=True)
class Whole:
    parts: tuple[Part, ...]
    weights: tuple[float, ...] | None = None
    part: Part | None = None
    anything: Any = None


WHOLE = Whole((Part("a", Colour.RED), Part("ä\n")), (1 / 3, 5e-324), Part("b"), {"x": [1, None]})


def test_what_is_encoded_comes_back_equal() -> None:
    assert decode(Whole, encode(WHOLE)) == WHOLE
    assert isinstance(decode(Whole, encode(WHOLE)).parts[0].colour, Colour)
    assert decode(Whole, '{"parts":[]}') == Whole(())


def test_fields_for_memory_only_stay_there() -> None:
    assert plain(Part("a", secret=7)) == {"name": "a", "colour": None}
    assert encode([Part("a", Colour.RED, 7)]) == '[{"name":"a","colour":"red"}]'
    with pytest.raises(ValueError, match="unknown fields: secret"):
        decode(Part, '{"name":"a","secret":7}')


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{}",
        '{"parts":{}}',
        '{"parts":"ab"}',
        '{"parts":[{"name":"a","colour":"blue"}]}',
        '{"parts":[],"weights":3}',
        '{"parts":[],"more":1}',
    ],
)
def test_text_that_does_not_fit_is_an_error(text: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        decode(Whole, text)


def test_numbers_that_json_does_not_have_are_refused() -> None:
    for number in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="JSON compliant"):
            encode(Whole((), (number,)))


def test_anything_can_be_stored_somehow() -> None:
    assert storable({"a": [1]}, 100) == {"a": [1]}
    assert storable({1, 2}, 100) == "{1, 2}"
    assert storable(float("nan"), 100) == "nan"
    assert storable("long" * 10, 5) == "longl"
    assert storable([1, 2, 3, 4], 5) == "[1, 2"
