"""`measure`: how well optimizers tune models, as a table of rewards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any

from rich.console import RenderableType
from typer import Option

from pickbest.cli import tables
from pickbest.cli.options import JsonOption, SeedOption, WorkersOption
from pickbest.core.progress import progress_bar

if TYPE_CHECKING:
    from studies.tuning.measurement import MeasurementPlan
    from studies.tuning.tables import Measured

# A reward of one task is nearly 0 or 1: a mean of fewer says little.
FEW_ROUNDS = 10


def measure(
    data: Annotated[
        str,
        Option(
            help="A folder of NAME.tsv.gz, .tsv, .csv or .csv.gz, whose column `target` is "
            "predicted; or `embedded`: scikit-learn's iris, wine, breast_cancer, digits."
        ),
    ] = "embedded",
    tasks: Annotated[str, Option(help="Data sets, with commas: iris,wine; or all.")] = "all",
    models: Annotated[str, Option(help="Models to tune on each set.")] = "mlp,lasso",
    optimizers: Annotated[str, Option(help="Names with commas, or all.")] = "all",
    calls: Annotated[int, Option(help="Evaluations per run.")] = 20,
    pool: Annotated[int, Option(help="Random evaluations per task, which define reward 0.")] = 60,
    seed: SeedOption = 0,
    workers: WorkersOption = 1,
    out: Annotated[Path, Option("--out", "-o", help="Folder for the tables.")] = Path("table"),
    as_json: JsonOption = False,
) -> None:
    """Measure how well optimizers tune models: a table of rewards, one row per task.

    Each task is a model on a data set. Each optimizer gets `--calls` evaluations. Its reward is 0
    where random search ends on average, and 1 at the best loss that anybody found.

    You can kill it at any time. The same command goes on with the runs that are missing, and ends
    with the same tables. You can add tasks and optimizers later.

    The folder gets `rewards.csv` (for `pickbest simulate --rewards`), `losses.csv`, `pool.csv`,
    `tasks.csv`, `provenance.json`, `timings.json`, and `units`, from which all of them are made.

    **Examples**

        python -m studies measure --tasks iris,wine --optimizers random,hyperopt --out table

        python -m studies measure --data pmlb-folder --workers 16 --out table
    """
    from studies.tuning import measurement
    from studies.tuning.optimizers import OPTIMIZERS
    from studies.tuning.tables import write_tables

    named = [name.strip() for name in optimizers.split(",")]
    chosen = list(OPTIMIZERS) if optimizers == "all" else named
    settings = measurement.Settings(tuple(chosen), calls, pool, seed, data)
    sets = [] if tasks == "all" else tasks.split(",")
    plan = measurement.make_plan(settings, sets, models.split(","))
    for reason in plan.refused.values():
        tables.say(f"left out: {reason}", stderr=True)
    out.mkdir(parents=True, exist_ok=True)
    try:
        with progress_bar("measuring") as progress:
            measurement.measure(plan, out, workers, progress)
    finally:
        measured = write_tables(plan, measurement.kept_records(plan, out), out)
        found = summarize(plan, measured)
        tables.show(found, as_json, lambda summary: shown(summary, str(out)))


def summarize(plan: MeasurementPlan, measured: Sequence[Measured]) -> dict[str, Any]:
    """Mean reward of each optimizer, and what was measured."""
    from studies.tuning.tables import label_of, reward_rows

    rows = reward_rows(measured)
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
