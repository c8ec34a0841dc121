"""Dataclasses as JSON and back: for all that is stored, sent or printed for scripts.

A field marked with metadata EXCLUDED lives in memory only. The mark is Pydantic's own, so that
a web service leaves the same fields out. One marked SPARSE is left out where it has its default,
so that what has no use for it reads as before the field existed.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

EXCLUDED = {"exclude": True}
SPARSE = {"sparse": True}

T = TypeVar("T")

_SCALARS = frozenset({str, int, float, bool, type(None)})


def plain(thing: Any) -> Any:
    """Dataclasses as dictionaries and tuples as lists, all the way down."""
    if type(thing) in _SCALARS:  # most things are: every record is written through here
        return thing
    if is_dataclass(thing):
        kind: Any = type(thing)
        stored = {name: getattr(thing, name) for name in _stored(kind)}
        sparse = _sparse(kind)
        return {
            name: plain(value)
            for name, value in stored.items()
            if name not in sparse or value != sparse[name]
        }
    if isinstance(thing, list | tuple):
        if set(map(type, thing)) <= _SCALARS:  # the features of a problem may be hundreds
            return list(thing)
        return [plain(each) for each in thing]
    if isinstance(thing, Mapping):
        return {name: plain(each) for name, each in thing.items()}
    return thing


def encode(thing: Any) -> str:
    """Compact JSON; numbers come back bit for bit. ValueError for what JSON does not have."""
    return json.dumps(plain(thing), separators=(",", ":"), allow_nan=False)


def decode(kind: Callable[..., T], text: str) -> T:
    """The dataclass that `encode` wrote; ValueError or TypeError where the text does not fit.

    Every field must be what its annotation says: whole numbers, finite numbers, text, flags. A
    whole number stands for a number as it is, so that what was read is written the same again.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Point:
    ...     at: tuple[float, ...]
    >>> decode(Point, encode(Point((0.5, 1.0))))
    Point(at=(0.5, 1.0))
    """
    thing: T = _reader(kind)(parsed(text))
    return thing


def parsed(text: str | bytes) -> Any:
    """JSON by its standard: ValueError for NaN, infinity, and what is nested too deep."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")


def storable(data: Any, longest: int) -> Any:
    """Anything as JSON can hold it: itself where it can, else its repr; cut where it is long."""
    try:
        text = json.dumps(data, allow_nan=False)
    except (TypeError, ValueError):
        return repr(data)[:longest]
    if len(text) <= longest:
        return data
    return (data if isinstance(data, str) else text)[:longest]


@cache
def _stored(kind: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind) if not each.metadata.get("exclude"))


@cache
def _sparse(kind: Any) -> Mapping[str, Any]:
    return {each.name: each.default for each in fields(kind) if each.metadata.get("sparse")}


@cache
def _reader(hint: Any) -> Callable[[Any], Any]:
    """What makes a value of the annotated type from JSON; plain values stay as they are."""
    if isinstance(hint, UnionType):
        kinds = [_reader(each) for each in get_args(hint) if each is not type(None)]
        (kind,) = kinds if len(kinds) == 1 else (_as_is,)
        return lambda data: None if data is None else kind(data)
    if get_origin(hint) in (tuple, list):
        made, item = get_origin(hint), _reader(get_args(hint)[0])
        return lambda data: made(item(each) for each in _typed(list, data))
    if get_origin(hint) in (Mapping, dict):
        name, value = get_args(hint)
        as_name, reader = int if name is int else _as_is, _reader(value)
        return lambda data: {as_name(k): reader(v) for k, v in _typed(dict, data).items()}
    if not isinstance(hint, type):
        return _as_is
    if issubclass(hint, Enum):
        return hint
    if not is_dataclass(hint):
        return _PLAIN.get(hint, _as_is)
    hints = get_type_hints(hint)
    readers = {name: _reader(hints[name]) for name in _stored(hint)}

    def build(data: Any) -> Any:
        given = _typed(dict, data)
        if unknown := given.keys() - readers.keys():
            raise ValueError(f"unknown fields: {', '.join(sorted(unknown))}")
        return hint(**{name: readers[name](value) for name, value in given.items()})

    return build


def _as_is(data: Any) -> Any:
    return data


def _typed(kind: type[T], data: Any) -> T:
    if not isinstance(data, kind) or (isinstance(data, bool) and kind is not bool):
        raise TypeError(f"expected a {kind.__name__}, got {data!r:.80}")
    return data


def _number(data: Any) -> Any:
    if not isinstance(data, float):
        _typed(int, data)
    # A whole number may be too large for a float: OverflowError is not among what callers expect.
    if not (abs(data) <= _LARGEST and math.isfinite(data)):
        raise ValueError(f"expected a finite number, got {str(data)[:80]}")
    return data


_LARGEST = 1.7e308
_PLAIN: dict[type, Callable[[Any], Any]] = {
    int: lambda data: _typed(int, data),
    float: _number,
    str: lambda data: _typed(str, data),
    bool: lambda data: _typed(bool, data),
}
