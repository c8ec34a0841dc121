"""`python -m studies`: the measurements behind the pages, one command each."""

import typer

from pickbest.cli.main import HelpfulCommand, HelpfulGroup, main
from studies.commands.ablate import ablate
from studies.commands.benchmark import benchmark, peers
from studies.commands.measure import measure
from studies.commands.models import models
from studies.commands.paper import reproduce, sabotage
from studies.commands.races import races
from studies.commands.theory import linear_programs, two_picks

app = typer.Typer(
    name="python -m studies",
    cls=HelpfulGroup,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Rebuild the paper's results, the benchmark and the other measurements.",
)
for command in (
    *(reproduce, sabotage, benchmark, peers, ablate, races, models),
    *(linear_programs, two_picks, measure),
):
    app.command(cls=HelpfulCommand)(command)


if __name__ == "__main__":
    main(app)
