"""The command line: one short function per command, no logic."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from pickbest._version import __version__
from pickbest.game import MissingExtraError, PickbestError

app = typer.Typer(
    name="pickbest",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Each round, pick B of N arms, keep the best result, and learn which B to pick next.",
)

TableArgument = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="A table (.csv, .tsv, .parquet, .npy, .npz; one row a round, one column an arm) "
        "or an environment: task-1, task-2, task-3, … (see `pickbest environments`).",
    ),
]
RewardsOption = Annotated[
    bool, typer.Option("--rewards", help="The file holds rewards, not costs.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
BudgetOption = Annotated[int, typer.Option("--budget", "-b", help="Arms per round.")]
SeedOption = Annotated[int, typer.Option("--seed", help="Same seed, same numbers.")]
RoundsOption = Annotated[
    int | None, typer.Option("--rounds", help="Rounds of a named environment.")
]
ArmsOption = Annotated[
    int | None, typer.Option("--arms", help="Arms of a named environment that has no own number.")
]


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    if version:
        typer.echo(f"pickbest {__version__}")
        raise typer.Exit


@app.command()
def simulate(
    table: TableArgument,
    learner: Annotated[
        list[str],
        typer.Option(
            "--learner",
            "-l",
            help="A name from `pickbest learners`, repeatable; options may follow: "
            "og-hybrid:slot_budget=2,tuning=as_run",
        ),
    ],
    budget: BudgetOption = 1,
    rewards: RewardsOption = False,
    replicates: Annotated[int, typer.Option("--replicates", "-r", help="Independent games.")] = 100,
    seed: SeedOption = 0,
    weights: Annotated[
        str | None,
        typer.Option(help="Of fpml-partial and og-hybrid: exact, geometric or explore."),
    ] = None,
    tuning: Annotated[
        str | None, typer.Option(help="A name from `pickbest learners`, e.g. as_run.")
    ] = None,
    slot_budget: Annotated[
        int | None, typer.Option("--slot-budget", help="Arms in each slot of og-hybrid.")
    ] = None,
    slots: Annotated[
        str | None, typer.Option(help="Of og and og-hybrid: distinct or independent.")
    ] = None,
    feedback: Annotated[
        str | None, typer.Option(help="Of og and og-hybrid: picked or full.")
    ] = None,
    unknown_rounds: Annotated[
        bool,
        typer.Option("--unknown-rounds", help="Learners are not told how many rounds are played."),
    ] = False,
    rounds: RoundsOption = None,
    arms: ArmsOption = None,
    workers: Annotated[int, typer.Option("--workers", "-w", help="Processes.")] = 1,
    plot: Annotated[
        Path | None, typer.Option(help="Draw regret curves to a .png, .svg or .pdf file.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write every round's costs to a .csv or .parquet file.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Play learners against a table of costs or a named environment.

    **Examples**

        pickbest simulate task-3 --learner fpml-partial --learner og --budget 3

        pickbest simulate rewards.csv --rewards --learner fpml-partial --tuning as_run
        --budget 2 --plot regret.png
    """
    from pickbest import commands

    summary = commands.simulate(
        table=table,
        learners=learner,
        budget=budget,
        rewards=rewards,
        replicates=replicates,
        seed=seed,
        options={
            "weights": weights,
            "tuning": tuning,
            "slot_budget": slot_budget,
            "slots": slots,
            "feedback": feedback,
        },
        unknown_rounds=unknown_rounds,
        rounds=rounds,
        n_arms=arms,
        workers=workers,
        plot=plot,
        out=out,
    )
    from pickbest.report.console import simulation_table

    _show(summary, as_json, simulation_table)


@app.command()
def hindsight(
    table: TableArgument,
    budget: BudgetOption = 1,
    rewards: RewardsOption = False,
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            help="Seconds after which the best subset found is given with a bound on its gap.",
        ),
    ] = None,
    seed: SeedOption = 0,
    rounds: RoundsOption = None,
    arms: ArmsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Which arms would have been best: best subset (exact), greedy, top B, best arm.

    **Example**

        pickbest hindsight rewards.csv --rewards --budget 3
    """
    from pickbest import commands
    from pickbest.report.console import hindsight_table

    summary = commands.hindsight(table, budget, rewards, time_limit, seed, rounds, arms)
    _show(summary, as_json, hindsight_table)


@app.command()
def bounds(
    arms: Annotated[int, typer.Option("--arms", "-n", help="Number of arms, N.")],
    budget: BudgetOption,
    rounds: Annotated[int, typer.Option("--rounds", "-t", help="Number of rounds, T.")],
    slot_budget: Annotated[
        int, typer.Option("--slot-budget", help="Arms in each slot of OG_hybrid.")
    ] = 1,
    target_budget: Annotated[
        int, typer.Option("--target-budget", help="The B' of OPT(B') in Theorem 6.")
    ] = 1,
    regret: Annotated[
        float | None, typer.Option(help="Also say which budget reaches this regret.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """What the theorems promise for a game of N arms, budget B and T rounds.

    **Example**

        pickbest bounds --arms 9 --budget 3 --rounds 368 --regret 20
    """
    from pickbest import commands
    from pickbest.report.console import bounds_table

    summary = commands.bounds(arms, budget, rounds, slot_budget, target_budget, regret)
    _show(summary, as_json, bounds_table)


@app.command()
def learners(as_json: JsonOption = False) -> None:
    """List the learners, their tunings and options."""
    from pickbest.report.console import learners_table
    from pickbest.report.summaries import learners_summary

    _show(learners_summary(), as_json, learners_table)


@app.command()
def environments(as_json: JsonOption = False) -> None:
    """List the named environments."""
    from pickbest.report.console import environments_table
    from pickbest.report.summaries import environments_summary

    _show(environments_summary(), as_json, environments_table)


def _show(summary: dict[str, Any], as_json: bool, as_table: Any) -> None:
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
    else:
        Console().print(as_table(summary))


def main() -> None:
    """Run the command line: exit code 2 for bad input, 130 for Ctrl-C."""
    try:
        app()
    except (PickbestError, MissingExtraError) as error:
        Console(stderr=True).print(f"[bold red]error:[/] {_escaped(str(error))}", highlight=False)
        sys.exit(2)
    except KeyboardInterrupt:
        Console(stderr=True).print("interrupted", highlight=False)
        sys.exit(130)


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)


if __name__ == "__main__":
    main()
