"""The examples of docs/models.md, with scripts in place of models and agents."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pickbest.portfolio import AskTell
from tests.portfolio.test_names import serve

EXAMPLES = Path(__file__).parents[2] / "examples" / "models"


def run(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd)


def test_the_service_answers_and_learns_who_can(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "router.toml", tmp_path)
    asked = ["short", "a request of more than twenty letters", "x" * 70, "short, too"]
    (tmp_path / "requests.txt").write_text("\n".join(asked * 3) + "\n")
    process, address = serve(tmp_path / "router.toml")
    try:
        done = run(EXAMPLES / "service.py", address, tmp_path / "requests.txt")
    finally:
        process.terminate()
        process.wait(timeout=30.0)
    assert done.returncode == 0, done.stderr
    known = [each.upper() if len(each) <= 60 else "" for each in asked * 3]
    got = done.stdout.splitlines()
    # What the large model knows is answered unless its call was not thought worth its price.
    assert sum(a == b for a, b in zip(got, known, strict=True)) >= 9
    with AskTell.reopened(tmp_path / "portfolio.db") as book:
        assert book.status().problems == 12
        book.verify()


def test_a_router_that_runs_offline(tmp_path: Path) -> None:
    rows = [f"p{n},{float(n % 2)},1.0,0.1" for n in range(60)]
    (tmp_path / "table.csv").write_text("problem,half,good,bad\n" + "\n".join(rows) + "\n")
    (tmp_path / "prices.csv").write_text("model,dollars\nhalf,1\ngood,10\nbad,1\n")
    done = run(EXAMPLES / "recorded.py", tmp_path / "table.csv", tmp_path / "prices.csv", 0.01)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("60 problems, quality ")
    assert float(done.stdout.split()[3].rstrip(",")) > 0.8


def test_agents_race_over_worktrees_and_a_command_judges(tmp_path: Path) -> None:
    git = shutil.which("git")
    if git is None:
        pytest.skip("git is not installed")
    repository = tmp_path / "repository"
    repository.mkdir()
    for words in (
        ["init", "-q"],
        ["config", "user.email", "nobody@example.invalid"],
        ["config", "user.name", "nobody"],
        ["commit", "-q", "--allow-empty", "-m", "begin"],
    ):
        subprocess.run([git, *words], cwd=repository, check=True)
    agents = ["--agent", "works=sh -c 'echo {task} > done.txt'", "--agent", "idles=true"]
    agents += ["--agent", "fails=false"]
    words = (EXAMPLES / "agents.py", repository, "the task", "--judge", "test -f done.txt", *agents)
    done = run(*words, "--budget", 3)
    assert (done.returncode, done.stdout) == (0, "agent/works/0\n"), done.stderr
    shown = subprocess.run(
        [git, "show", "agent/works/0:done.txt"], cwd=repository, capture_output=True, text=True
    )
    assert shown.stdout == "the task\n"
    branches = subprocess.run([git, "branch"], cwd=repository, capture_output=True, text=True)
    assert "idles" not in branches.stdout
    trees = subprocess.run(
        [git, "worktree", "list"], cwd=repository, capture_output=True, text=True
    )
    assert len(trees.stdout.splitlines()) == 1
    with AskTell.reopened(repository / ".git" / "agents.db") as book:
        costs = {arm.name: arm.mean_cost for arm in book.status().arms}
    assert costs == {"works": 0.0, "idles": 1.0, "fails": 1.0}
