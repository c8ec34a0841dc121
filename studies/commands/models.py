"""`models`: which language models to call, quality against money."""

from __future__ import annotations

from typing import Annotated, Any

from rich.console import RenderableType
from typer import Option

from pickbest.cli import tables
from pickbest.cli.options import JsonOption, SeedOption
from pickbest.core import PickbestError
from pickbest.core.progress import progress_bar
from pickbest.environments import Table
from studies.commands.benchmark import BudgetsOption, DataOption, parse_budgets


def models(
    data: DataOption = None,
    trades: Annotated[
        str, Option(help="What 100 dollars per million tokens are worth, with commas.")
    ] = "0,0.1,0.3,1",
    budgets: BudgetsOption = "1-3",
    replicates: Annotated[int, Option("--replicates", "-r", help="Draws of all attempts.")] = 10,
    held_out: Annotated[bool, Option("--held-out", help="Play every other problem only.")] = False,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Call up to B of 35 language models per problem, and pay cost + trade · price.

    Fixed sets and cascades are the best in hindsight; learners know nothing at first. `more` is
    what each pays more than the best fixed choice. The last table compares the adaptive cascade
    with the best learner of a fixed B, with a cascade that only knows prices, and with hindsight.
    Prices are approximate: good enough to compare
    ways to trade quality for money, and for nothing else.

    **Examples**

        python -m studies models --data FOLDER

        python -m studies models --data FOLDER --trades 0.3 --budgets 2 --json
    """
    from studies.models import compared, models_study
    from studies.tables import model_questions, models as recorded

    found = None if data is None else recorded(data)
    if found is None:
        raise PickbestError("--data FOLDER must hold models/code_execution.csv.gz")
    try:
        numbers = [float(trade) for trade in trades.split(",")]
    except ValueError:
        raise PickbestError(f"trades must be numbers with commas, got {trades!r}") from None
    table, dollars = found
    features = model_questions(data) if data is not None else None
    if held_out and features is not None:
        table, features = Table(table.costs_table[1::2]), features[1::2]
    with progress_bar("calling") as progress:
        rows = models_study(
            table, dollars, numbers, parse_budgets(budgets), replicates, seed, progress, features
        )
    tables.show({"rows": rows, "compared": compared(rows)}, as_json, shown)


def shown(found: dict[str, Any]) -> list[RenderableType]:
    """A table for each order, what every router pays at every budget; and the comparisons."""
    rows = found["rows"]
    built: list[RenderableType] = []
    for order in dict.fromkeys(row["order"] for row in rows):
        own = [row for row in rows if row["order"] == order]
        budgets = list(dict.fromkeys(row["budget"] for row in own))
        lines: dict[tuple[float, str], list[str]] = {}
        for row in own:
            text = f"{row['paid']:.3f} ({row['quality']:.2f}, ${row['dollars']:.2f})"
            lines.setdefault((row["trade"], row["router"]), []).append(text)
        title = f"Order {order}: cost + trade · price paid per problem (quality, dollars)"
        cells = [[f"{trade:g}", router, *texts] for (trade, router), texts in lines.items()]
        heads = ("trade", "router", *(f"B = {budget}" for budget in budgets))
        built.append(tables.table(title, heads, cells, narrow=True))
    heads = ("order", "trade", "compared with", "router", "adaptive", "rival", "difference")
    cells = [
        [each["order"], f"{each['trade']:g}", each["compared with"], each["router"],
         f"{each['adaptive']:.3f}", f"{each['rival']:.3f}",
         f"{each['difference']:+.3f} [{each['low']:+.3f}, {each['high']:+.3f}]"]
        for each in found["compared"]
    ]  # fmt: skip
    title = "The adaptive cascade, less what its rivals pay on the same draws (95% intervals)"
    built.append(tables.table(title, heads, cells, narrow=True))
    return built
