"""Kept results: what they depend on, and what becomes of damaged files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pickbest.learners import Greedy, Hedge
from studies import cache
from studies.cache import Cache, code_digest, key_of, modules_of


def test_results_follow_our_code_and_a_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "module.py"
    source.write_text("one = 1")
    monkeypatch.setattr(cache, "SOURCES", {"studies": tmp_path})
    found = []
    for text in ("one = 1", "one = 2"):
        source.write_text(text)
        cache.our_digest.cache_clear()
        found += [code_digest({"json"}), code_digest({__name__}), code_digest({"studies.cache"})]
    cache.our_digest.cache_clear()
    assert len(set(found)) == 6
    assert found[2] == found[0][:16], "of our own modules all count already"


def test_an_object_needs_the_modules_of_its_fields() -> None:
    assert modules_of(Greedy(Hedge(3, 0.1), 2)) >= {Hedge.__module__, Greedy.__module__}


def test_what_cannot_be_read_is_not_there(tmp_path: Path) -> None:
    kept: Cache[list[int]] = Cache(tmp_path / "kept", json.dumps, json.loads)
    assert kept.read("a") is None
    kept.keep("a", [1, 2])
    assert kept.read("a") == [1, 2]
    (tmp_path / "kept" / "a.json").write_text("[1, ")
    assert kept.read("a") is None
    assert key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1}) != key_of({"a": 2, "b": 2})
