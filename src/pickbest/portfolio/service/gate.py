"""What stands before the service: who may come in, and how much they may bring.

Everything here is decided from the headers, before a byte of the body is read.
"""

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

MOST_BODY = 1_000_000
BODY_SECONDS = 10.0
TOO_LARGE = (413, f"a body may have at most {MOST_BODY} bytes")
# Without these nobody could see the page, or ask whether the service lives.
OPEN_PATHS = ("/", "/healthz", "/readyz", "/openapi.json")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Gate:
    """An ASGI application around another: token, origin, size and time of a request."""

    def __init__(self, app: App, token: str | None) -> None:
        self._app = app
        self._token = None if token is None else token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        refused = self._refusal(scope["method"], scope["path"], headers)
        if refused is not None:
            await _refuse(send, *refused)
            return
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await _whole_body(receive)
        except TimeoutError:
            await _refuse(send, 408, f"the body must come within {BODY_SECONDS:g} seconds")
            return
        if body is None:
            await _refuse(send, *TOO_LARGE)
            return
        await self._app(scope, _replayed(body, receive), send)

    def _refusal(
        self, method: str, path: str, headers: dict[bytes, bytes]
    ) -> tuple[int, str] | None:
        is_open = path in OPEN_PATHS or path.startswith("/static/")
        if self._token is not None and not is_open:
            scheme, _, sent = headers.get(b"authorization", b"").partition(b" ")
            sent = sent.strip() if scheme.lower() == b"bearer" else b""
            if not secrets.compare_digest(sent, self._token):
                return 401, "send the token as Authorization: Bearer …"
        if method not in ("GET", "HEAD", "OPTIONS") and _from_elsewhere(headers):
            return 403, "pages of other sites may not call this service"
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length[:20]) > MOST_BODY:
            return TOO_LARGE
        return None


async def _whole_body(receive: Receive) -> bytes | None:
    """The body of a request; None if it is too large, or the client went away."""
    parts: list[bytes] = []
    left = MOST_BODY
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        left -= len(parts[-1])
        if message["type"] != "http.request" or left < 0:
            return None
        if not message.get("more_body", False):
            return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Gives a body that was read already, then what comes after it."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> MutableMapping[str, Any]:
        return messages.pop() if messages else await receive()

    return replay


def _from_elsewhere(headers: dict[bytes, bytes]) -> bool:
    """Whether a browser says that a page of another site sends this."""
    origin = headers.get(b"origin")
    if origin is None:
        return headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin")
    try:
        return urlsplit(origin).netloc != headers.get(b"host", b"")
    except ValueError:
        return True


async def _refuse(send: Send, code: int, why: str) -> None:
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    if code == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": code, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"detail": why}).encode()})
