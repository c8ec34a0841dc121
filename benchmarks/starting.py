"""How long a user waits for the first answer, in new processes and without compiled code.

Every row is the shortest of a few runs. Bytecode is written as for any installed package; the
folder of compiled code is empty where a table is played.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from pickbest import Player, make_learner
from timing import Row, best_of, limit_row, seconds

RUNS = 5
IMPORT, NAMES = "import pickbest", "from pickbest import Player, make_learner"
# The time from the end of the imports to the first ticket.
FIRST_ASK = (
    "import time; from pickbest import Player, make_learner; start = time.perf_counter(); "
    "Player(make_learner('auto', {n_arms}, 3)).ask(); print(time.perf_counter() - start)"
)
# The whole process: a first question must not wait longer than that with any number of arms.
WHOLE_ASK = NAMES + "; Player(make_learner('auto', {n_arms}, 3)).ask()"
FEATURES, SOME_ARMS = 384, 6
ROUND = 'budget = 2\ndeadline = 60.0\n\n[arms]\none = ["true"]\ntwo = ["true"]\nthree = ["true"]\n'
PICKBEST = (sys.executable, "-P", "-c", "from pickbest.cli.main import main; main()")


def rows() -> list[Row]:
    """The table's rows; see benchmarks/run.py."""
    with tempfile.TemporaryDirectory() as folder:
        return [
            limit_row("`import pickbest`, beside `python -c ''`", python(IMPORT), 0.2, python("")),
            limit_row("imports of a first ask, beside NumPy", python(NAMES), 0.2, python(NUMPY)),
            *(ask_row(n_arms) for n_arms in (6, 20, 50)),
            first_round(Path(folder)),
            fresh_simulation(Path(folder)),
            features_row(),
        ]


NUMPY = "import numpy"


def python(code: str) -> float:
    """A new process that runs this."""
    return shortest([sys.executable, "-c", code])


def shortest(command: Sequence[str], runs: int = RUNS, **environment: str) -> float:
    """Seconds of a process, the shortest of a few runs after one that is not counted."""
    known = {**os.environ, **environment}
    known.pop("PYTHONDONTWRITEBYTECODE", None)
    run = partial(subprocess.run, command, env=known, stdout=subprocess.DEVNULL, check=True)
    return best_of(lambda: run(), runs)


def ask_row(n_arms: int) -> Row:
    """The first question of a new process, imports not counted."""
    code = FIRST_ASK.format(n_arms=n_arms)
    said = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
        for _ in range(RUNS)
    ]
    whole = python(WHOLE_ASK.format(n_arms=n_arms))
    name = f"first `Player.ask()`, {n_arms} arms, beside its whole process"
    return limit_row(name, min(said), 0.3, whole)


def first_round(folder: Path) -> Row:
    """A new process of `pickbest run` with a new journal: one race of two `true`."""
    portfolio = folder / "portfolio.toml"
    portfolio.write_text(f'storage = "sqlite:///{folder}/rounds.db"\n{ROUND}')
    taken = []
    for _ in range(RUNS):
        (folder / "rounds.db").unlink(missing_ok=True)
        taken.append(shortest([*PICKBEST, "run", str(portfolio), "--unchecked", "p"], runs=1))
    return limit_row("first round of `pickbest run`, whole process", min(taken), 0.5)


def fresh_simulation(folder: Path) -> Row:
    """`pickbest simulate` without any compiled code."""
    command = [*PICKBEST, "simulate", "task-1", "-l", "auto", "-b", "3"]
    taken = []
    for number in range(2):
        cache = {**os.environ, "PICKBEST_CACHE": str(folder / f"cache{number}")}
        call = partial(subprocess.run, command, env=cache, stdout=subprocess.DEVNULL, check=True)
        taken.append(seconds(call))
    return limit_row("`pickbest simulate task-1 -l auto -b 3`, nothing compiled", min(taken), 5.0)


def features_row() -> Row:
    """Ask and tell with features: the median of the rounds after the first ones."""
    random = np.random.default_rng(0)
    player = Player(make_learner("auto", SOME_ARMS, 2))
    taken = []
    for _ in range(200):
        features, costs = random.standard_normal(FEATURES), random.random(2)
        taken.append(
            seconds(lambda f=features, c=costs: player.tell(player.ask(features=f), list(c)))
        )
    name = f"ask and tell of `auto` with {FEATURES} features, {SOME_ARMS} arms"
    return limit_row(name, float(np.median(taken[50:])), 0.002)
