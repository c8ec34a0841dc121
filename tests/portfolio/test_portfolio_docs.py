"""The portfolio.toml of docs/portfolio.md that shows every key can be opened as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pickbest.portfolio.run.portfolio_file import read_portfolio_file

TEXT = (Path(__file__).parents[2] / "docs" / "portfolio.md").read_text(encoding="utf-8")
SOLVERS = "def run(problem):\n    return None\n\n\ndef check(run):\n    return True\n"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


(FULL,) = blocks("toml")


def test_the_full_file_says_what_it_says(tmp_path: Path) -> None:
    pytest.importorskip("pysat", reason="PySAT is not installed (extra: sat)")
    (tmp_path / "my_solvers.py").write_text(SOLVERS)
    (tmp_path / "portfolio.toml").write_text(FULL)
    config = read_portfolio_file(tmp_path / "portfolio.toml")
    assert set(config.arms) == {"minisat", "kissat", "mine", "cadical"}
    with config.open() as portfolio:
        assert portfolio.status().budget == config.budget
