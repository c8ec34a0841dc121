"""`pickbest serve`: the service on an address, with a token unless that is loopback."""

from __future__ import annotations

import ipaddress
import json
import logging
import os
import socket
import threading
from datetime import UTC, datetime
from types import FrameType
from typing import TYPE_CHECKING, Any

from pickbest.core import PickbestError
from pickbest.core.errors import load_extra, unknown_name
from pickbest.portfolio.run.ask_tell import AskTell
from pickbest.portfolio.store.databases import shown
from pickbest.portfolio.store.records import NoPortfolioError

if TYPE_CHECKING:
    import uvicorn


LOG = logging.getLogger("pickbest.service")
LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]", "::1")
# A connection on which nothing is asked for is closed, also one in the middle of its headers.
IDLE_SECONDS = 10.0
# After SIGTERM: first requests may end, then they are cut off, then the process ends.
GRACE_SECONDS, LAST_SECONDS = 2, 4.0
MOST_CONNECTIONS = 500


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class JsonLines(logging.Formatter):
    """One JSON object per record."""

    def format(self, record: logging.LogRecord) -> str:
        said = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            said["error"] = self.formatException(record.exc_info)
        return json.dumps(said)


def start_log(form: str) -> None:
    """Log to standard error, with time and level; form: plain or json."""
    if form not in ("plain", "json"):
        raise unknown_name("log format", form, ("plain", "json"))
    handler = logging.StreamHandler()
    plain = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(JsonLines() if form == "json" else plain)
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    ours = logging.getLogger("pickbest")
    ours.handlers.clear()  # what the command line shows without time and level
    ours.setLevel(logging.INFO)


def opened_book(store: str, name: str) -> AskTell:
    """The portfolio of a database, or of a portfolio.toml (made where there is none).

    Arms are left as they are: others may be changing them.
    """
    if not store.endswith(".toml"):
        return AskTell.reopened(store, name)
    from pickbest.portfolio.run.portfolio_file import read_portfolio_file

    file = read_portfolio_file(store)
    try:
        return AskTell.reopened(file.storage, settings=file.settings)
    except NoPortfolioError:
        return AskTell(file.names, file.budget, file.storage, settings=file.settings)


def serve_store(
    store: str,
    name: str,
    host: str,
    port: int,
    token: str | None,
    reader: str | None = None,
    log_format: str = "plain",
) -> None:
    """Serve until Ctrl-C. reader: a token that may only read. log_format: plain or json."""
    start_log(log_format)
    if reader and not token:
        raise PickbestError("a token that may only read needs another that may write: --token")
    if not is_loopback(host) and not token:
        raise PickbestError(
            f"{host} can be reached from other machines: give a --token, or serve on 127.0.0.1"
        )
    uvicorn = load_extra("uvicorn", "serve", "the service")
    from pickbest.portfolio.service.app import create_app

    book = opened_book(store, name)
    try:
        with _listening(host, port) as listener:
            # The port is known now, also where any free one was asked for.
            address = f"http://{host}:{listener.getsockname()[1]}/"
            place = shown(store) if "://" in store else store
            LOG.info("serving %s on %s", place, address)
            app = create_app(book, token, None if token else (*LOCAL_NAMES, host), reader)
            config = uvicorn.Config(
                app,
                http=impatient_protocol(),
                log_config=None,
                timeout_keep_alive=int(IDLE_SECONDS),
                timeout_graceful_shutdown=GRACE_SECONDS,
                limit_concurrency=MOST_CONNECTIONS,
                server_header=False,
            )
            ending_server(config).run(sockets=[listener])
    finally:
        book.close()


def impatient_protocol() -> type[Any]:
    """HTTP as uvicorn speaks it, that waits for a request no longer than IDLE_SECONDS."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class ImpatientProtocol(H11Protocol):
        _alarm: Any = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._set_alarm()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._set_alarm()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._set_alarm()

        def connection_lost(self, exc: Exception | None) -> None:
            self._clear_alarm()
            super().connection_lost(exc)

        def _set_alarm(self) -> None:
            """One alarm for a request that has not come yet; more bytes do not put it off."""
            if self.cycle is not None and not self.cycle.response_complete:
                self._clear_alarm()
            elif self._alarm is None and not self.transport.is_closing():
                self._alarm = self.loop.call_later(IDLE_SECONDS, self.transport.abort)

        def _clear_alarm(self) -> None:
            if self._alarm is not None:
                self._alarm.cancel()
                self._alarm = None

    return ImpatientProtocol


def ending_server(config: uvicorn.Config) -> uvicorn.Server:
    """A server that ends soon after it is told to, whatever its clients and its database do.

    What is journalled is on disk, so the process may end at any moment.
    """
    import uvicorn

    class EndingServer(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            super().handle_exit(sig, frame)
            last = threading.Timer(LAST_SECONDS, os._exit, (0,))
            last.daemon = True
            last.start()

    return EndingServer(config)


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()  # whoever reads the address may connect at once
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or error
        raise PickbestError(f"cannot listen on {host}:{port}: {reason}") from error
    return listener
