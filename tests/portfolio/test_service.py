"""The service: ask and tell over HTTP, checked against its own schema and in a browser."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from pickbest.core import PickbestError
from pickbest.portfolio import AskTell

fastapi = pytest.importorskip("fastapi", reason="the extra serve is not installed")
pytest.importorskip("httpx", reason="httpx is needed to test the service")

from fastapi.testclient import TestClient  # noqa: E402

from pickbest.portfolio.service.app import create_app  # noqa: E402
from pickbest.portfolio.service.server import is_loopback, serve_store  # noqa: E402

ARMS = ("a", "b", "c")


@pytest.fixture
def book(tmp_path: Path) -> Iterator[AskTell]:
    built = AskTell(ARMS, 2, tmp_path / "runs.db")
    yield built
    built.close()


@pytest.fixture
def client(book: AskTell) -> TestClient:
    return TestClient(create_app(book), base_url="http://localhost")


def test_ask_tell_status_history_curve(client: TestClient, book: AskTell) -> None:
    ticket = client.post("/api/ask", json={"problem": "p <1>"}).json()
    assert len(ticket["arms"]) == 2
    told = client.post("/api/tell", json={"round": 0, "costs": [0.25, None], "answer": {"x": 1}})
    assert (told.status_code, told.json()) == (200, {"round": 0})
    client.post("/api/ask", json={})
    assert client.post("/api/forget", json={"round": 1}).status_code == 200
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
    curve = client.get("/api/curve").json()
    assert (curve["rounds"], curve["portfolio"]) == ([0], [0.25])
    assert curve["arms"][ticket["arms"][1]] == [None]
    book.verify()


def test_refusals_are_one_sentence_and_change_nothing(client: TestClient, book: AskTell) -> None:
    client.post("/api/ask", json={})
    records = len(book.ledger.entries())
    for body, code, message in (
        ({"round": 7, "costs": [0, 0]}, 404, "unknown round 7"),
        ({"round": 0, "costs": [0.5]}, 400, "has 2 arms, got 1 costs"),
        ({"round": 0, "costs": [0.5, 1.5]}, 422, "less than or equal to 1"),
        ({"round": 0, "costs": [0.5, 0.5], "cost": 1}, 422, "Extra inputs"),
    ):
        answer = client.post("/api/tell", json=body)
        assert answer.status_code == code
        assert message in answer.text
    assert len(book.ledger.entries()) == records
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


def test_serving_beyond_loopback_needs_a_token(tmp_path: Path) -> None:
    assert is_loopback("::1")
    assert not is_loopback("example.org")
    with pytest.raises(PickbestError, match="give a --token"):
        serve_store(str(tmp_path / "x.db"), "default", "0.0.0.0", 0, None)
    with pytest.raises(PickbestError, match="no such database"):
        serve_store(str(tmp_path / "x.db"), "default", "127.0.0.1", 0, None)


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
        case.call_and_validate()

    check()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """`pickbest serve` in a process of its own: its address and its database."""
    store = tmp_path / "runs.db"
    book = AskTell(ARMS, 2, store)
    for number in range(12):
        ticket = book.ask(f"problem <b>{number}</b>")
        book.tell(ticket, [{"a": 0.1, "b": 0.5, "c": 0.9}[arm] for arm in ticket.arms])
    book.close()
    process = subprocess.Popen(
        [sys.executable, "-m", "pickbest.cli.main", "serve", str(store), "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    words = process.stderr.readline().split()
    address = next(word for word in words if word.startswith("http://"))
    drain = threading.Thread(target=process.stderr.read, daemon=True)
    drain.start()
    try:
        yield address, store
    finally:
        process.terminate()
        process.wait(timeout=30.0)
        drain.join(timeout=10.0)
        process.stderr.close()


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


def test_the_page_in_a_browser(served: tuple[str, Path]) -> None:
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        pytest.skip("Chromium is not installed (Debian: chromium, chromium-driver)")
    address, store = served
    _get(f"{address}api/status")
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.support.ui import WebDriverWait

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        browser.get(address)
        wait = WebDriverWait(browser, 60.0)
        summary = browser.find_element("id", "summary")
        wait.until(lambda _: summary.text.startswith("12 rounds finished, 0 lost"))
        rows = browser.find_elements("css selector", "#arms tbody tr")
        assert [row.find_elements("tag name", "td")[0].text for row in rows] == list(ARMS)
        rounds = browser.find_elements("css selector", "#rounds tbody tr")
        assert len(rounds) == 12
        assert "problem <b>11</b>" in rounds[0].text, "text must be shown as text"
        lines = browser.find_elements("css selector", "#chart polyline")
        drawn = {line.get_attribute("data-name") for line in lines}
        assert drawn == {"portfolio", *ARMS}
        # A round that another process plays shows up by itself.
        book = AskTell.reopened(store)
        book.tell(book.ask("from elsewhere"), [0.0, 1.0])
        book.close()
        wait.until(lambda _: summary.text.startswith("13 rounds finished"))
        wait.until(
            lambda _: (
                "from elsewhere" in browser.find_element("css selector", "#rounds tbody tr").text
            )
        )
        assert browser.find_element("id", "error").text == ""
        severe = [line for line in browser.get_log("browser") if line["level"] == "SEVERE"]
        assert [line for line in severe if "favicon" not in line["message"]] == []
    finally:
        browser.quit()
