"""What can be known without playing: `hindsight`, `bounds`, and what the catalog lists."""

from typing import Annotated

from typer import Option

from pickbest.cli import options, tables


def hindsight(
    table: options.TableArgument,
    budget: options.BudgetOption = 1,
    rewards: options.RewardsOption = False,
    time_limit: Annotated[
        float | None,
        Option(
            help="Seconds to search; then the best subset so far is shown with a bound on its gap."
        ),
    ] = None,
    seed: options.SeedOption = 0,
    label: options.LabelOption = None,
    columns: options.ColumnsOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Show which arms would have been best: the best subset (exact), and simpler choices.

    **Example**

        pickbest hindsight rewards.csv --rewards --budget 3
    """
    from pickbest.catalog import make_environment
    from pickbest.cli.summaries import hindsight_summary
    from pickbest.simulation.games import deal

    environment = make_environment(table, rewards, **options.file_options(label, columns))
    costs = deal(environment, seed)
    summary = hindsight_summary(environment, costs, budget, table, time_limit)
    shows = "reward" if rewards else "cost"
    tables.show(summary, as_json, lambda found: tables.hindsight_table(found, shows))


def bounds(
    arms: Annotated[int, Option("--arms", help="Number of arms, N.")],
    budget: options.BudgetOption,
    rounds: Annotated[int, Option("--rounds", help="Number of rounds, T.")],
    slot_budget: Annotated[int, Option(help="Number of arms in each slot of OG_hybrid.")] = 1,
    target_budget: Annotated[
        int, Option(help="Size of the subsets that Theorem 6 compares with, its B'.")
    ] = 1,
    regret: Annotated[
        float | None, Option(help="Also show the smallest budget with at most this regret.")
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Show what the theorems guarantee for N arms, budget B and T rounds.

    **Example**

        pickbest bounds --arms 9 --budget 3 --rounds 368 --regret 20
    """
    from pickbest import theory
    from pickbest.cli.summaries import bounds_summary

    summary = bounds_summary(arms, budget, rounds, slot_budget, target_budget)
    if regret is not None:
        needed = theory.budget_for_regret(n_arms=arms, rounds=rounds, regret=regret)
        summary["budget_for_regret"] = {"regret": regret, "budget": needed}
    tables.show(summary, as_json, tables.bounds_table)


def learners(as_json: options.JsonOption = False) -> None:
    """List the learners with their tunings and options."""
    from pickbest.cli.summaries import learners_summary

    tables.show(learners_summary(), as_json, tables.learners_table)


def environments(as_json: options.JsonOption = False) -> None:
    """List the named environments."""
    from pickbest.cli.summaries import environments_summary

    tables.show(environments_summary(), as_json, tables.environments_table)
