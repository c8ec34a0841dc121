"""Live rounds do not compile; machine code is kept, found again, and never stale."""

import os
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from pickbest.kernels import compiled as module
from pickbest.kernels.compiled import Compiled, always, compiled, interpreted, kernel
from pickbest.kernels.kept_code import cache_folder, digest
from pickbest.learners import Auto, Thompson

LIVE = """
import sys
import pickbest
assert "numba" not in sys.modules, "import pickbest"
from pickbest import Player, make_learner
for n_arms in (6, 50):
    for name in ("auto", "fpml-partial", "thompson", "schedules"):
        player = Player(make_learner(name, n_arms, 2, rounds=100))
        for _ in range(3):
            player.tell(player.ask(), [0.25, 0.5])
player = Player(make_learner("auto", 6, 2))
for size in range(3):
    player.tell(player.ask(features={"size": size, "kind": "x"}), [0.25, 0.5])
assert "numba" not in sys.modules, "live rounds"
"""

TABLE = """
import sys
import numpy as np
from pickbest.core import Seat
from pickbest.learners import Thompson
print(Seat(Thompson(4, 2), 1).play_table(np.random.default_rng(0).random((1, 50, 4)), 0).sum())
"""


def run(code: str, cache: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", code],
        env={**os.environ, "PICKBEST_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_and_live_rounds_need_no_compiler(tmp_path):
    run(LIVE, tmp_path)
    assert not any(tmp_path.rglob("*.nb?"))


def test_machine_code_is_found_again_and_damage_is_mended(tmp_path):
    first = run(TABLE, tmp_path)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")}
    assert kept
    assert run(TABLE, tmp_path) == first
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")} == kept
    for path in kept:
        path.write_bytes(b"not machine code")
    assert run(TABLE, tmp_path) == first
    assert run(TABLE, tmp_path) == first


def test_code_that_cannot_be_kept_runs_all_the_same(tmp_path):
    (tmp_path / "compiled").write_text("a file where the folder should be")
    with pytest.raises(AssertionError, match="compiled code cannot be kept"):
        run(TABLE, tmp_path)


def test_the_folder_is_the_users(monkeypatch, tmp_path):
    monkeypatch.setenv("PICKBEST_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("PICKBEST_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    if sys.platform == "linux":
        assert cache_folder() == tmp_path / "x" / "pickbest"


def made(factor, table, inner):
    """A function that reaches a constant, an array, and another function."""

    @kernel
    def called(value):
        return factor * value + inner

    def entrance(value):
        return called(value) + table[0]

    return entrance


def test_what_is_kept_is_found_by_all_that_went_into_it():
    table = np.array([1.0, 2.0])
    base = digest(made(2.0, table, 1))
    assert digest(made(2.0, table.copy(), 1)) == base
    assert digest(made(3.0, table, 1)) != base
    assert digest(made(2.0, table + 1.0, 1)) != base
    assert digest(made(2.0, table, 2)) != base


def test_a_change_in_one_learner_leaves_the_others(monkeypatch):
    own = Auto(4, 2).sets.rule.play_games.plain, Thompson(4, 2).rule.play_games.plain
    before = [digest.__wrapped__(each) for each in own]
    monkeypatch.setattr("pickbest.learners.auto.sets.PRIOR", 17.0)
    after = [digest.__wrapped__(each) for each in own]
    assert after[0] != before[0]
    assert after[1] == before[1]


def counted(calls):
    """A function that notes how it runs: machine code cannot reach the list."""

    def plain(value):
        calls.append(value)
        return value + 1.0

    return Compiled(plain)


def test_rounds_are_interpreted_until_compiling_would_have_paid(monkeypatch):
    calls = []
    entrance = counted(calls)
    machine = partial(lambda value: value + 1.0)
    monkeypatch.setattr(Compiled, "_machine", property(lambda self: machine))
    for value in range(3):
        assert entrance.suited()(float(value)) == value + 1.0
    assert len(calls) == 3
    monkeypatch.setattr(module, "LOAD_SECONDS", -1.0)
    monkeypatch.setattr(module, "COMPILE_SECONDS", -1.0)
    assert entrance.suited()(5.0) == 6.0
    entrance._meanwhile.join()
    assert entrance.suited()(6.0) == 7.0
    with always("compiled"):
        assert entrance.suited()(7.0) == 8.0
    assert len(calls) == 4
    with always("interpreted"):
        assert entrance.suited()(8.0) == 9.0
    assert len(calls) == 5


def test_no_call_waits_while_another_thread_compiles(monkeypatch):
    monkeypatch.setattr(module, "LOAD_SECONDS", -1.0)
    monkeypatch.setattr(module, "COMPILE_SECONDS", -1.0)
    compiles = threading.Event()

    class Slow(partial):
        def __new__(cls):
            compiles.wait(60.0)
            return super().__new__(cls, lambda value: value + 1.0)

    calls = []
    entrance = counted(calls)
    monkeypatch.setattr(Compiled, "_machine", property(lambda self: Slow()))
    assert [entrance.suited()(float(value)) for value in range(3)] == [1.0, 2.0, 3.0]
    assert len(calls) == 3
    compiles.set()
    entrance._meanwhile.join()
    assert entrance.suited()(9.0) == 10.0
    assert len(calls) == 3


def test_numbers_wrap_around_and_divide_by_zero_without_a_word():
    assert interpreted(lambda: np.uint64(2**63) * np.uint64(2)) == 0
    assert interpreted(lambda: np.float64(1.0) / np.float64(0.0)) == np.inf


def test_an_entrance_is_compiled_at_once():
    @compiled
    def doubled(value):
        return 2.0 * value

    assert doubled(1.5) == 3.0
    assert "_machine" in vars(doubled)
