"""`pickbest serve`: the service on an address, with a token unless that is loopback."""

from __future__ import annotations

import ipaddress
import logging
import os
import socket
import threading
from types import FrameType
from typing import Any

from pickbest.core import MissingExtraError, PickbestError
from pickbest.portfolio.run.ask_tell import AskTell
from pickbest.portfolio.store.databases import shown
from pickbest.portfolio.store.records import NoPortfolioError

try:
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol
except ImportError as _error:
    raise MissingExtraError("uvicorn", "serve", "the service") from _error

LOG = logging.getLogger("pickbest.service")
LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]", "::1")
# A connection on which no request comes for so long is closed.
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


def start_log() -> None:
    """Log to standard error, with time and level."""
    form = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    logging.basicConfig(format=form, level=logging.WARNING, force=True)
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


def serve_store(store: str, name: str, host: str, port: int, token: str | None) -> None:
    """Serve until Ctrl-C."""
    start_log()
    if not is_loopback(host) and not token:
        raise PickbestError(
            f"{host} can be reached from other machines: give a --token, or serve on 127.0.0.1"
        )
    from pickbest.portfolio.service.app import create_app

    book = opened_book(store, name)
    try:
        with _listening(host, port) as listener:
            # The port is known now, also where any free one was asked for.
            address = f"http://{host}:{listener.getsockname()[1]}/"
            place = shown(store) if "://" in store else store
            LOG.info("serving %s on %s", place, address)
            app = create_app(book, token, None if token else (*LOCAL_NAMES, host))
            config = uvicorn.Config(
                app,
                http=ImpatientProtocol,
                log_config=None,
                timeout_keep_alive=int(IDLE_SECONDS),
                timeout_graceful_shutdown=GRACE_SECONDS,
                limit_concurrency=MOST_CONNECTIONS,
                server_header=False,
            )
            EndingServer(config).run(sockets=[listener])
    finally:
        book.close()


class ImpatientProtocol(H11Protocol):
    """HTTP as uvicorn speaks it, that waits for a whole request no longer than IDLE_SECONDS.

    uvicorn itself waits for ever for a request whose headers come slowly, or not at all.
    """

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.loop.call_later(IDLE_SECONDS, self._close_if_last, None)

    def on_response_complete(self) -> None:
        answered = self.cycle
        super().on_response_complete()
        self.loop.call_later(IDLE_SECONDS, self._close_if_last, answered)

    def _close_if_last(self, request: Any) -> None:
        """Close the connection if no other request has come since this one."""
        if self.cycle is request and not self.transport.is_closing():
            self.transport.abort()


class EndingServer(uvicorn.Server):
    """A server that ends soon after it is told to, whatever its clients and its database do.

    What is journalled is on disk, so the process may end at any moment.
    """

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        last = threading.Timer(LAST_SECONDS, os._exit, (0,))
        last.daemon = True
        last.start()


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
