"""What the portfolio, the keeper and the guards say to each other: JSON objects on one line.

Each side waits for the other's answer before it says more, so that nobody reads into the next one.
"""

import json
import socket
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
