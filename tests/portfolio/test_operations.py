"""What an operator needs of the service: metrics, tokens, logs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pickbest.core import PickbestError
from pickbest.portfolio import AskTell

pytest.importorskip("fastapi", reason="the extra serve is not installed")
pytest.importorskip("httpx", reason="httpx is needed to test the service")

from fastapi.testclient import TestClient

from pickbest.cli.store import _token_in
from pickbest.portfolio.service.app import create_app
from pickbest.portfolio.service.server import serve_store

ODD = 'odd "name"\\\n'


@pytest.fixture
def book(tmp_path: Path) -> Iterator[AskTell]:
    with AskTell(("a", ODD, "c"), 2, tmp_path / "runs.db", learner="uniform") as built:
        for number in range(5):
            ticket = built.ask(f"p{number}")
            built.tell(ticket, [0.25, 0.75])
        built.ask("open")
        yield built


def test_metrics_are_what_prometheus_reads(book: AskTell) -> None:
    parser = pytest.importorskip(
        "prometheus_client.parser", reason="Prometheus' own parser is not installed: make install"
    )
    answer = TestClient(create_app(book)).get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    found: dict[str, Any] = {
        family.name: family for family in parser.text_string_to_metric_families(answer.text)
    }
    rounds = {s.labels["state"]: s.value for s in found["pickbest_rounds"].samples}
    assert rounds == {"finished": 5.0, "lost": 0.0}
    assert found["pickbest_rounds"].type == "counter"
    assert found["pickbest_rounds_open"].samples[0].value == 1.0
    assert found["pickbest_cost_mean"].samples[0].value == 0.25
    picked = {s.labels["arm"]: s.value for s in found["pickbest_arm_picked"].samples}
    assert set(picked) == {"a", ODD, "c"}
    assert sum(picked.values()) == 2 * 6
    assert sum(s.value for s in found["pickbest_arm_won"].samples) == 5


def test_a_token_for_readers_changes_nothing(book: AskTell) -> None:
    client = TestClient(create_app(book, token="writes", reader="reads"))
    readers, writers = ({"Authorization": f"Bearer {token}"} for token in ("reads", "writes"))
    for path in ("/metrics", "/api/status", "/api/history"):
        assert client.get(path).status_code == 401
        assert client.get(path, headers=readers).status_code == 200
        assert client.get(path, headers=writers).status_code == 200
    asked = book.status().asked
    refused = client.post("/api/ask", json={}, headers=readers)
    assert (refused.status_code, refused.json()) == (403, {"detail": "this token may only read"})
    assert book.status().asked == asked
    assert client.post("/api/ask", json={}, headers=writers).status_code == 200


def test_token_files_hold_one_word(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("  secret\n")
    assert _token_in(path) == "secret"
    for text in ("", "two words", "\n"):
        path.write_text(text)
        with pytest.raises(PickbestError, match="must hold one word"):
            _token_in(path)
    with pytest.raises(PickbestError, match="cannot be read"):
        _token_in(tmp_path / "none")


def test_wrong_settings_are_refused(tmp_path: Path) -> None:
    place = (str(tmp_path / "x.db"), "default", "127.0.0.1", 0, None)
    with pytest.raises(PickbestError, match="needs another that may write"):
        serve_store(*place, reader="reads")
    with pytest.raises(PickbestError, match="unknown log format 'xml'"):
        serve_store(*place, log_format="xml")


@pytest.mark.parametrize("form", ["plain", "json"])
def test_logs_have_time_and_level(book: AskTell, tmp_path: Path, form: str) -> None:
    token = tmp_path / "token"
    token.write_text("secret\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "pickbest", "serve", str(tmp_path / "runs.db"), "--port", "0",
         "--token-file", str(token), "--log-format", form],
        stderr=subprocess.PIPE, text=True, env={**os.environ, "TZ": "UTC"},
    )  # fmt: skip
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        if form == "json":
            said = json.loads(line)
            assert said["level"] == "info"
            assert said["time"].startswith("20")
            line = said["message"]
        else:
            day, _, level, name, line = line.split(maxsplit=4)
            assert (day[:2], level, name) == ("20", "INFO", "pickbest.service:")
        assert line.startswith("serving ")
        address = line.split()[-1]
        request = urllib.request.Request(
            f"{address}metrics", headers={"Authorization": "Bearer secret"}
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            assert b"pickbest_rounds_total" in answer.read()
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"{address}api/status", timeout=20)
    finally:
        process.terminate()
        process.wait(timeout=30.0)
        process.stderr.close()
