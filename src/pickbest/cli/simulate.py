"""`pickbest simulate`: learners against a table of costs or a named environment."""

from pathlib import Path
from typing import Annotated

from typer import Option

from pickbest.cli import options, tables
from pickbest.core import PickbestError, check_budget


def simulate(
    table: options.TableArgument,
    learner: options.LearnersOption,
    budget: options.BudgetOption = 1,
    rewards: options.RewardsOption = False,
    replicates: Annotated[
        int, Option("--replicates", "-r", help="Number of independent games.")
    ] = 100,
    seed: options.SeedOption = 0,
    unknown_rounds: Annotated[
        bool, Option("--unknown-rounds", help="Do not tell learners how many rounds there are.")
    ] = False,
    target_budget: Annotated[
        int | None,
        Option(
            help="Size of the subsets to compare with (the B' of OPT(B')); the budget by default."
        ),
    ] = None,
    label: options.LabelOption = None,
    columns: options.ColumnsOption = None,
    workers: options.WorkersOption = 1,
    plot: Annotated[
        Path | None, Option(help="Write a plot of the regret to this .png, .svg or .pdf file.")
    ] = None,
    out: Annotated[
        Path | None, Option("--out", "-o", help="Write the cost of every round to this .csv file.")
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Play learners against a table of costs or a named environment.

    **Examples**

        pickbest simulate results.csv --budget 2

        pickbest simulate task-3 --learner fpml-partial --learner og --budget 3

        pickbest simulate rewards.csv --rewards --learner fpml-partial:tuning=as_run
        --budget 2 --plot regret.png

        pickbest simulate times.csv.gz --label id --columns z3,cvc5 -l auto -l mymodule:MyLearner

    The printed table shows the mean cost per round (with --rewards, the mean reward) and the
    regret against the best subset of B arms, each with a 95% confidence interval.
    """
    from pickbest.catalog import make_environment, make_learner
    from pickbest.cli.summaries import simulation_summary
    from pickbest.report import plots
    from pickbest.simulation.simulate import simulate as run_simulation

    if plot is not None:
        plots.check_plot_path(plot)
    if out is not None and out.suffix != ".csv":
        raise PickbestError(f"--out must be a .csv file, got {out}")
    environment = make_environment(table, rewards, **options.file_options(label, columns))
    if target_budget is not None:
        check_budget(target_budget, environment.n_arms)
    horizon = None if unknown_rounds else environment.rounds
    if repeated := [text for text in learner if learner.count(text) > 1]:
        raise PickbestError(f"each --learner may be given once, got {repeated[0]} twice")
    game = (environment.n_arms, budget, horizon)
    learners = {text: make_learner(text, *game) for text in learner}
    simulation = run_simulation(learners, environment, replicates, seed, workers)
    if plot is not None:
        simulation.plot(budget=target_budget, path=plot)
    if out is not None:
        simulation.to_csv(out)
    if as_json:
        tables.print_json(simulation_summary(simulation, table, target_budget))
    else:
        title = f"{table}: {environment.rounds} rounds, {replicates} replicates, seed {seed}"
        summary = simulation.summary(budget=target_budget, rewards=rewards)
        shown = tables.table(title, summary.columns, summary.rows, text_columns=1)
        tables.print_tables(shown, summary.note)
