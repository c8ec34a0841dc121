"""`measure`: how well optimizers tune models, as a table of rewards."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from typer import Option

from pickbest.cli import tables
from pickbest.cli.options import JsonOption, SeedOption
from pickbest.core.progress import Progress, progress_bar

if TYPE_CHECKING:
    from studies.tuning.measurement.plan import MeasurementPlan
    from studies.tuning.measurement.tables import Measured

QUIET_SECONDS = 30.0
# A reward of one task is nearly 0 or 1: a mean of fewer says little.
FEW_ROUNDS = 10


def measure(
    data: Annotated[
        str,
        Option(
            help="A folder of NAME.tsv.gz, .tsv, .csv or .csv.gz, whose column `target` is "
            "predicted; or `embedded`: scikit-learn's iris, wine, breast_cancer, digits.",
        ),
    ] = "embedded",
    tasks: Annotated[
        str,
        Option(
            help="Data sets, with commas: iris,wine; or all.",
        ),
    ] = "all",
    models: Annotated[str, Option(help="What is tuned on each set.")] = "mlp,lasso",
    optimizers: Annotated[
        str,
        Option(
            help="paper (its nine), all, or names with commas; your own: module:ClassName.",
        ),
    ] = "paper",
    calls: Annotated[int, Option(help="Evaluations that a run may make.")] = 20,
    pool: Annotated[int, Option(help="Random evaluations a task, which define reward 0.")] = 60,
    repetitions: Annotated[int, Option(help="Runs of each optimizer.")] = 1,
    seed: SeedOption = 0,
    max_rows: Annotated[int, Option(help="Rows kept of a set.")] = 1000,
    max_features: Annotated[int, Option(help="Features kept.")] = 100,
    workers: Annotated[
        int | None, Option("--workers", "-w", help="Processes; all cores if not given.")
    ] = None,
    max_tasks: Annotated[int | None, Option(help="Stop after that many tasks.")] = None,
    partial: Annotated[
        bool, Option("--partial", help="Measure nothing: write what is complete so far.")
    ] = False,
    out: Annotated[Path, Option("--out", "-o", help="The folder of the tables.")] = Path("table"),
    as_json: JsonOption = False,
) -> None:
    """Measure how well optimizers tune models: a table of rewards, one row a task.

    Each task is a model on a data set. Each optimizer gets `--calls` evaluations; its reward is
    0 where random search ends on average, 1 at the best loss that anybody found.

    Kill it at any time and start it again with the same options: it goes on with the runs that are
    missing, and ends with the same tables. More tasks, optimizers, repetitions or a larger pool
    may be added later.

    In the folder: `rewards.csv` (for `pickbest simulate --rewards`), `losses.csv`, `pool.csv`,
    `tasks.csv`, `provenance.json`, `timings.json`, and `units`, from which all of them are made.

    **Examples**

        python -m studies measure --tasks iris,wine --optimizers random,hyperopt --out table

        python -m studies measure --data pmlb-folder --workers 16 --out table
    """
    from studies.tuning.measurement.plan import Settings, make_plan
    from studies.tuning.tasks import Caps

    chosen, counts = optimizer_names(optimizers), (calls, pool, repetitions, seed)
    caps = Caps(max_rows, max_features)
    settings = Settings(chosen, *counts, data, caps)
    names = [] if tasks == "all" else tasks.split(",")
    plan = make_plan(settings, names, models.split(","), max_tasks)
    if workers is None:
        workers = os.cpu_count() or 1
    if not measure_tables(plan, out, None if partial else workers, as_json):
        raise typer.Exit(130)


def optimizer_names(text: str) -> tuple[str, ...]:
    """The optimizers that the option means: paper, all, or names with commas."""
    from studies.tuning.optimizers import OPTIMIZERS

    if text in {"paper", "all"}:
        return tuple(name for name, entry in OPTIMIZERS.items() if entry.paper or text == "all")
    return tuple(name.strip() for name in text.split(","))


def measure_tables(plan: MeasurementPlan, folder: Path, workers: int | None, as_json: bool) -> bool:
    """Measure (if there are workers), write the tables, show them; whether it was to the end."""
    from studies.tuning.measurement import run
    from studies.tuning.measurement.tables import write_tables

    interrupted = False
    for reason in plan.refused.values():
        _warn(f"left out: {reason}")
    if workers is not None:
        try:
            with progress_bar("measuring", _now_and_then()) as progress:
                run.measure(plan, folder, workers, progress, _warn)
        except KeyboardInterrupt:
            interrupted = True
            _warn("interrupted; the same command goes on from here")
    folder.mkdir(parents=True, exist_ok=True)
    measured = write_tables(plan, run.kept_records(plan, folder), folder)
    summary = summarize(plan, measured)
    tables.show(summary, as_json, lambda found: shown(found, str(folder)))
    return not interrupted


def summarize(plan: MeasurementPlan, measured: list[Measured]) -> dict[str, Any]:
    """Mean reward of each optimizer, and what was measured."""
    from studies.tuning.measurement.tables import label_of, reward_rows

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


def shown(summary: Mapping[str, Any], folder: str) -> list[RenderableType]:
    """What the command prints."""
    best_first = sorted(summary["mean_reward"].items(), key=lambda item: -(item[1] or 0.0))
    title = f"{folder}: 0 is what random search reaches on average, 1 the best loss known"
    line = (
        f"{summary['complete']} of {summary['tasks']} tasks complete, "
        f"{len(summary['degenerate'])} without rewards, "
        f"{summary['failures']} evaluations failed"
    )
    if summary["rounds"] < FEW_ROUNDS:
        line += f". Rounds: {summary['rounds']}, too few to tell optimizers apart; add tasks"
    return [tables.table(title, ("optimizer", "mean reward"), best_first), line]


def _warn(text: str) -> None:
    typer.echo(text, err=True)


def _now_and_then() -> Progress:
    """A line every half minute, and at the end."""
    started = said = time.monotonic()
    first: float | None = None

    def say(done: float, total: float, unit: str = "", /) -> None:
        nonlocal said, first
        now = time.monotonic()
        first = done if first is None else first
        if now - said >= QUIET_SECONDS or done == total:
            said = now
            left = (now - started) / max(done - first, 1) * (total - done)
            _warn(f"{done}/{total} evaluations, {left / 60:.0f} min left, {unit}")

    return say
