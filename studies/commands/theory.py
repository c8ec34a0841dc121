"""`linear-programs`, `two-picks`: theorems measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from rich.console import RenderableType
from typer import Argument, Option

from pickbest.cli import tables
from pickbest.cli.options import JsonOption, SeedOption
from pickbest.core import unknown_name
from pickbest.core.progress import progress_bar

ReplicatesOption = Annotated[
    int, Option("--replicates", "-r", help="Problems per family, or games per row.")
]


def linear_programs(
    study: Annotated[
        str,
        Argument(
            help="rates: calls against accuracy, verdicts and times compared with HiGHS. "
            "two-draws: the product law compared with FPML."
        ),
    ] = "rates",
    replicates: ReplicatesOption = 3,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Measure how many oracle calls a linear program takes, and whether verdicts are right.

    Section 5 and Proposition 8 of the paper. --json has every row; the tables are a summary.

    **Examples**

        python -m studies linear-programs rates --seed 101

        python -m studies linear-programs two-draws --replicates 1 --json
    """
    from studies.linear_programs.experiment import lp_experiment
    from studies.linear_programs.two_draws import two_draws

    studies: dict[str, Callable[..., dict[str, Any]]] = {
        "rates": lp_experiment,
        "two-draws": two_draws,
    }
    if study not in studies:
        raise unknown_name("study", study, studies)
    with progress_bar(study) as progress:
        found = studies[study](seed, replicates, progress=progress)
    tables.show(found, as_json, lambda _: [rows_table(*each) for each in _shown(study, found)])


def _shown(study: str, found: dict[str, Any]) -> list[tuple[str, Sequence[dict[str, Any]]]]:
    if study == "rates":
        return [
            ("Growth of calls with 1/epsilon (theory: (B+1)/B)", found["slopes"]),
            ("Verdicts on random problems", [found["verdicts"]]),
            ("Applications", found["applications"]),
        ]
    calls = [
        {
            "family": row["family"],
            "problem": row["problem"],
            **{key: own["calls"] for key, own in row.items() if isinstance(own, dict)},
        }
        for row in found["calls"]
    ]
    return [("Calls by learner, B = 2", calls), ("Growth with 1/epsilon", found["slopes"])]


def rows_table(title: str, rows: Sequence[dict[str, Any]]) -> RenderableType:
    """Rows of plain data, one column for each key."""
    columns = list(rows[0]) if rows else ["nothing"]
    heads = [column.replace("_", " ") for column in columns]
    cells = [[row.get(column) for column in columns] for row in rows]
    return tables.table(title, heads, cells, narrow=True)


def two_picks(
    most: Annotated[
        int, Option(help="Measure games of up to this many rounds; 0: only write the page.")
    ] = 0,
    replicates: ReplicatesOption = 20,
    workers: Annotated[int, Option(help="Processes that measure at the same time.")] = 1,
) -> None:
    """Measure what docs/two-picks.md shows, and write the page.

    Measurements are kept in studies/data/two_picks.json: what is there is not measured again.

    **Examples**

        python -m studies two-picks --most 1000000
    """
    from studies.two_picks import measure, page

    if most:
        with progress_bar("measuring") as progress:
            measure.measure(most, replicates, workers=workers, progress=progress)
    page.PAGE.write_text(page.page(), encoding="utf-8")
    page.draw()
