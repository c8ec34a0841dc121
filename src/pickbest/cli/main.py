"""The command line: one short function per command, no logic."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from pickbest._version import __version__
from pickbest.cli.aslib import register as register_aslib
from pickbest.cli.benchmark import register as register_benchmark
from pickbest.cli.portfolio import register as register_portfolio
from pickbest.cli.tuning import register as register_tuning
from pickbest.core import MissingExtraError, PickbestError

app = typer.Typer(
    name="pickbest",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Each round, pick B of N arms, keep the best result, and learn which B to pick next.",
)


def _environments(incomplete: str) -> list[str]:
    """Names that complete what was typed; files are left to the shell."""
    from pickbest.catalog import environment_names

    return [name for name in environment_names() if name.startswith(incomplete)]


def _learners(incomplete: str) -> list[str]:
    from pickbest.catalog import learner_names

    return [name for name in learner_names() if name.startswith(incomplete)]


TableArgument = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        autocompletion=_environments,
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
            autocompletion=_learners,
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
    target_budget: Annotated[
        int | None,
        typer.Option(
            "--target-budget",
            help="Compare with subsets of this size, the B' of OPT(B'), instead of the budget's.",
        ),
    ] = None,
    warm: Annotated[Path | None, typer.Option(help="Past results; empty cells: not run.")] = None,
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
    from pickbest.cli import running as commands

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
        target_budget=target_budget,
        warm=warm,
        rounds=rounds,
        n_arms=arms,
        workers=workers,
        plot=plot,
        out=out,
    )
    from pickbest.cli.tables import simulation_table

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
    from pickbest.cli import running as commands
    from pickbest.cli.tables import hindsight_table

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
    from pickbest.cli import running as commands
    from pickbest.cli.tables import bounds_table

    summary = commands.bounds(arms, budget, rounds, slot_budget, target_budget, regret)
    _show(summary, as_json, bounds_table)


@app.command()
def learners(as_json: JsonOption = False) -> None:
    """List the learners, their tunings and options."""
    from pickbest.cli.tables import learners_table
    from pickbest.report.summaries import learners_summary

    _show(learners_summary(), as_json, learners_table)


@app.command()
def environments(as_json: JsonOption = False) -> None:
    """List the named environments."""
    from pickbest.cli.tables import environments_table
    from pickbest.report.summaries import environments_summary

    _show(environments_summary(), as_json, environments_table)


@app.command()
def feasible(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILES", help="A model (.mps, .lp), or A and b (.csv, .npy; A also .npz)."
        ),
    ],
    epsilon: Annotated[
        float, typer.Option("--epsilon", "-e", help="How much x may violate a constraint.")
    ] = 0.1,
    budget: Annotated[
        int, typer.Option("--budget", "-b", help="Constraints that each call answers at once.")
    ] = 1,
    box: Annotated[
        tuple[float, float] | None,
        typer.Option(help="x between LOW and HIGH, for A and b (0 and 1 if no set is given)."),
    ] = None,
    simplex: Annotated[
        float | None, typer.Option(help="x at least 0 with this sum, for A and b.")
    ] = None,
    ball: Annotated[
        float | None, typer.Option(help="x within this distance of 0, for A and b.")
    ] = None,
    target: Annotated[
        float | None, typer.Option(help="The model's objective must be at least this good.")
    ] = None,
    bound: Annotated[
        float | None, typer.Option(help="Bound of the model's variables that have none.")
    ] = None,
    learner: Annotated[
        str | None, typer.Option("--learner", "-l", help="A learner's name instead of FPML.")
    ] = None,
    tuning: Annotated[str, typer.Option(help="Of FPML: eager or proposition_8.")] = "eager",
    width: Annotated[
        float | None, typer.Option(help="A bound on every |A_i x - b_i|; computed if not given.")
    ] = None,
    samples: Annotated[
        int | None, typer.Option(help="Draws for each law over constraints; exact if possible.")
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option("--max-calls", help="Stop undecided after so many oracle calls.")
    ] = None,
    seed: SeedOption = 0,
    out: Annotated[Path | None, typer.Option(help="Write x to a .csv file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Find x with A x ≥ b - epsilon in a convex set, or prove that A x ≥ b has no solution.

    Exit code 0: feasible to epsilon; 3: infeasible, with a certificate; 4: not decided within
    the calls allowed; 2: bad input.

    **Examples**

        pickbest feasible problem.mps --epsilon 0.01 --target 120

        pickbest feasible A.csv b.csv --box -1 1 --budget 2 --json
    """
    from pickbest.cli import running as commands
    from pickbest.cli.tables import feasible_table

    summary = commands.feasible(
        files=files,
        sets={"box": box, "simplex": simplex, "ball": ball, "target": target, "bound": bound},
        epsilon=epsilon,
        budget=budget,
        learner=learner,
        tuning=tuning,
        width=width,
        samples=samples,
        max_calls=max_calls,
        seed=seed,
        out=out,
    )
    _show(summary, as_json, feasible_table)
    raise typer.Exit(summary["exit_code"])


@app.command()
def reproduce(
    parts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PART]...", help="Parts such as table-1, task-3, trade-off; all if none."
        ),
    ] = None,
    rewards: Annotated[
        Path | None,
        typer.Option(help="Recorded rewards of the main experiment (rounds x arms, in [0, 1])."),
    ] = None,
    replicates: Annotated[
        int | None,
        typer.Option("--replicates", "-r", help="Games of every part, instead of its own number."),
    ] = None,
    seed: SeedOption = 0,
    workers: Annotated[int, typer.Option("--workers", "-w", help="Processes.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("out"),
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Rebuild the paper's tables, figures and theorems as one HTML page.

    Finished parts are kept in the output folder: an interrupted run goes on where it was.

    **Examples**

        pickbest reproduce --rewards rewards.csv --workers 2 --open

        pickbest reproduce task-3 trade-off
    """
    from pickbest.cli import reproduce as reproducing

    written = reproducing.reproduce(parts or [], out, rewards, replicates, seed, workers)
    console = Console(highlight=False, soft_wrap=True)
    for sentence in written.left_out:
        console.print(f"left out: {_escaped(sentence.replace('**', '').replace('`', ''))}")
    console.print(f"{written.parts} parts, {written.seconds:.1f} s: {_escaped(str(written.page))}")
    if open_page:
        typer.launch(written.page.resolve().as_uri())


register_portfolio(app)
register_aslib(app)
register_tuning(app)
register_benchmark(app)


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
