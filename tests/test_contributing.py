"""CONTRIBUTING's example is a learner that works: source file, line in the catalog, test file."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

PLUGIN = """
from epsilon_greedy import EpsilonGreedy
from pickbest.catalog import LearnerEntry, register_learner

register_learner({line})
"""


@pytest.mark.slow
def test_the_walk_through_works(tmp_path):
    text = (ROOT / "CONTRIBUTING.md").read_text()
    blocks = dict(re.findall(r"```python file=(\S+)\n(.*?)```", text, re.S))
    assert set(blocks) == {"epsilon_greedy.py", "line.py", "test_epsilon_greedy.py"}
    for name in ("epsilon_greedy.py", "test_epsilon_greedy.py"):
        (tmp_path / name).write_text(blocks[name])
    (tmp_path / "conftest.py").write_text(PLUGIN.format(line=blocks["line.py"].strip()))
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    command = [sys.executable, "-m", "pytest", "-q", "--doctest-modules", "-p", "no:cacheprovider"]
    outcome = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stdout[-3000:]
    assert "3 passed" in outcome.stdout, outcome.stdout[-3000:]
    # What it compiled is of no harm to those who do not have its module.
    play = "from pickbest import make_learner, Player; p = Player(make_learner('{}', 4, 2)); "
    play += "p.tell(p.ask(), [0.5, 0.5])"
    for name in ("thompson", "hedge-partial"):
        command = [sys.executable, "-c", play.format(name)]
        outcome = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)
        assert outcome.returncode == 0, outcome.stderr[-3000:]
