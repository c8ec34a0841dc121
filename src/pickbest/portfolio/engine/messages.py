"""What the portfolio, the keeper, the guards and Python functions say to each other: JSON.

Between processes of ours, a message is an object on one line. Each side waits for the other's
answer before it says more, so that nobody reads into the next message.
"""

import json
import socket
import sys
from typing import Any


def send(target: socket.socket, content: dict[str, Any]) -> None:
    """Send one message; OSError if the other side went away."""
    target.sendall(json.dumps(content).encode() + b"\n")


def receive(source: socket.socket) -> dict[str, Any]:
    """Wait for one message; OSError if the other side went away."""
    line = bytearray()
    while not line.endswith(b"\n"):
        chunk = source.recv(1 << 20)
        if not chunk:
            raise ConnectionError("the other side closed the connection")
        line += chunk
    found: dict[str, Any] = json.loads(line)
    return found


def encode_answer(answer: Any) -> str:
    """What a function returned, as JSON; TypeError, ValueError or RecursionError where it is none.

    >>> encode_answer({"model": (1, -2)})
    '{"model": [1, -2]}'
    """
    _check_keys(answer)
    return json.dumps(answer, default=_as_list)


def _check_keys(value: Any) -> None:
    """JSON would turn the key 1 into "1" without a word."""
    if isinstance(value, dict):
        for key, each in value.items():
            if not isinstance(key, str):
                raise TypeError(
                    f"a dictionary that a function returns must have text as keys, got {key!r:.80}"
                )
            _check_keys(each)
    elif isinstance(value, list | tuple):
        for each in value:
            if isinstance(each, dict | list | tuple):
                _check_keys(each)


def _as_list(value: Any) -> Any:
    """NumPy's arrays and numbers."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray | numpy.generic):
        if value.dtype.kind in "biuf":
            return value.tolist()
        raise TypeError(f"an array that a function returns must hold numbers, got {value.dtype}")
    kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    raise TypeError(
        "a function may return None, booleans, numbers, text, NumPy arrays, and lists, tuples and "
        f"dictionaries of them, got {kind}"
    )
