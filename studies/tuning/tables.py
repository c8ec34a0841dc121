"""The tables of a measurement: losses, rewards, tasks, and where they come from."""

import json
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pickbest._version import __version__
from pickbest.core.savefile import write_atomically
from pickbest.core.text import csv_text
from studies.tuning.dataset import DATA_RULES
from studies.tuning.measurement import PINNED, POOL, MeasurementPlan, Records
from studies.tuning.optimizers import OPTIMIZERS
from studies.tuning.rewards import (
    REWARD_RULES,
    Losses,
    best_loss,
    expected_best,
    is_degenerate,
    rewards_of,
)
from studies.tuning.task import LOSS_RULES, MODELS, Task

TASK_COLUMNS = ("task", "rows", "features", "classes", "dropped_classes", "rand", "opt", "failures",
                "evaluations")  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """What came out on one task. runs: optimizer → losses of the calls."""

    task: Task
    runs: dict[str, Losses]
    pool: Losses
    rand: float | None
    opt: float | None
    seconds: float

    @property
    def degenerate(self) -> bool:
        return is_degenerate(self.rand, self.opt)

    @property
    def failures(self) -> int:
        return sum(loss is None for losses in (*self.runs.values(), self.pool) for loss in losses)

    def rewards(self) -> list[float]:
        """One reward for each optimizer."""
        if self.rand is None or self.opt is None:
            return []
        best = [best_loss(losses) for losses in self.runs.values()]
        found: list[float] = rewards_of(best, self.rand, self.opt).tolist()
        return found


def collect(plan: MeasurementPlan, records: Records) -> list[Measured]:
    """The tasks that are complete: models in their order, data sets by name."""
    order = list(MODELS)
    ordered = sorted(plan.tasks, key=lambda task: (order.index(task.model), task.dataset))
    found = (_collect_task(plan, task, records) for task in ordered)
    return [measured for measured in found if measured is not None]


def _collect_task(plan: MeasurementPlan, task: Task, records: Records) -> Measured | None:
    runs: dict[str, Losses] = {}
    pool: list[float | None] = []
    seconds = 0.0
    for unit in plan.units_of(task):
        if unit.name not in records:
            return None
        losses = [record.loss for record in records[unit.name]]
        seconds += sum(record.seconds for record in records[unit.name])
        if unit.optimizer == POOL:
            pool += losses
        else:
            runs[unit.optimizer] = losses
    best = best_loss([best_loss(losses) for losses in (*runs.values(), pool)])
    return Measured(task, runs, pool, expected_best(pool, plan.settings.calls), best, seconds)


def reward_rows(measured: Iterable[Measured]) -> list[tuple[str, list[float]]]:
    """Rounds, named by their tasks, with a reward for each optimizer."""
    return [(one.task.name, one.rewards()) for one in measured if not one.degenerate]


def write_tables(plan: MeasurementPlan, records: Records, folder: Path) -> list[Measured]:
    """Write the files of the tasks that are complete, and return these."""
    measured = collect(plan, records)
    settings = plan.settings
    calls = [str(call + 1) for call in range(settings.calls)]
    _write_csv(
        folder / "losses.csv",
        ["task", "optimizer", "repetition", *calls],
        (
            [one.task.name, label_of(name), 1, *map(_cell, losses)]
            for one in measured
            for name, losses in one.runs.items()
        ),
    )
    _write_csv(
        folder / "pool.csv",
        ["task", *(str(index + 1) for index in range(settings.pool))],
        ([one.task.name, *map(_cell, one.pool)] for one in measured),
    )
    _write_csv(
        folder / "rewards.csv",
        ["task", *map(label_of, settings.optimizers)],
        ([name, *map(_cell, row)] for name, row in reward_rows(measured)),
    )
    _write_csv(folder / "tasks.csv", TASK_COLUMNS, (_task_row(plan, one) for one in measured))
    write_json(folder / "provenance.json", provenance(plan, measured))
    write_json(folder / "timings.json", timings(measured))
    return measured


def label_of(optimizer: str) -> str:
    """The heading of an optimizer's column."""
    return OPTIMIZERS[optimizer].label


def provenance(plan: MeasurementPlan, measured: Sequence[Measured]) -> dict[str, Any]:
    """How the numbers came about; nothing in it depends on when or how fast."""
    settings = plan.settings
    sets = sorted({one.task.dataset for one in measured} & plan.datasets.keys())
    return {
        "pickbest": __version__,
        **settings.fixed(settings.optimizers),
        "optimizers": {label_of(name): name for name in settings.optimizers},
        "pool": settings.pool,
        "data": Path(settings.data).name,
        "environment": PINNED,
        "rules": {**DATA_RULES, **LOSS_RULES, **REWARD_RULES},
        "tasks": {
            "planned": len(plan.tasks),
            "complete": len(measured),
            "degenerate": [one.task.name for one in measured if one.degenerate],
        },
        "refused": plan.refused,
        "datasets": {
            name: {**plan.datasets[name].facts, "sha256": plan.datasets[name].checksum()}
            for name in sets
        },
    }


def timings(measured: Sequence[Measured]) -> dict[str, Any]:
    """When, where and how long: what differs between two measurements of the same."""
    total = sum(one.seconds for one in measured)
    return {
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": platform.platform(),
        "python": platform.python_version(),
        "hours_of_evaluation": round(total / 3600, 3),
        "seconds": {one.task.name: round(one.seconds, 2) for one in measured},
    }


def _task_row(plan: MeasurementPlan, one: Measured) -> list[Any]:
    dataset = plan.datasets[one.task.dataset]
    dropped = len(dataset.facts["dropped_classes"])
    facts = [*dataset.features.shape, len(dataset.classes), dropped]
    evaluations = sum(len(losses) for losses in (*one.runs.values(), one.pool))
    return [one.task.name, *facts, _cell(one.rand), _cell(one.opt), one.failures, evaluations]


def _cell(number: float | None) -> str:
    return "" if number is None else repr(number)


def _write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    write_atomically(path, csv_text([header, *rows]).encode())


def write_json(path: Path, content: dict[str, Any]) -> None:
    write_atomically(path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
