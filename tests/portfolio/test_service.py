"""The service: ask and tell over HTTP, checked against its own schema and in a browser."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from pickbest.core import PickbestError
from pickbest.portfolio import AskTell
from pickbest.portfolio.store.records import DamagedError, StorageError
from tests.portfolio.helpers import alive, eventually, running

fastapi = pytest.importorskip("fastapi", reason="the extra serve is not installed")
pytest.importorskip("httpx", reason="httpx is needed to test the service")

from fastapi.testclient import TestClient  # noqa: E402

from pickbest.portfolio.service.app import create_app  # noqa: E402
from pickbest.portfolio.service.server import is_loopback, opened_book, serve_store  # noqa: E402

ARMS = ("a", "b", "c")


@pytest.fixture
def book(tmp_path: Path) -> Iterator[AskTell]:
    built = AskTell(ARMS, 2, tmp_path / "runs.db", learner="thompson")
    yield built
    built.close()


@pytest.fixture
def client(book: AskTell) -> TestClient:
    return TestClient(create_app(book), base_url="http://localhost")


def test_ask_tell_status_history_course(client: TestClient, book: AskTell) -> None:
    ticket = client.post("/api/ask", json={"problem": "p <1>"}).json()
    assert len(ticket["arms"]) == 2
    told = client.post("/api/tell", json={"round": 0, "costs": [0.25, None], "answer": {"x": 1}})
    assert (told.status_code, told.json()) == (200, {"round": 0})
    book.forget(client.post("/api/ask", json={}).json()["round"])
    status = client.get("/api/status").json()
    assert (status["finished"], status["lost"], status["mean_cost"]) == (1, 1, 0.25)
    first, second = client.get("/api/history").json()
    assert (first["problem"], first["winner"], first["answer"]) == (
        "p <1>",
        ticket["arms"][0],
        {"x": 1},
    )
    assert (second["state"], second["reason"]) == ("lost", "given up")
    assert client.get("/api/history?last=1&before=1").json() == [first]
    ((problems, at, paid, spent),) = client.get("/api/course").json()["points"]
    assert (problems, paid, spent) == (1, 0.25, 0.0)
    assert abs(at - time.time()) < 60.0
    book.verify()


def test_refusals_are_one_sentence_and_change_nothing(client: TestClient, book: AskTell) -> None:
    client.post("/api/ask", json={})
    records = len(list(book.ledger.journal.entries()))
    for body, code, message in (
        ({"round": 7, "costs": [0, 0]}, 404, "unknown round 7"),
        ({"round": 0, "costs": [0.5]}, 400, "has 2 arms, got 1 costs"),
        ({"round": 0, "costs": [0.5, 1.5]}, 422, "less than or equal to 1"),
        ({"round": 0, "costs": [0.5, 0.5], "cost": 1}, 422, "Extra inputs"),
        ({"round": 0, "costs": [True, 0.5]}, 422, "valid number"),
        ({"round": False, "costs": [0.5, 0.5]}, 422, "valid integer"),
        ('{"round": 0, "costs": [NaN, 0.5]}', 422, "finite number"),
        ('{"round": 0, "costs": [0.5, -Infinity]}', 422, "finite number"),
        ('{"round": 0, "costs": [0.5, 0.5], "answer": [NaN]}', 422, "JSON"),
        ('{"round": 0, "costs": [0.5, 0.5], "answer": "\\ud800"}', 422, "surrogates"),
        ("[" * 100_000, 400, ""),
    ):
        text = body if isinstance(body, str) else json.dumps(body)
        headers = {"Content-Type": "application/json"}
        answer = client.post("/api/tell", content=text, headers=headers)
        assert answer.status_code == code
        assert message in answer.text
    assert len(list(book.ledger.journal.entries())) == records
    assert client.post("/api/tell", json={"round": 0, "costs": [0, 1]}).status_code == 200
    again = client.post("/api/tell", json={"round": 0, "costs": [0, 1]})
    assert (again.status_code, "told already" in again.text) == (409, True)


def test_a_token_is_needed_where_one_is_set(book: AskTell) -> None:
    client = TestClient(create_app(book, token="geheim"))
    assert client.get("/").status_code == 200
    for headers in ({}, {"Authorization": "Bearer falsch"}, {"Authorization": "Basic geheim"}):
        assert client.get("/api/status", headers=headers).status_code == 401
        assert client.post("/api/ask", json={}, headers=headers).status_code == 401
    assert book.status().asked == 0
    right = {"Authorization": "Bearer geheim"}
    assert client.post("/api/ask", json={}, headers=right).status_code == 200


def test_other_names_are_refused_without_a_token(book: AskTell) -> None:
    """A page of another site must not reach the service under a name that it controls."""
    app = create_app(book, hosts=("localhost", "127.0.0.1"))
    assert TestClient(app, base_url="http://127.0.0.1").get("/api/status").status_code == 200
    assert TestClient(app, base_url="http://evil.example").get("/api/status").status_code == 400


def test_pages_of_other_sites_and_large_bodies_are_refused(book: AskTell) -> None:
    """Group 9: by headers alone, before a body is read."""
    client = TestClient(create_app(book), base_url="http://localhost")
    for origin, code in (("http://localhost", 200), ("http://evil.example", 403), ("null", 403)):
        answer = client.post("/api/ask", json={}, headers={"Origin": origin})
        assert answer.status_code == code
    large = client.post("/api/ask", content=b"x" * 1_000_001)
    assert large.status_code == 413
    read: list[int] = []

    def body() -> Iterator[bytes]:
        for _ in range(1000):
            read.append(1)
            yield b"x" * 10_000

    assert client.post("/api/ask", content=body()).status_code == 413
    with_token = TestClient(create_app(book, token="geheim"))
    assert with_token.post("/api/ask", content=b"x" * 5_000_000).status_code == 401
    assert book.status().asked == 1


def test_nothing_is_loaded_from_elsewhere(client: TestClient) -> None:
    """Group 9: no CDN; health and readiness instead."""
    assert client.get("/docs").status_code == client.get("/redoc").status_code == 404
    for path in ("/", "/static/page.js", "/static/page.css"):
        text = client.get(path).text.replace("http://www.w3.org/2000/svg", "")
        assert "//" not in text.replace("// ", "")
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ready"}


def test_our_faults_are_ours_and_say_nothing_of_hosts(
    book: AskTell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Group 9: a database that is away is 503, a damaged journal 500; neither names a host."""
    client = TestClient(create_app(book), raise_server_exceptions=False)

    def away(*_: object) -> None:
        raise StorageError("postgresql://me@db.internal: connection refused for user me")

    def damaged(*_: object) -> None:
        raise DamagedError("record 7 in /srv/secret/runs.db")

    def broken(*_: object) -> None:
        raise ZeroDivisionError("/srv/secret")

    for failing, code in ((away, 503), (damaged, 500), (broken, 500)):
        monkeypatch.setattr(book.ledger.journal, "read_from", failing)
        monkeypatch.setattr(book.ledger.journal, "turn", failing)
        for answer in (
            client.get("/api/status"),
            client.get("/readyz"),
            client.post("/api/ask", json={}),
        ):
            assert answer.status_code == code
            assert not any(word in answer.text for word in ("internal", " me", "secret"))
        assert client.get("/healthz").status_code == 200
        monkeypatch.undo()


