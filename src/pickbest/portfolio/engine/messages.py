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
    return json.dumps(answer, default=_as_list)


def _as_list(value: Any) -> Any:
    """NumPy's arrays and numbers."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray | numpy.generic):
        return value.tolist()
    raise TypeError(f"a function may return what JSON holds, and NumPy arrays, got {type(value)}")
