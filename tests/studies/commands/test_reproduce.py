"""`reproduce`: parts, keeping and interruption."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pickbest.core import PickbestError
from pickbest.report.document import Section
from studies.__main__ import app
from studies.commands.paper import Written, reproduce_parts
from studies.paper import recipes
from studies.paper.recipes import recipe_named
from studies.report.sections import section_from_json

PART = "gamma"


def run(out: Path, *parts: str, seed: int = 0, workers: int = 1) -> Written:
    return reproduce_parts(list(parts), out, None, 2, seed, workers)


def kept(out: Path) -> list[str]:
    return sorted(path.name for path in (out / "parts").iterdir())


def test_unknown_part_gets_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(PickbestError, match="unknown part 'table1'; did you mean 'table-1'"):
        run(tmp_path / "out", "table1")
    assert not (tmp_path / "out").exists()
    result = CliRunner().invoke(app, ["reproduce", "tabel-1", "--out", str(tmp_path / "out")])
    assert isinstance(result.exception, PickbestError)


def test_the_page_has_what_was_run_and_says_what_was_not(tmp_path: Path) -> None:
    written = run(tmp_path / "out", PART, "uniform")
    assert written.parts == 2
    assert "has not been run yet" in written.page.read_text()
    assert (tmp_path / "out" / "tables" / "gamma.csv").read_text().startswith("γ,value,")
    for suffix in ("png", "svg"):
        assert (tmp_path / "out" / "figures" / f"uniform.{suffix}").stat().st_size > 1000
    assert "### The γ of Exp3" in (tmp_path / "out" / "report.md").read_text()


def test_finished_parts_are_kept_and_damage_is_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[str] = []
    whole = recipes.run_part

    def counting(recipe, setting):  # type: ignore[no-untyped-def]
        runs.append(recipe.name)
        return whole(recipe, setting)

    monkeypatch.setattr(recipes, "run_part", counting)
    out = tmp_path / "out"
    first = run(out, PART).page.read_bytes()
    assert run(out, PART).page.read_bytes() == first
    assert runs == [PART]
    (place,) = (out / "parts").iterdir()
    place.write_text('{"name": "gam')
    assert run(out, PART).page.read_bytes() == first
    assert runs == [PART, PART]
    run(out, PART, seed=1)
    assert len(kept(out)) == 2


def test_key_follows_all_that_a_part_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = recipe_named("task-3")
    other = replace(recipe, options={"budget": 2, "rounds": 300})
    plans = [(recipe, 0, None, "abc"), (recipe, 1, None, "abc"), (recipe, 0, 5, "abc"),
             (recipe, 0, None, "def"), (other, 0, None, "abc")]  # fmt: skip
    keys = [recipes.part_key(*plan) for plan in plans]
    for shipped in recipes.SHIPPED:
        monkeypatch.setattr(recipes, "digest_of", lambda path, own=shipped: str(path == own))
        keys.append(recipes.part_key(*plans[0]))
    assert "more_losses.csv.gz" in {shipped.name for shipped in recipes.SHIPPED}
    assert len(set(keys)) == len(keys)


def test_same_numbers_for_any_number_of_workers(tmp_path: Path) -> None:
    names = ("gamma", "overtaking", "worst-sequence")
    one = run(tmp_path / "one", *names).page.read_text()
    assert run(tmp_path / "two", *names, workers=2).page.read_text() == one


def test_ctrl_c_leaves_no_broken_file_and_a_rerun_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "out"
    parts = ["gamma", "task-3", "overtaking", "trade-off"]
    command = [sys.executable, "-m", "studies", "reproduce", *parts, "--out", str(out)]
    command += ["--replicates", "40", "--workers", "2"]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    deadline = time.monotonic() + 240
    while not list((out / "parts").glob("*.json")) and time.monotonic() < deadline:
        time.sleep(0.05)
    # As a terminal does: the whole group gets the signal.
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    if process.returncode != 0:
        assert process.returncode == 130, errors.decode()
        assert b"Traceback" not in errors, errors.decode()
    finished = list((out / "parts").iterdir())
    assert finished
    for path in finished:
        assert path.suffix == ".json", "a temporary file was left behind"
        assert isinstance(section_from_json(path.read_text()), Section)
    times = {path: path.stat().st_mtime_ns for path in finished}
    again = subprocess.run(command, capture_output=True, timeout=300, check=False)
    assert again.returncode == 0, again.stderr.decode()
    assert all(path.stat().st_mtime_ns == before for path, before in times.items())
    assert len(kept(out)) == len(parts)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--replicates", "0"], "replicates must be"),
        (["--workers", "0"], "workers must be"),
        (["--seed", "-1"], "seed must be"),
        (["--rewards", "nowhere.csv"], "no such file"),
    ],
)
def test_bad_options_are_refused_before_anything_is_written(
    tmp_path: Path, options: list[str], message: str
) -> None:
    out = tmp_path / "out"
    result = CliRunner().invoke(app, ["reproduce", PART, "--out", str(out), *options])
    assert isinstance(result.exception, PickbestError)
    assert message in str(result.exception)
    assert not out.exists()
    out.write_text("mine")
    with pytest.raises(PickbestError, match="is not a folder"):
        run(out, PART)
    assert out.read_text() == "mine"