def test_names_that_are_not_utf8_come_out_as_escapes(client: TestClient, book: AskTell) -> None:
    """Group 5: one such name or answer must not make the history fail for all."""
    ticket = book.ask("p\udcff\x1b[2J")
    book.tell(ticket, [0.0, 1.0], "answer \ud800")
    (view,) = client.get("/api/history").json()
    assert (view["problem"], view["answer"]) == ("p\udcff\x1b[2J", "answer \ud800")
    assert client.get("/api/status").status_code == client.get("/api/course").status_code == 200


def test_a_ticket_says_whether_its_round_is_watched(tmp_path: Path) -> None:
    for stop, watched in (("deadline", True), ("first", False)):
        with AskTell(ARMS, 2, learner="thompson", stop=stop, watch=0.0) as book:
            client = TestClient(create_app(book), base_url="http://localhost")
            assert client.post("/api/ask", json={}).json()["watched"] is watched


def test_serving_leaves_the_arms_of_a_database_alone(tmp_path: Path) -> None:
    AskTell(ARMS, 2, tmp_path / "runs.db", learner="thompson").close()
    (tmp_path / "portfolio.toml").write_text(
        'budget = 2\ndeadline = 9\nstorage = "runs.db"\nlearner = "thompson"\n'
        '[arms]\na = ["true"]\nb = ["true"]\n'
    )
    for store in ("runs.db", "portfolio.toml"):
        with opened_book(str(tmp_path / store), "default") as book:
            assert book.ledger.state.live.arms == ARMS


