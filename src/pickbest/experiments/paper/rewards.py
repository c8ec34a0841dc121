"""Recorded rewards: which table is used, and whether it is the paper's own."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pickbest.core import PickbestError
from pickbest.environments import Table, read_table
from pickbest.experiments.paper.printed import ROUNDING, TABLE_2
from pickbest.experiments.paper.shipped import SHIPPED


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


def find_rewards(path: Path | None) -> Rewards:
    """The rewards in `path`, else those that pickbest ships."""
    ours = path is None
    path = path or SHIPPED
    table = read_table(path, rewards=True)
    if table.n_arms < 2:
        raise PickbestError(f"{path}: recorded rewards need at least two arms, got {table.n_arms}")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    source = "measured by pickbest" if ours else path.name
    return Rewards(table, source, digest, _are_the_papers(table), ours)


def _are_the_papers(table: Table) -> bool:
    if (table.rounds, table.n_arms) != (368, 9):
        return False
    # At most 126 subsets for each budget: quicker by hand than compiling the exact search.
    for budget, rows in TABLE_2.items():
        subsets = np.array(list(itertools.combinations(range(9), budget)))
        best = 1.0 - table.costs_table[:, subsets].min(axis=2).mean(axis=0).min()
        if abs(best - rows["best"].mean) > ROUNDING + 1e-9:
            return False
    return True
