"""What pickbest measured itself and ships: rewards, losses, provenance. No extra is needed."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pickbest.environments import Table, read_table
from pickbest.tuning.rewards import Losses

DATA = Path(__file__).parent / "data"
SHIPPED = DATA / "rewards.csv"


@dataclass
class TaskLosses:
    """The losses on one task; None is a failed evaluation.

    runs: optimizer → losses of its calls, in their order. pool: independent random evaluations.
    """

    runs: dict[str, Losses] = field(default_factory=dict)
    pool: Losses = ()


def measured_rewards() -> Table:
    """Costs (1 - reward) of the paper's nine optimizers, one round a tuning task.

    >>> measured_rewards().n_arms
    9
    """
    return read_table(SHIPPED, rewards=True)


def measured_tasks() -> list[str]:
    """The task of each round: model-dataset, all MLP tasks first.

    >>> measured_tasks()[0].split("-")[0]
    'mlp'
    """
    with SHIPPED.open(encoding="utf-8", newline="") as file:
        return [row[0] for row in csv.reader(file)][1:]


def measured_losses() -> dict[str, TaskLosses]:
    """All losses behind the rewards, by task; degenerate tasks have losses and no rewards.

    >>> losses = measured_losses()["lasso-iris"]
    >>> len(losses.pool), len(losses.runs), len(losses.runs["RandomSearch"])
    (60, 9, 20)
    """
    found: dict[str, TaskLosses] = {}
    for task, *pool in _rows(DATA / "pool.csv.gz"):
        found[task] = TaskLosses(pool=_losses(pool))
    for task, optimizer, _, *calls in _rows(DATA / "losses.csv.gz"):
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
