"""Recorded rewards: the paper's own, those that pickbest measured itself, and those of a file.

The first two are shipped, and reading them needs no extra. data/paper_rewards.md says where the
paper's come from, under which licence, and their checksum.
"""

import csv
import gzip
import hashlib
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from pickbest.core import FloatArray, PickbestError
from pickbest.environments import Table, read_table
from studies.paper.estimates import ROUNDING
from studies.paper.printed import BEST, TABLE_2
from studies.tuning.rewards import Losses, best_loss, expected_best, rewards_of

DATA = Path(__file__).parents[1] / "data"
PUBLISHED, MEASURED = DATA / "paper_rewards.csv", DATA / "rewards.csv"
MORE = DATA / "more_losses.csv.gz"
SOURCES = {
    PUBLISHED: "published by the paper's authors, d-falck/blackboxbandits, MIT",
    MEASURED: "measured by pickbest",
}


@dataclass(frozen=True, eq=False)
class Rewards:
    """A recorded table of rewards, as costs.

    papers: whether it has the paper's best-in-hindsight numbers, so that the printed numbers
        may be compared with it.
    ours: whether pickbest measured it: the paper's experiment, on other tasks.
    """

    table: Table
    source: str
    digest: str
    papers: bool
    ours: bool


def find_rewards(path: Path | None = None) -> Rewards:
    """The rewards in `path`, else the paper's."""
    path = path or PUBLISHED
    table = read_table(path, rewards=True)
    if table.n_arms < 2:
        raise PickbestError(f"{path}: recorded rewards need at least two arms, got {table.n_arms}")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    source, ours = SOURCES.get(path, path.name), digest == digest_of(MEASURED)
    return Rewards(table, source, digest, _are_the_papers(table), ours)


@cache
def digest_of(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _are_the_papers(table: Table) -> bool:
    if (table.rounds, table.n_arms) != (368, 9):
        return False
    # At most 126 subsets for each budget: quicker by hand than compiling the exact search.
    for budget, rows in TABLE_2.items():
        subsets = np.array(list(itertools.combinations(range(9), budget)))
        best = 1.0 - table.costs_table[:, subsets].min(axis=2).mean(axis=0).min()
        if abs(best - rows[BEST].mean) > ROUNDING + 1e-9:
            return False
    return True


@dataclass
class TaskLosses:
    """The losses on one task; None is a failed evaluation.

    runs: optimizer → losses of its calls, in their order. pool: independent random evaluations.
    """

    runs: dict[str, Losses] = field(default_factory=dict)
    pool: Losses = ()

    def rewards(self) -> FloatArray:
        """Of each run, relative to the best loss of all."""
        best = [best_loss(losses) for losses in self.runs.values()]
        rand = expected_best(self.pool, len(next(iter(self.runs.values()))))
        opt = best_loss([*best, *self.pool])
        if rand is None or opt is None:
            raise PickbestError("a task without losses has no rewards")
        return rewards_of(best, rand, opt)


def measured_rewards(more: bool = False) -> Table:
    """Costs (1 - reward) of the paper's nine optimizers, one round a tuning task.

    more: and of six that came later. The best loss known, to which rewards are relative, is then
        the best of all fifteen, so the nine have other rewards than without.

    >>> measured_rewards().n_arms, measured_rewards(more=True).n_arms
    (9, 15)
    """
    if not more:
        return read_table(MEASURED, rewards=True)
    losses = measured_losses(more=True)
    found = [losses[task] for task in measured_tasks()]
    rewards = [task.rewards() for task in found]
    return Table(1.0 - np.array(rewards), arm_names=tuple(found[0].runs))


def measured_tasks() -> list[str]:
    """The task of each round: model-dataset, all MLP tasks first.

    >>> measured_tasks()[0].split("-")[0]
    'mlp'
    """
    with MEASURED.open(encoding="utf-8", newline="") as file:
        return [row[0] for row in csv.reader(file)][1:]


def measured_losses(more: bool = False) -> dict[str, TaskLosses]:
    """All losses behind the rewards, by task; degenerate tasks have losses and no rewards.

    more: those of six later optimizers, too.

    >>> losses = measured_losses()["lasso-iris"]
    >>> len(losses.pool), len(losses.runs), len(losses.runs["RandomSearch"])
    (60, 9, 20)
    """
    found: dict[str, TaskLosses] = {}
    for task, *pool in _rows(DATA / "pool.csv.gz"):
        found[task] = TaskLosses(pool=_losses(pool))
    for path in (DATA / "losses.csv.gz", *([MORE] if more else [])):
        for task, optimizer, _, *calls in _rows(path):
            found[task].runs[optimizer] = _losses(calls)
    return found


def measured_provenance() -> dict[str, Any]:
    """How, when and where the rewards were measured."""
    found: dict[str, Any] = json.loads((DATA / "provenance.json").read_text(encoding="utf-8"))
    return found


def _rows(path: Path) -> Iterator[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        next(rows)
        yield from rows


def _losses(cells: list[str]) -> Losses:
    return [float(cell) if cell else None for cell in cells]
