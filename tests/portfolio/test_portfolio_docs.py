"""The portfolio.toml files and the commands of docs/portfolio.md work as they stand there."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pickbest.portfolio.run.portfolio_file import read_portfolio_file

TEXT = (Path(__file__).parents[2] / "docs" / "portfolio.md").read_text(encoding="utf-8")
SOLVERS = "def run(problem):\n    return None\n\n\ndef check(run):\n    return True\n"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


SMALL, FULL = blocks("toml")
(COMMANDS,) = blocks("bash")


def test_the_full_file_says_what_it_says(tmp_path: Path) -> None:
    pytest.importorskip("pysat", reason="PySAT is not installed (extra: sat)")
    (tmp_path / "my_solvers.py").write_text(SOLVERS)
    (tmp_path / "portfolio.toml").write_text(FULL)
    config = read_portfolio_file(tmp_path / "portfolio.toml")
    assert set(config.arms) == {"minisat", "kissat", "mine", "cadical"}
    with config.open() as portfolio:
        assert portfolio.double_check == 0.1
        assert portfolio.status().budget == config.budget


def test_the_commands_run_one_after_the_other(tmp_path: Path) -> None:
    pytest.importorskip("pysat", reason="PySAT is not installed (extra: sat)")
    (tmp_path / "portfolio.toml").write_text(SMALL)
    (tmp_path / "problems").mkdir()
    rng = random.Random(5)
    for number in range(5):
        clauses = [
            [rng.choice([-1, 1]) * each for each in rng.sample(range(1, 21), 3)] for _ in range(86)
        ]
        lines = [" ".join(map(str, [*clause, 0])) for clause in clauses]
        text = "p cnf 20 86\n" + "\n".join(lines) + "\n"
        (tmp_path / "problems" / f"{number}.cnf").write_text(text)
    program = tmp_path / "bin" / "pickbest"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m pickbest.cli.main "$@"\n')
    program.chmod(0o755)
    done = subprocess.run(
        ["bash", "-euxc", COMMANDS],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("skipped 5 of 5 problems: already finished") == 1
    assert "5 rounds finished" in " ".join(done.stdout.split())
    for name in ("report/report.html", "runs.csv"):
        assert (tmp_path / name).stat().st_size > 0
