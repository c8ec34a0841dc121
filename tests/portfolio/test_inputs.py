"""Files and names of others: refused or used, never a traceback, a crash or a hang."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pickbest import Player, make_learner
from pickbest.core import PickbestError, savefile
from pickbest.core.text import printable
from tests.fuzz.run import KINDS

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "pickbest.cli.main"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(KINDS))
def test_mutated_inputs_are_used_or_refused(kind: str) -> None:
    """The full size is `python -m tests.fuzz --inputs 20000`."""
    words = ["--inputs", "300", "--seed", "1", "--kinds", kind]
    command = [sys.executable, "-m", "tests.fuzz", *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{kind} " in done.stdout


def test_a_save_file_with_an_arm_out_of_range_is_refused(tmp_path: Path) -> None:
    """Compiled code would trust it."""
    player = Player(make_learner("fpml-partial", 6, 2, rounds=50))
    player.ask()
    path = tmp_path / "player.npz"
    player.save(path)
    header, arrays = savefile.from_npz(path.read_bytes())
    header.pop("checksum")
    for arms in ([0, 6], [0, -1], [0, 2**40], [0, 1, 2], [0.5, 1.0]):
        savefile.write(path, header, {**arrays, "open/0/arms": np.array([arms])})
        with pytest.raises(PickbestError, match="an open ticket must have 2 arms from 0 to 5"):
            Player.load(path)


@pytest.mark.parametrize(("field", "number"), [("variance", -1.0), ("share", 0.0), ("slack", -1)])
def test_a_guard_that_no_game_leads_to_is_refused(
    tmp_path: Path, field: str, number: float
) -> None:
    path = tmp_path / "player.npz"
    Player(make_learner("auto", 6, 2)).save(path)
    header, arrays = savefile.from_npz(path.read_bytes())
    header.pop("checksum")
    (name,) = (each for each in arrays if each.endswith(f"guard/{field}"))
    arrays[name][...] = number
    savefile.write(path, header, arrays)
    with pytest.raises(PickbestError, match="guard: share must be above 0"):
        Player.load(path)


def test_a_save_file_cannot_ask_for_more_room_than_it_fills(tmp_path: Path) -> None:
    player = Player(make_learner("uniform", 6, 2))
    path = tmp_path / "player.npz"
    player.save(path)
    header, arrays = savefile.from_npz(path.read_bytes())
    header.pop("checksum")
    header["learner"]["n_arms"] = 10**9
    savefile.write(path, header, arrays)
    with pytest.raises(PickbestError, match="n_arms must be at most 1000 in this file"):
        Player.load(path)


def test_what_cannot_be_printed_is_escaped() -> None:
    assert printable("a\x1b]0;x\x07\r\n\u202e\udcff") == r"a\x1b]0;x\x07\r\n\u202e\udcff"
    assert printable("ä ∅ 日本") == "ä ∅ 日本"


@pytest.mark.parametrize(
    "encoding", [pytest.param("utf-8:strict", marks=pytest.mark.slow), "ascii:strict"]
)
def test_names_and_answers_of_any_bytes_work_everywhere(
    tmp_path: Path, encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Groups 5 and 13: no output dies of them, none of them acts on a terminal."""
    (tmp_path / "portfolio.toml").write_text(
        'budget = 1\ndeadline = 20\nlearner = "thompson"\n[arms]\n'
        'say = ["sh", "-c", "printf \'\\\\033[2J\\\\377\'; printf \'\\\\033[31mwhy\' >&2"]\n'
    )
    name = os.fsdecode(b"p\xff\x1b[2J.cnf")
    (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    environment = {**os.environ, "PYTHONIOENCODING": encoding}

    def run(*words: str) -> bytes:
        done = subprocess.run([*COMMAND, *words], capture_output=True, env=environment)
        assert done.returncode == 0, done.stderr
        assert b"\x1b[2J" not in done.stdout + done.stderr
        return done.stdout

    file = str(tmp_path / "portfolio.toml")
    assert rb"p\udcff\x1b[2J.cnf" in run("run", file, name)
    assert json.loads(run("run", file, name, "--json"))["problem"] == name
    run("status", file)
    run("verify", file)
    # A line a round: of a long name, its end.
    assert rb"\x1b[2J.cnf" in run("history", file)
    views = [json.loads(line) for line in run("history", file, "--json").splitlines()]
    assert [view["problem"] for view in views] == [name, name]
    out = tmp_path / "out.jsonl"
    run("export", file, "--out", str(out))
    assert json.dumps(name) in out.read_text()
