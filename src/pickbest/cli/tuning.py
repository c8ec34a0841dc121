"""The command that measures tuning tasks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer


def measure(
    data: Annotated[
        str,
        typer.Option(
            "--data",
            help="A folder of NAME.tsv.gz, .tsv, .csv or .csv.gz; one such file; `pmlb` (the "
            "package downloads); or `embedded`: scikit-learn's iris, wine, breast_cancer, digits.",
        ),
    ] = "embedded",
    tasks: Annotated[
        str, typer.Option("--tasks", help="Data sets, with commas: iris,wine; or all.")
    ] = "all",
    models: Annotated[
        str, typer.Option("--models", help="What is tuned on each set.")
    ] = "mlp,lasso",
    optimizers: Annotated[
        str,
        typer.Option(
            "--optimizers",
            help="paper (its nine), all, or names with commas; your own: module:ClassName.",
        ),
    ] = "paper",
    calls: Annotated[int, typer.Option("--calls", help="Evaluations that a run may make.")] = 20,
    pool: Annotated[
        int, typer.Option("--pool", help="Random evaluations a task, which define reward 0.")
    ] = 60,
    repetitions: Annotated[int, typer.Option("--repetitions", help="Runs of each optimizer.")] = 1,
    seed: Annotated[int, typer.Option("--seed", help="Same seed, same numbers.")] = 0,
    label: Annotated[str, typer.Option("--label", help="The column to predict.")] = "target",
    max_rows: Annotated[int, typer.Option("--max-rows", help="Rows kept of a set.")] = 1000,
    max_features: Annotated[int, typer.Option("--max-features", help="Features kept.")] = 100,
    workers: Annotated[
        int | None, typer.Option("--workers", "-w", help="Processes; all cores if not given.")
    ] = None,
    engine: Annotated[str, typer.Option("--engine", help="processes, or ray.")] = "processes",
    max_tasks: Annotated[
        int | None, typer.Option("--max-tasks", help="Stop after that many tasks.")
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Measure nothing: write what is complete so far.")
    ] = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of the tables.")] = Path(
        "table"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Measure how well optimizers tune models: a table of rewards, one row a task.

    Each task is a model on a data set. Each optimizer gets `--calls` evaluations; its reward is
    0 where random search ends on average, 1 at the best loss that anybody found.

    Kill it at any time and start it again with the same options: it goes on, and ends with the
    same tables. More tasks, optimizers, repetitions or a larger pool may be added later.

    In the folder: `rewards.csv` (for `pickbest simulate --rewards`), `losses.csv`, `pool.csv`,
    `tasks.csv`, `provenance.json`, `timings.json`, and `journal.jsonl`, from which all of them
    are made.

    **Examples**

        pickbest measure --tasks iris,wine --optimizers random,hyperopt --out table

        pickbest measure --data pmlb-folder --workers 16 --out table
    """
    from pickbest.cli.measure import measure_tables, optimizer_names
    from pickbest.tuning.data import Caps
    from pickbest.tuning.plan import Settings, make_plan

    settings = Settings(
        optimizer_names(optimizers),
        calls,
        pool,
        repetitions,
        seed,
        data,
        label,
        Caps(max_rows, max_features),
    )
    names = [] if tasks == "all" else tasks.split(",")
    plan = make_plan(settings, names, models.split(","), max_tasks)
    if workers is None:
        workers = os.cpu_count() or 1
    if not measure_tables(plan, out, None if partial else workers, engine, as_json):
        raise typer.Exit(130)


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(measure)
