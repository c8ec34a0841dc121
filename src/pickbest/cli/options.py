"""Arguments and options that several commands share."""

from typing import Annotated, Any

from typer import Argument, Option


def _environments(incomplete: str) -> list[str]:
    """Names that complete what was typed; files are left to the shell."""
    from pickbest.catalog import environment_names

    return [name for name in environment_names() if name.startswith(incomplete)]


def complete_learner(incomplete: str) -> list[str]:
    """Names of learners that complete what was typed."""
    from pickbest.catalog import learner_names

    return [name for name in learner_names() if name.startswith(incomplete)]


TableArgument = Annotated[
    str,
    Argument(
        metavar="TABLE",
        autocompletion=_environments,
        help="A table with one row per round and one column per arm (.csv, .tsv, .csv.gz, "
        ".npy), an environment (task-1; see `pickbest environments`) with or "
        "without options (bernoulli:n_arms=20,rounds=500), or your own as module:Name.",
    ),
]
RewardsOption = Annotated[
    bool, Option("--rewards", help="Read the table as rewards (higher is better).")
]
LabelOption = Annotated[
    str | None,
    Option("--label", help="Name of the column that labels the rows, if it is not detected."),
]
ColumnsOption = Annotated[
    str | None, Option("--columns", help="Columns to use as arms, separated by commas: z3,cvc5.")
]
JsonOption = Annotated[bool, Option("--json", help="Print JSON.")]
BudgetOption = Annotated[int, Option("--budget", "-b", help="Number of arms to pick per round.")]
SeedOption = Annotated[
    int, Option("--seed", help="Random seed; the same seed gives the same numbers.")
]
WorkersOption = Annotated[int, Option("--workers", help="Number of processes.")]
LearnersOption = Annotated[
    list[str],
    Option(
        "--learner",
        "-l",
        autocompletion=complete_learner,
        default_factory=lambda: ["auto"],
        show_default="auto",
        metavar="LEARNER",
        help="Learner to play, repeatable: a name from `pickbest learners`, with or without "
        "options (og-hybrid:slot_budget=2,tuning=as_run), or your own as module:Name.",
    ),
]


def file_options(label: str | None, columns: str | None) -> dict[str, Any]:
    """What --label and --columns say, for make_environment."""
    names = None if columns is None else tuple(name.strip() for name in columns.split(","))
    return {"label": label, "columns": names}
