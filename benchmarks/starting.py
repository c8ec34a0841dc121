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
# From the end of `import pickbest`, which loads next to nothing, to the first ticket.
FIRST_ASK = (
    "import time, pickbest; start = time.perf_counter(); "
    "pickbest.Player(pickbest.make_learner('auto', {n_arms}, 3)).ask(); "
    "print(time.perf_counter() - start)"
)
NUMPY = "import time; start = time.perf_counter(); import numpy; print(time.perf_counter() - start)"
FEATURES, SOME_ARMS = 384, 6
ROUND = 'budget = 2\ndeadline = 60.0\n\n[arms]\none = ["true"]\ntwo = ["true"]\nthree = ["true"]\n'
PICKBEST = (sys.executable, "-P", "-c", "from pickbest.cli.main import main; main()")


def rows() -> list[Row]:
    """The table's rows; see benchmarks/run.py."""
    with tempfile.TemporaryDirectory() as folder:
        return [
            limit_row("`import pickbest`, whole process", imported(), 0.2),
            *(ask_row(n_arms) for n_arms in (6, 20, 50)),
            first_round(Path(folder)),
            fresh_simulation(Path(folder)),
            features_row(),
        ]


def imported() -> float:
    """A new process that imports the package."""
    return best_of(lambda: process([sys.executable, "-c", "import pickbest"]), RUNS)


def process(command: Sequence[str], **environment: str) -> None:
    """Run a command to its end."""
    known = {**os.environ, **environment}
    known.pop("PYTHONDONTWRITEBYTECODE", None)
    subprocess.run(command, env=known, stdout=subprocess.DEVNULL, check=True)


def ask_row(n_arms: int) -> Row:
    """The first question of a new process, beside the import of NumPy in one."""
    ours, reference = printed(FIRST_ASK.format(n_arms=n_arms)), printed(NUMPY)
    return limit_row(f"first `Player.ask()`, {n_arms} arms, beside NumPy", ours, 0.3, reference)


def printed(code: str) -> float:
    """The shortest of the times that a few new processes print."""
    run = partial(subprocess.run, capture_output=True, check=True)
    return min(float(run([sys.executable, "-c", code]).stdout) for _ in range(RUNS))


def first_round(folder: Path) -> Row:
    """A new process of `pickbest run` with a new journal: one race of two `true`."""
    portfolio = folder / "portfolio.toml"
    portfolio.write_text(f'storage = "sqlite:///{folder}/rounds.db"\n{ROUND}')
    command = [*PICKBEST, "run", str(portfolio), "p"]
    taken = []
    for _ in range(RUNS):
        (folder / "rounds.db").unlink(missing_ok=True)
        taken.append(seconds(lambda: process(command)))
    return limit_row("first round of `pickbest run`, whole process", min(taken), 0.5)


def fresh_simulation(folder: Path) -> Row:
    """`pickbest simulate` without any compiled code."""
    command = [*PICKBEST, "simulate", "task-1", "-l", "auto", "-b", "3"]
    caches = [str(folder / f"cache{number}") for number in range(2)]
    taken = [seconds(partial(process, command, PICKBEST_CACHE=cache)) for cache in caches]
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
