"""`pickbest simulate`: learners against a table of costs or a named environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from pickbest.cli import options, tables
from pickbest.core import PickbestError, check_budget, unknown_name

if TYPE_CHECKING:
    from pickbest.core import Learner


def simulate(
    table: options.TableArgument,
    learner: options.LearnersOption,
    budget: options.BudgetOption = 1,
    rewards: options.RewardsOption = False,
    replicates: Annotated[int, Option("--replicates", "-r", help="Independent games.")] = 100,
    seed: options.SeedOption = 0,
    weights: Annotated[
        str | None, Option(help="Of fpml-partial and og-hybrid: exact, geometric or explore.")
    ] = None,
    tuning: Annotated[
        str | None, Option(help="A name from `pickbest learners`, e.g. as_run.")
    ] = None,
    slot_budget: Annotated[int | None, Option(help="Arms in each slot of og-hybrid.")] = None,
    slots: Annotated[
        str | None, Option(help="Of og and og-hybrid: distinct or independent.")
    ] = None,
    feedback: Annotated[str | None, Option(help="Of og and og-hybrid: picked or full.")] = None,
    unknown_rounds: Annotated[
        bool,
        Option("--unknown-rounds", help="Learners are not told how many rounds are played."),
    ] = False,
    target_budget: Annotated[
        int | None,
        Option(
            help="Compare with subsets of this size, the B' of OPT(B'), instead of the budget's.",
        ),
    ] = None,
    warm: Annotated[Path | None, Option(help="Past results; empty cells: not run.")] = None,
    rounds: options.RoundsOption = None,
    arms: options.ArmsOption = None,
    label: options.LabelOption = None,
    columns: options.ColumnsOption = None,
    workers: options.WorkersOption = 1,
    plot: Annotated[
        Path | None, Option(help="Draw regret curves to a .png, .svg or .pdf file.")
    ] = None,
    out: Annotated[
        Path | None, Option(help="Write every round's costs to a .csv or .parquet file.")
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Play learners against a table of costs or a named environment.

    **Examples**

        pickbest simulate results.csv --budget 2

        pickbest simulate task-3 --learner fpml-partial --learner og --budget 3

        pickbest simulate rewards.csv --rewards --learner fpml-partial --tuning as_run
        --budget 2 --plot regret.png

        pickbest simulate times.csv.gz --label id --columns z3,cvc5 -l auto -l mymodule:MyLearner

    The table shows mean costs, or mean rewards with --rewards, and regret against the best
    subset of B arms (B = 1: the best arm), with 95% confidence intervals of the means.
    """
    from pickbest.catalog import make_environment
    from pickbest.cli.warm_up import compiling_in_two
    from pickbest.environments import Table, WithFeatures, read_past
    from pickbest.learners import Warm
    from pickbest.report import plots
    from pickbest.report.summaries import simulation_summary
    from pickbest.simulation.simulate import simulate as run_simulation

    if plot is not None:
        plots.check_plot_path(plot)
    if out is not None and out.suffix not in {".csv", ".parquet"}:
        raise PickbestError(f"{out}: results must go to a .csv or .parquet file")
    chosen = options.file_options(label, columns)
    environment = make_environment(table, rewards, rounds, arms, **chosen)
    if target_budget is not None:
        check_budget(target_budget, environment.n_arms)
    horizon = None if unknown_rounds else environment.rounds
    shared = (("weights", weights), ("tuning", tuning), ("slots", slots), ("feedback", feedback))
    pairs = (*shared, ("slot_budget", slot_budget))
    given = {name: value for name, value in pairs if value is not None}
    learners = make_learners(learner, environment.n_arms, budget, horizon, given)
    if warm is not None:
        bare = environment.inner if isinstance(environment, WithFeatures) else environment
        names = bare.arm_names if isinstance(bare, Table) else ()
        past = read_past(warm, rewards, names)
        learners = {label: Warm(cold, past) for label, cold in learners.items()}
    with compiling_in_two(learners.values()):
        simulation = run_simulation(learners, environment, replicates, seed, workers)
    if plot is not None:
        simulation.plot(budget=target_budget, path=plot)
    if out is not None:
        (simulation.to_csv if out.suffix == ".csv" else simulation.to_parquet)(out)
    if as_json:
        tables.print_json(simulation_summary(simulation, table, target_budget))
    else:
        title = f"{table}: {environment.rounds} rounds, {replicates} replicates, seed {seed}"
        summary = simulation.summary(budget=target_budget, rewards=rewards)
        shown = tables.table(title, summary.columns, summary.rows, text_columns=1)
        tables.print_tables(shown, summary.note)


def make_learners(
    specs: Sequence[str], n_arms: int, budget: int, rounds: int | None, shared: Mapping[str, Any]
) -> dict[str, Learner]:
    """Learners by label. Shared options go to those learners that take them."""
    from pickbest.catalog import LearnerSpec, applicable

    learners: dict[str, Learner] = {}
    used: set[str] = set()
    tunings: list[str] = []
    for text in specs:
        if text in learners:
            raise PickbestError(f"--learner {text} is given twice")
        spec = LearnerSpec.parse(text)
        taken = applicable(spec, shared)
        used |= taken.keys()
        tunings += spec.entry.tunings
        whole = LearnerSpec(spec.name, {**taken, **spec.options})
        learners[text] = whole.build(n_arms, budget, rounds)
    for option in shared.keys() - used:
        if option == "tuning":
            raise unknown_name("tuning", shared[option], tunings)
        flag = option.replace("_", "-")
        raise PickbestError(f"--{flag} does not apply to {', '.join(specs)}")
    return learners
