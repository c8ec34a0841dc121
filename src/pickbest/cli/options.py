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
        help="A table (.csv, .tsv, .csv.gz, .parquet, .npy, .npz; one row a round, one column an "
        "arm), an environment (task-1, …; see `pickbest environments`), or your own as "
        "module:Name, with options: bernoulli:n_arms=20.",
    ),
]
RewardsOption = Annotated[bool, Option("--rewards", help="The file holds rewards, not costs.")]
LabelOption = Annotated[
    str | None,
    Option("--label", help="The column of a file that names its rows, if it is not seen."),
]
ColumnsOption = Annotated[
    str | None,
    Option("--columns", help="Which columns of a file are arms, with commas: z3,cvc5."),
]
JsonOption = Annotated[bool, Option("--json", help="Print JSON, for scripts.")]
BudgetOption = Annotated[int, Option("--budget", "-b", help="Arms per round.")]
SeedOption = Annotated[int, Option("--seed", help="Same seed, same numbers.")]
WorkersOption = Annotated[int, Option("--workers", "-w", help="Processes.")]
RoundsOption = Annotated[int | None, Option("--rounds", help="Rounds of a named environment.")]
ArmsOption = Annotated[
    int | None, Option("--arms", help="Arms of a named environment that has no own number.")
]
LearnersOption = Annotated[
    list[str],
    Option(
        "--learner",
        "-l",
        autocompletion=complete_learner,
        default_factory=lambda: ["auto"],
        show_default="auto",
        help="A name from `pickbest learners`, repeatable; options may follow: "
        "og-hybrid:slot_budget=2,tuning=as_run. Your own: module:Name.",
    ),
]


def file_options(label: str | None, columns: str | None) -> dict[str, Any]:
    """What --label and --columns say, for make_environment."""
    names = None if columns is None else tuple(name.strip() for name in columns.split(","))
    return {"label": label, "columns": names}