def test_serving_beyond_loopback_needs_a_token(tmp_path: Path) -> None:
    assert is_loopback("::1")
    assert not is_loopback("example.org")
    with pytest.raises(PickbestError, match="give a --token"):
        serve_store(str(tmp_path / "x.db"), "default", "0.0.0.0", 0, None)
    with pytest.raises(PickbestError, match="no such database"):
        serve_store(str(tmp_path / "x.db"), "default", "127.0.0.1", 0, None)


@pytest.mark.slow
def test_the_service_keeps_its_schema(client: TestClient) -> None:
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    schema = schemathesis.openapi.from_asgi("/openapi.json", client.app)
    for operation in schema.get_all_operations():
        _check_operation(operation.ok())


def _check_operation(operation) -> None:  # type: ignore[no-untyped-def]
    from hypothesis import HealthCheck, Phase, given, settings

    @settings(
        max_examples=12,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def check(case) -> None:  # type: ignore[no-untyped-def]
        response = case.call()
        # Costs that do not fit a round are refused, which no schema can say.
        if response.status_code != 400 or "round" not in response.json()["detail"]:
            case.validate_response(response)

    check()


def test_sigterm_ends_it_whatever_clients_do(served: tuple[str, Path]) -> None:
    """Group 9: connections that say nothing, half a header, or half a body."""
    address, store = served
    _get(f"{address}healthz")
    host, port = address.removeprefix("http://").rstrip("/").split(":")
    clients = []
    for words in (
        b"",
        b"GET /api/st",
        b"POST /api/ask HTTP/1.1\r\nHost: localhost\r\n"
        b"Content-Type: application/json\r\nContent-Length: 9\r\n\r\nx",
    ):
        clients.append(socket.create_connection((host, int(port))))
        clients[-1].sendall(words)
    time.sleep(0.2)
    (pid,) = running(str(store))
    begin = time.monotonic()
    os.kill(pid, signal.SIGTERM)
    assert eventually(lambda: not alive(pid), 10.0)
    assert time.monotonic() - begin < 5.0
    for each in clients:
        each.close()


@pytest.mark.slow
def test_idle_connections_are_closed(served: tuple[str, Path]) -> None:
    """Group 9: also one in the middle of its headers, however slowly it goes on."""
    address, _ = served
    _get(f"{address}healthz")
    host, port = address.removeprefix("http://").rstrip("/").split(":")
    with socket.create_connection((host, int(port))) as client:
        client.settimeout(60.0)
        begin = time.monotonic()
        ended = False
        while not ended and time.monotonic() - begin < 30.0:
            try:
                client.sendall(b"X")
                client.settimeout(1.0)
                ended = client.recv(100) == b""
            except TimeoutError:
                continue
            except OSError:
                ended = True
        assert ended


@pytest.mark.postgres
def test_passwords_are_nowhere_to_be_seen(postgres_server: str, tmp_path: Path) -> None:
    """Group 11: neither in the banner nor in errors."""
    url = postgres_server.replace("pickbest@", "pickbest:hunter2@", 1) + "&password=hunter3"
    AskTell(ARMS, 2, url, name="hidden", learner="thompson").close()
    command = [sys.executable, "-m", "pickbest.cli.main", "serve", url, "--name", "hidden"]
    process = subprocess.Popen(
        [*command, "--port", "0", "--token", "hunter4"], stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        banner = process.stderr.readline()
        assert "serving postgresql:" in banner
        assert "hunter" not in banner
    finally:
        process.terminate()
        process.wait(timeout=30.0)
        process.stderr.close()


def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    """Group 11."""
    before = os.umask(0)
    try:
        with AskTell(ARMS, 2, tmp_path / "new.db", learner="thompson") as book:
            book.ask()
            modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert modes.keys() >= {"new.db", "new.db-wal"}
    assert set(modes.values()) == {0o600}


def _get(address: str) -> object:
    until = time.monotonic() + 60.0
    while True:
        try:
            with urllib.request.urlopen(address, timeout=10.0) as answer:
                return json.load(answer)
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > until:
                raise
            time.sleep(0.1)
