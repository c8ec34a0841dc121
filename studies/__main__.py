"""`python -m studies`: the measurements behind the pages, one command each."""

import typer

from pickbest.cli.main import main
from studies.commands.benchmark import benchmark
from studies.commands.measure import measure
from studies.commands.reproduce import reproduce

app = typer.Typer(
    name="python -m studies",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Rebuild the paper's results, the benchmark and the other measurements.",
)
for command in (reproduce, benchmark, measure):
    app.command()(command)


if __name__ == "__main__":
    main(app)
