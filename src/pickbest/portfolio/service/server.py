"""`pickbest serve`: the service on an address, with a token unless that is loopback."""

from __future__ import annotations

import ipaddress
import socket
import sys

from pickbest.core import MissingExtraError, PickbestError
from pickbest.portfolio.ask_tell import AskTell

LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]", "::1")


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


def opened_book(store: str, name: str) -> AskTell:
    """The portfolio of a portfolio.toml (made where there is none), or of a database."""
    if not store.endswith(".toml"):
        return AskTell.reopened(store, name)
    from pickbest.portfolio.portfolio_file import read_portfolio_file

    file = read_portfolio_file(store)
    return AskTell(tuple(file.arms), file.budget, file.storage, settings=file.settings)


def serve_store(store: str, name: str, host: str, port: int, token: str | None) -> None:
    """Serve until Ctrl-C."""
    if not is_loopback(host) and not token:
        raise PickbestError(
            f"{host} can be reached from other machines: give a --token, or serve on 127.0.0.1"
        )
    try:
        import uvicorn
    except ImportError as error:
        raise MissingExtraError("uvicorn", "serve", "the service") from error
    from pickbest.portfolio.service.app import create_app

    book = opened_book(store, name)
    try:
        with _listening(host, port) as listener:
            # The port is known now, also where any free one was asked for.
            address = f"http://{host}:{listener.getsockname()[1]}/"
            sys.stderr.write(f"pickbest serves {store} on {address} (docs: {address}docs)\n")
            sys.stderr.flush()
            app = create_app(book, token, None if token else (*LOCAL_NAMES, host))
            config = uvicorn.Config(app, log_level="warning")
            uvicorn.Server(config).run(sockets=[listener])
    finally:
        book.close()


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise PickbestError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
    return listener
