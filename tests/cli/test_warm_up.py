"""Compiling is told, done once, and uninstalled with the package."""

import gc
import os
import subprocess
import sys
from importlib import metadata
from types import SimpleNamespace

import pytest
from pickbest.kernels.compile_notice import NOTICE, FirstCompile

from pickbest.cli import warm_up

ROUNDS_ONE_BY_ONE = """
from numba.core import event
from pickbest import Player, Portfolio, make_learner
with event.install_recorder("numba:compile") as compiled:
    player = Player(make_learner("auto", n_arms=5, budget=2))
    for _ in range(3):
        player.tell(player.ask(), [0.25, 0.75])
    arms = {"quick": ["echo", "{problem}"], "slow": ["sleep", "1"], "wrong": ["false"]}
    with Portfolio(arms, budget=2, deadline=1.0) as portfolio:
        for problem in ("a", "b", "c"):
            portfolio.solve(problem)
print(len(compiled.buffer))
"""


def run(*words, cache=None):
    environment = {**os.environ, **({"NUMBA_CACHE_DIR": str(cache)} if cache else {})}
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=True, env=environment
    )


def pickbest(*words, cache=None):
    return run("-m", "pickbest", *words, cache=cache)


def test_after_it_nothing_is_left_to_compile():
    pickbest("warm-up")
    again = pickbest("warm-up")
    assert again.stdout.startswith("nothing to compile: kept in /"), again.stdout
    assert pickbest("simulate", "task-1", "-b", "3", "-r", "2").stderr == ""
    assert run("-c", ROUNDS_ONE_BY_ONE).stdout == "0\n"


def test_the_first_command_says_that_it_compiles(tmp_path):
    words = ("simulate", "task-2", "-l", "ucb", "-r", "2", "-b", "2", "--json")
    first, second = pickbest(*words, cache=tmp_path), pickbest(*words, cache=tmp_path)
    assert first.stderr == NOTICE + "\n"
    assert second.stderr == ""
    assert first.stdout == second.stdout
    if len(os.sched_getaffinity(0)) > 1:  # how it learns was compiled by the other process
        assert any(tmp_path.rglob("*_learn_rows_*.nbi"))


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_waits_until_all_is_compiled(collects):
    listener = FirstCompile()
    try:
        (gc.enable if collects else gc.disable)()
        listener.on_start(None)
        listener.on_start(None)
        listener.on_end(None)
        assert not gc.isenabled()
        listener.on_end(None)
        assert gc.isenabled() is collects
    finally:
        gc.enable()


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """An installed package of two files, one of them compiled: its list of files."""
    cache = tmp_path / "pickbest" / "kernels" / "__pycache__"
    cache.mkdir(parents=True)
    (cache / "rules.pick-1.py311.nbi").touch()
    record = tmp_path / "pickbest-0.dist-info" / "RECORD"
    record.parent.mkdir()
    record.write_text("pickbest/__init__.py,,\npickbest-0.dist-info/RECORD,,\n")
    paths = [metadata.PackagePath(line.split(",")[0]) for line in record.read_text().splitlines()]
    for path in paths:
        path.dist = SimpleNamespace(locate_file=tmp_path.joinpath)
    monkeypatch.setattr(metadata, "distribution", lambda name: SimpleNamespace(files=paths))
    monkeypatch.setattr(warm_up, "PACKAGE", tmp_path / "pickbest")
    return record


def test_uninstalling_finds_compiled_files(installed):
    before = installed.read_text()
    warm_up.list_as_installed()
    added = "pickbest/kernels/__pycache__/rules.pick-1.py311.nbi,,\n"
    assert installed.read_text() == before + added


def test_a_source_tree_is_left_alone(installed, tmp_path, monkeypatch):
    monkeypatch.setattr(warm_up, "PACKAGE", tmp_path.parent / "src" / "pickbest")
    before = installed.read_text()
    warm_up.list_as_installed()
    assert installed.read_text() == before
