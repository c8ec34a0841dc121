"""What an operator needs of the service: metrics, tokens, logs."""

from __future__ import annotations

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


def test_logs_have_time_and_level(book: AskTell, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("secret\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "pickbest", "serve", str(tmp_path / "runs.db"), "--port", "0",
         "--token-file", str(token)],
        stderr=subprocess.PIPE, text=True, env={**os.environ, "TZ": "UTC"},
    )  # fmt: skip
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
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
