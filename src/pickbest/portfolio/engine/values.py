"""What a function may answer, as JSON and back: data only, so that reading it runs no code.

None, booleans, numbers, text, bytes, NumPy arrays and numbers, and lists, tuples, sets and
dictionaries of them. A value of a subclass (a named tuple, an IntEnum) comes back as its base.
JSON has half of these; the others are an object with one key, the name of the kind.
"""

import base64
import json
import math
import sys
from collections.abc import Callable
from typing import Any

_PLAIN = {type(None), bool, int, float, str}
# Booleans, integers, floats, complex numbers: what NumPy stores without pointers.
_NUMBERS = "biufc"


def encode(value: Any) -> bytes:
    """TypeError, ValueError or RecursionError for what cannot be sent."""
    return json.dumps(_packed(value), separators=(",", ":")).encode()


def decode(data: bytes) -> Any:
    """What `encode` was given; ValueError for anything that it would not have written.

    >>> decode(encode({"model": (1, -2), "proof": b"ok"}))
    {'model': (1, -2), 'proof': b'ok'}
    """
    try:
        return _unpacked(json.loads(data))
    except (TypeError, LookupError, RecursionError) as error:
        raise ValueError(f"not an answer: {error!r:.200}") from error


def _packed(value: Any) -> Any:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, list):
        # A long list of numbers, such as a model, is looked through at the speed of C.
        return value if set(map(type, value)) <= _PLAIN else [_packed(each) for each in value]
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray | numpy.generic):
        return _packed_array(numpy.asarray(value), isinstance(value, numpy.generic))
    for kind, name, pack in _PACKERS:
        if isinstance(value, kind):
            packed = pack(value)
            return packed if name is None else {name: packed}
    raise TypeError(
        "a function may return numbers, text, bytes, NumPy arrays, and lists, tuples, sets and "
        f"dictionaries of them, got {_name(type(value))}"
    )


def _packed_array(array: Any, single: bool) -> Any:
    if array.dtype.kind not in _NUMBERS:
        raise TypeError(f"an array that a function returns must hold numbers, got {array.dtype}")
    content = [array.dtype.str, list(array.shape), _text(array.tobytes())]
    return {"number" if single else "array": content}


def _each(value: Any) -> list[Any]:
    return [_packed(each) for each in value]


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


_PACKERS: tuple[tuple[type, str | None, Callable[[Any], Any]], ...] = (
    (int, None, int),
    (float, None, float),
    (str, None, str.__str__),
    (tuple, "tuple", _each),
    (dict, "dict", lambda value: [[_packed(key), _packed(each)] for key, each in value.items()]),
    (list, None, _each),
    (set, "set", _each),
    (frozenset, "frozenset", _each),
    (bytes, "bytes", _text),
    (bytearray, "bytearray", _text),
    (complex, "complex", lambda value: [value.real, value.imag]),
)


def _unpacked(data: Any) -> Any:
    if isinstance(data, list):
        return data if set(map(type, data)) <= _PLAIN else [_unpacked(each) for each in data]
    if isinstance(data, dict):
        ((name, content),) = data.items()
        return _UNPACKERS[name](content)
    return data


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _array(content: Any) -> Any:
    import numpy as np

    name, shape, text = content
    kind, data = np.dtype(name), _bytes(text)
    if kind.kind not in _NUMBERS or kind.str != name:
        raise ValueError(f"no array of {name!r:.80}")
    if any(type(each) is not int or each < 0 for each in shape):
        raise ValueError(f"no shape: {shape!r:.80}")
    if math.prod(shape) * kind.itemsize != len(data):
        raise ValueError(f"{len(data)} bytes do not make an array of shape {shape!r:.80}")
    return np.frombuffer(data, kind).reshape(shape).copy()


_UNPACKERS: dict[str, Callable[[Any], Any]] = {
    "tuple": lambda content: tuple(_unpacked(each) for each in content),
    "dict": lambda content: {_unpacked(key): _unpacked(each) for key, each in content},
    "set": lambda content: {_unpacked(each) for each in content},
    "frozenset": lambda content: frozenset(_unpacked(each) for each in content),
    "bytes": _bytes,
    "bytearray": lambda content: bytearray(_bytes(content)),
    "complex": lambda content: complex(*content),
    "array": _array,
    "number": lambda content: _array(content)[()],
}


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
