"""`pickbest feasible`: a linear program through a learner."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from pickbest.cli import tables
from pickbest.cli.options import JsonOption, SeedOption
from pickbest.core.progress import progress_bar


def feasible(
    files: Annotated[
        list[Path],
        Argument(
            metavar="FILE", help="A model (.mps, .lp), or A and b (.csv or .npy; A also as .npz)."
        ),
    ],
    epsilon: Annotated[
        float, Option("--epsilon", "-e", help="Largest allowed violation of a constraint.")
    ] = 0.1,
    budget: Annotated[
        int, Option("--budget", "-b", help="Number of constraints per oracle call.")
    ] = 1,
    box: Annotated[
        tuple[float, float] | None,
        Option(
            metavar="LOW HIGH", help="Keep x between LOW and HIGH, for A and b; 0 and 1 by default."
        ),
    ] = None,
    target: Annotated[
        float | None, Option(help="Require the model's objective to be at least this good.")
    ] = None,
    bound: Annotated[
        float | None, Option(help="Bound for variables of the model that have none.")
    ] = None,
    learner: Annotated[
        str | None,
        Option("--learner", "-l", help="Learner to use instead of ours: fpml for Proposition 8's."),
    ] = None,
    max_calls: Annotated[
        int | None, Option(help="Stop undecided after this many oracle calls.")
    ] = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Find x with A x ≥ b - epsilon in a convex set, or prove that A x ≥ b has no solution.

    Exit code 0: feasible up to epsilon. 3: infeasible, with a certificate (within --bound if it
    says so). 4: undecided after --max-calls. 2: bad input.

    **Examples**

        pickbest feasible problem.mps --epsilon 0.01 --target 120

        pickbest feasible A.csv b.csv --box -1 1 --budget 2 --json
    """
    from pickbest.feasibility import solve_feasibility
    from pickbest.feasibility.models import feasibility_summary, read_files

    model = read_files(files, box=box, target=target, bound=bound)
    with progress_bar("asking the oracle") as progress:
        found = solve_feasibility(
            model.A,
            model.b,
            model.convex,
            epsilon=epsilon,
            budget=budget,
            learner=learner,
            max_calls=max_calls,
            seed=seed,
            progress=progress,
        )
    summary = feasibility_summary(model, found)
    tables.show(summary, as_json, tables.feasible_table)
    raise typer.Exit(summary["exit_code"])
