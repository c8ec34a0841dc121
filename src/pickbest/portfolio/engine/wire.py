"""What goes between the portfolio, the keeper, the guards and arms: messages and answers.

A message is a fixed header, JSON, and bytes. What a Python function answers is JSON as well, so
that reading it runs no code: None, booleans, numbers, text, bytes, NumPy arrays and numbers, and
lists, tuples, sets and dictionaries of them. A value of a subclass (a named tuple, an IntEnum)
comes back as its base. JSON has half of these kinds; the others are an object with one key, the
name of the kind.
"""

import base64
import json
import math
import socket
import struct
import sys
from collections.abc import Callable
from typing import Any

HEADER = struct.Struct("!QQ")
Message = tuple[dict[str, Any], bytes]


def packed(content: dict[str, Any], payload: bytes = b"") -> bytes:
    """A message as it is sent.

    >>> packed({"a": 1}, b"xy")[HEADER.size:]
    b'{"a": 1}xy'
    """
    text = json.dumps(content).encode()
    return HEADER.pack(len(text), len(payload)) + text + payload


class Inbox:
    """Puts messages together from the chunks in which they arrive, and refuses long ones.

    >>> inbox = Inbox(100)
    >>> inbox.add(packed({"a": 1}, b"xy")[:-1])
    >>> inbox.take()
    >>> inbox.add(b"y")
    >>> inbox.take()
    ({'a': 1}, b'xy')
    """

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self._held = bytearray()

    def add(self, chunk: bytes) -> None:
        self._held += chunk

    def take(self) -> Message | None:
        """The next message; None while it is not complete, ValueError if it is none."""
        if len(self._held) < HEADER.size:
            return None
        text, payload = HEADER.unpack_from(self._held)
        whole = HEADER.size + text + payload
        if whole > self.longest:
            raise ValueError(f"a message of {whole} bytes, which is more than {self.longest}")
        if len(self._held) < whole:
            return None
        body = bytes(self._held[HEADER.size : whole])
        del self._held[:whole]
        content = json.loads(body[:text])
        if not isinstance(content, dict):
            raise ValueError(f"a message must be a JSON object, got {content!r:.80}")
        return content, body[text:]


def receive(source: socket.socket) -> Message:
    """Wait for one message of a side that is trusted; OSError if it went away."""
    text, payload = HEADER.unpack(_exactly(source, HEADER.size))
    return json.loads(_exactly(source, text)), _exactly(source, payload)


def _exactly(source: socket.socket, count: int) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        part = source.recv(min(count - len(parts), 1 << 20))
        if not part:
            raise ConnectionError("the other side closed the connection")
        parts += part
    return bytes(parts)


# Answers of functions -------------------------------------------------------------------------

_PLAIN = {type(None), bool, int, float, str}
# Booleans, integers, floats, complex numbers: what NumPy stores without pointers.
_NUMBERS = "biufc"


def encode_value(value: Any) -> bytes:
    """TypeError, ValueError or RecursionError for what cannot be sent."""
    return json.dumps(_packed(value), separators=(",", ":")).encode()


def decode_value(data: bytes) -> Any:
    """What `encode_value` was given; ValueError for anything that it would not have written.

    >>> decode_value(encode_value({"model": (1, -2), "proof": b"ok"}))
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
