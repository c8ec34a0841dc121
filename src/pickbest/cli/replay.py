"""`pickbest replay`: what learning from races would have gained, from recorded runtimes."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from pickbest.cli import tables
from pickbest.cli.options import BudgetOption, JsonOption, SeedOption, complete_learner
from pickbest.core import PickbestError, check_budget, check_count, unknown_name
from pickbest.core.progress import progress_bar


def replay(
    runtimes: Annotated[
        Path,
        Argument(
            metavar="RUNTIMES",
            help="A .csv or .csv.gz file with one row per problem: its name, columns of text, and "
            "the seconds that each solver took (empty if it gave no answer). Or an ASlib folder.",
        ),
    ],
    deadline: Annotated[
        float | None,
        Option(help="Seconds that each arm may run; an ASlib folder has its own cutoff."),
    ] = None,
    budget: BudgetOption = 2,
    cost: Annotated[
        str, Option(help="Cost of a run: runtime (share of the deadline) or solved (0 or 1).")
    ] = "runtime",
    stop: Annotated[
        str | None,
        Option(help="When to stop the other arms: first (answer) or deadline; both by default."),
    ] = None,
    learner: Annotated[
        list[str] | None,
        Option(
            "--learner",
            "-l",
            autocompletion=complete_learner,
            metavar="LEARNER",
            help="Learner to replay, repeatable: a name from `pickbest learners`, with or without "
            "options.",
        ),
    ] = None,
    price: Annotated[
        float,
        Option(help="Price of one processor for one deadline, on the scale of costs (0 to 1)."),
    ] = 0.0,
    features: Annotated[
        bool,
        Option(
            "--features",
            help="Show learners the features: text columns, or ASlib's (their time is charged).",
        ),
    ] = False,
    replicates: Annotated[int, Option("--replicates", "-r", help="Number of random orders.")] = 20,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Replay races from recorded runtimes and compare learners.

    A learner sees exactly what it would see in a live race. Each problem is a round, and each
    replicate is a random order of the problems. **random sets**: B different arms at random.
    **best fixed**: the best B arms in hindsight. **solved**: share of problems with an answer.
    **cpu s / round**: processor time per round, all arms together.

    **Examples**

        pickbest replay runtimes.csv --deadline 60 --budget 2

        pickbest replay aslib_data/QBF-2011 --features --cost solved --stop first

        pickbest replay aslib_data/CPMP-2015 --learner auto --learner thompson --stop first --json
    """
    from pickbest.environments.runtimes import read_runtimes
    from pickbest.portfolio.run.costs import NAMED, as_cost
    from pickbest.portfolio.run.settings import STOPS
    from pickbest.simulation.replay import Races, best_fixed, random_sets, run_summary

    if cost not in NAMED:
        raise PickbestError(f"cost must be one of {', '.join(NAMED)}, got {cost!r}")
    check_count("replicates", replicates)
    table = read_runtimes(runtimes)
    deadline = table.cutoff if deadline is None else deadline
    if deadline is None:
        raise PickbestError("a file of runtimes needs --deadline SECONDS: how long an arm may run")
    races = Races.of(table, deadline, as_cost(cost))
    check_budget(budget, races.n_arms)
    met = Races.with_features(table, races.deadline, races.cost) if features else races
    if stop is not None and stop not in STOPS:
        raise unknown_name("stop", stop, STOPS)
    stops = (stop,) if stop else STOPS
    names = learner or ["auto"]
    runs: list[dict[str, Any]] = []
    for name, each in product(names, stops):
        watch = 1.0 if each == "first" else None
        with progress_bar(f"replaying {name}, {each}") as progress:
            runs.append(run_summary(met, name, budget, watch, price, replicates, seed, progress))
    random, best = random_sets(races, budget, price), best_fixed(races, budget, price)
    summary = {
        "random": {"mean_cost": random.mean_cost, "cpu_seconds": random.cpu_seconds},
        "best_fixed": {
            "arms": [table.arms[arm] for arm in best.arms],
            "mean_cost": best.mean_cost,
            "cpu_seconds": best.cpu_seconds,
        },
        "runs": runs,
    }
    tables.show(summary, as_json, tables.replay_table)
