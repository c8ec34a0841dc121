"""What `pickbest measure` shows: progress, warnings, and the mean rewards."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any

import typer

from pickbest.tuning.journal import read_journal
from pickbest.tuning.measure import Progress, measure
from pickbest.tuning.optimizers import OPTIMIZERS
from pickbest.tuning.plan import Plan
from pickbest.tuning.table import Measured, label_of, reward_rows, write_tables

QUIET_SECONDS = 30.0


def optimizer_names(text: str) -> tuple[str, ...]:
    """The optimizers that the option means: paper, all, or names with commas."""
    if text in {"paper", "all"}:
        return tuple(name for name, entry in OPTIMIZERS.items() if entry.paper or text == "all")
    return tuple(name.strip() for name in text.split(","))


def measure_tables(
    plan: Plan, folder: Path, workers: int | None, engine: str, as_json: bool
) -> bool:
    """Measure (if there are workers), write the tables, show them; whether it was to the end."""
    interrupted = False
    for reason in plan.refused.values():
        _say(f"left out: {reason}")
    if workers is not None:
        try:
            with _progress(plan) as progress:
                measure(plan, folder, workers, engine, progress, _say)
        except KeyboardInterrupt:
            interrupted = True
            _say("interrupted; the same command goes on from here")
    records = read_journal(folder, plan.settings.fixed(), plan.checksums())
    measured = write_tables(plan, records, folder)
    summary = summarize(plan, measured)
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
    else:
        _show(summary, folder)
    return not interrupted


def summarize(plan: Plan, measured: list[Measured]) -> dict[str, Any]:
    """Mean reward of each optimizer, and what was measured."""
    rows = reward_rows(plan, measured)
    return {
        "tasks": len(plan.tasks),
        "complete": len(measured),
        "degenerate": [one.task.name for one in measured if one.degenerate],
        "failures": sum(one.failures for one in measured),
        "rounds": len(rows),
        "mean_reward": {
            label_of(name): fmean(row[arm] for _, row in rows) if rows else None
            for arm, name in enumerate(plan.settings.optimizers)
        },
    }


def _show(summary: dict[str, Any], folder: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    shown = Table(title=f"{folder}: {summary['rounds']} rounds", title_justify="left")
    shown.add_column("optimizer")
    shown.add_column("mean reward", justify="right")
    best_first = sorted(summary["mean_reward"].items(), key=lambda item: -(item[1] or 0.0))
    for label, reward in best_first:
        shown.add_row(label, "-" if reward is None else f"{reward:.4f}")
    console = Console()
    console.print(shown)
    console.print(
        f"{summary['complete']} of {summary['tasks']} tasks complete, "
        f"{len(summary['degenerate'])} without rewards, "
        f"{summary['failures']} evaluations failed"
    )


def _say(text: str) -> None:
    typer.echo(text, err=True)


@contextmanager
def _progress(plan: Plan) -> Iterator[Progress]:
    """A bar with the time left on a terminal, else a line now and then."""
    started = time.monotonic()
    if not sys.stderr.isatty():
        said, first = started, None

        def say(done: int, total: int, unit: str) -> None:
            nonlocal said, first
            now = time.monotonic()
            first = done if first is None else first
            if now - said >= QUIET_SECONDS or done == total:
                said = now
                left = (now - started) / max(done - first, 1) * (total - done)
                _say(f"{done}/{total} evaluations, {left / 60:.0f} min left, {unit}")

        yield say
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        BarColumn(),
        TextColumn("{task.completed}/{task.total} evaluations"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.description}"),
    )
    with Bar(*columns, console=Console(stderr=True), speed_estimate_period=600) as bar:
        task = bar.add_task("starting", total=plan.evaluations)
        yield lambda done, total, unit: bar.update(task, completed=done, description=unit)
