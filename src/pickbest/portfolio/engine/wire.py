"""Messages between the portfolio, the keeper and the guards: a fixed header, JSON, bytes."""

import json
import socket
import struct
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
