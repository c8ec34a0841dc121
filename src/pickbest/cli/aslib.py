"""`pickbest aslib`: what a scenario of ASlib holds, and what B of its algorithms are worth."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from pickbest.cli import tables
from pickbest.cli.options import JsonOption
from pickbest.core import check_count
from pickbest.core.progress import progress_bar


def aslib(
    directory: Annotated[
        Path,
        Argument(metavar="DIR", help="A scenario, or a folder whose folders are scenarios."),
    ],
    cost: Annotated[
        str | None,
        Option(
            help="What an algorithm pays: solved, runtime or quality; if not given, solved for a "
            "runtime and quality for a solution quality."
        ),
    ] = None,
    measure: Annotated[
        str | None,
        Option(
            help="A performance measure by name, or runtime or quality for the first of that "
            "kind; the scenario's first if not given."
        ),
    ] = None,
    budget: Annotated[
        int, Option("--budget", "-b", help="The largest B, algorithms per instance.")
    ] = 6,
    time_limit: Annotated[float, Option(help="Seconds to search for each best subset.")] = 60.0,
    as_json: JsonOption = False,
) -> None:
    """Read scenarios of ASlib: their facts, and what B algorithms a round would have brought.

    Each instance is a round. The reward is the share of instances solved (cost solved), or
    1 - the mean cost: of runtime, as a share of the cutoff; of quality, from the best (1) to
    the worst (0) algorithm of each instance; 0 where unsolved. **random**: B different
    algorithms at random, in expectation. **top B**: the B best single ones. **greedy**: added
    one at a time. **best**: the best B together, in hindsight. **virtual best**: all of them.
    Runs that are missing count as unsolved.

    **Examples**

        pickbest aslib aslib_data/CPMP-2015

        pickbest aslib aslib_data --cost runtime --budget 3 --json
    """
    from pickbest.environments.aslib.scenario import read_scenario, scenario_folders
    from pickbest.report.scenarios import scenario_summary

    check_count("budget", budget)
    folders = scenario_folders(directory)
    summaries = []
    with progress_bar("reading scenarios") as progress:
        for done, folder in enumerate(folders, start=1):
            scenario = read_scenario(folder, measure)
            summaries.append(scenario_summary(scenario, cost, budget, time_limit))
            if progress is not None:
                progress(done, len(folders))
    tables.show({"scenarios": summaries}, as_json, tables.scenario_tables)
