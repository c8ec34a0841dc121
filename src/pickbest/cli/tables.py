"""What commands print for people who read a terminal; `store_tables` has what portfolios show."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import typer
from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from pickbest.core.text import printable


def show(
    summary: Mapping[str, Any],
    as_json: bool,
    as_tables: Callable[[Any], RenderableType | Sequence[RenderableType]],
) -> None:
    """Print a summary as JSON, or as tables."""
    if as_json:
        print_json(summary)
        return
    built = as_tables(summary)
    print_tables(*(built if isinstance(built, (list, tuple)) else [built]))


def print_json(summary: Mapping[str, Any]) -> None:
    """For scripts."""
    typer.echo(json.dumps(summary, indent=2))


def print_tables(*built: RenderableType) -> None:
    """For people."""
    Console().print(*built)


def say(text: str, stderr: bool = False) -> None:
    """Print a line as it is."""
    console = Console(stderr=stderr, highlight=False, soft_wrap=True, markup=False)
    console.print(text)


def table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    text_columns: int | None = None,
    narrow: bool = False,
) -> Group:
    """A table whose text stands on the left and whose numbers line up on the right.

    text_columns: how many of the first columns are text; by their contents if not given.
    narrow: without a frame, for many columns.
    """
    built = Table(header_style="bold")
    if narrow:
        built.box, built.padding, built.pad_edge = box.SIMPLE, (0, 1, 0, 0), False
    for index, column in enumerate(columns):
        holds_text = any(isinstance(row[index], str) for row in rows)
        left = holds_text if text_columns is None else index < text_columns
        built.add_column(
            column, justify="left" if left else "right", overflow="fold", no_wrap=index == 0
        )
    for row in rows:
        built.add_row(*(Text(_cell(value)) for value in row))
    # A line of its own may be wider than the table.
    return Group(Text(printable(title), style="italic"), built)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4f}" if abs(value) < 10 else f"{value:,.1f}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return printable(value)


def hindsight_table(summary: Mapping[str, Any], shows: str) -> Group:
    """What `pickbest hindsight` prints; shows: "cost" or "reward"."""
    labels = {
        "best_subset": "best subset", "greedy": "greedy subset", "top": "top arms",
        "best_arm": "best arm",
    }  # fmt: skip
    found = [(label, summary[key]) for key, label in labels.items()]
    rows = [(label, one[f"mean_{shows}"], ", ".join(one["arms"])) for label, one in found]
    proven = summary["best_subset"]["proven"]
    note = "" if proven else f" (not proven: at most {summary['best_subset']['gap']:.2g} better)"
    title = (
        f"{summary['environment']}: {summary['rounds']} rounds, {summary['n_arms']} arms, "
        f"budget {summary['budget']}{note}"
    )
    return table(title, ("in hindsight", f"mean {shows}", "arms"), rows)


def bounds_table(summary: Mapping[str, Any]) -> Group:
    """What `pickbest bounds` prints."""
    rows = [[row["statement"], row["says"], row["value"]] for row in summary["bounds"]]
    if "budget_for_regret" in summary:
        wanted = summary["budget_for_regret"]
        says = f"smallest budget with regret at most {wanted['regret']:g}"
        rows.append(["Theorem 2", says, wanted["budget"]])
    title = f"N = {summary['n_arms']} arms, B = {summary['budget']}, T = {summary['rounds']} rounds"
    return table(title, ("statement", "says", "value"), rows)


def learners_table(summary: Mapping[str, Any]) -> Group:
    """What `pickbest learners` prints."""
    joined = ("tunings", "options")
    rows = [
        [row["name"], row["summary"], row["feedback"], *(", ".join(row[k]) or "-" for k in joined)]
        for row in summary["learners"]
    ]
    return table("Learners", ("name", "what it does", "sees", "tunings", "options"), rows)


def environments_table(summary: Mapping[str, Any]) -> Group:
    """What `pickbest environments` prints."""
    keys = ("name", "summary", "n_arms", "rounds")
    rows = [[row[key] for key in keys] for row in summary["environments"]]
    return table("Environments", ("name", "what happens", "arms", "rounds"), rows)


def feasible_table(summary: Mapping[str, Any]) -> Group:
    """What `pickbest feasible` prints."""
    verdicts = {
        "feasible": f"feasible: x violates no constraint by more than {summary['epsilon']:g}",
        "infeasible": "infeasible: no x in the set satisfies every constraint",
        "undecided": "undecided within the calls allowed",
    }
    if summary["needs_bound_of"]:
        verdicts["infeasible"] = (
            f"infeasible within --bound {summary['bound']:g}: a larger bound may allow a solution"
        )
    rows: list[list[object]] = [
        ["oracle calls", f"{summary['calls']:,} (at most {summary['calls_bound']:,} are needed)"],
        ["width", f"{summary['width']:.6g}"],
    ]
    if summary["samples"] is not None:
        rows.append(["draws per law", f"{summary['samples']:,}"])
    if summary["worst_slack"] is not None:
        rows.append(
            ["smallest slack", f"{summary['worst_slack']:.6g} ({summary['worst_constraint']})"]
        )
    for title, values in (
        ("x", summary["x"]),
        ("certificate", (summary["certificate"] or {}).get("multipliers")),
    ):
        if values:
            first = ", ".join(f"{name} {value:.4g}" for name, value in list(values.items())[:8])
            rest = f", … {len(values) - 8:,} more (--json)" if len(values) > 8 else ""
            rows.append([title, first + rest])
    if summary["certificate"]:
        rows.append(["its largest value over the set", f"{summary['certificate']['value']:.6g}"])
    if summary["needs_bound_of"]:
        rows.append(["relies on the bound of", ", ".join(summary["needs_bound_of"][:8])])
    size = f"{summary['n_constraints']:,} constraints, {summary['dimension']:,} variables"
    return table(
        f"{verdicts[summary['status']]} ({size})", ("", "B = " + str(summary["budget"])), rows
    )


def replay_table(summary: Mapping[str, Any]) -> Group:
    """What `pickbest replay` prints."""
    random, best = summary["random"], summary["best_fixed"]
    keys = ("learner", "stop", "mean_cost", "std_error", "solved", "cpu_seconds")
    rows: list[list[object]] = [[run[key] for key in keys] for run in summary["runs"]]
    rows.append(["random sets", "first", random["mean_cost"], None, None, random["cpu_seconds"]])
    names = f"best fixed: {', '.join(best['arms'])}"
    rows.append([names, "first", best["mean_cost"], None, None, best["cpu_seconds"]])
    columns = ("learner", "stop", "mean cost", "± s.e.", "solved", "cpu s / round")
    return table("Replayed races", columns, rows, text_columns=2)
