"""Tables for people who read a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table as RichTable


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> RichTable:
    """A table whose text stands on the left and whose numbers line up on the right."""
    built = RichTable(title=title, title_justify="left", header_style="bold")
    for index, column in enumerate(columns):
        text = any(isinstance(row[index], str) for row in rows)
        built.add_column(
            column, justify="left" if text else "right", overflow="fold", no_wrap=index == 0
        )
    for row in rows:
        built.add_row(*(_cell(value) for value in row))
    return built


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4f}" if abs(value) < 10 else f"{value:,.1f}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def simulation_table(summary: Mapping[str, Any]) -> RichTable:
    """What `pickbest simulate` prints."""
    settings = summary["settings"]
    title = (
        f"{summary['environment']}: {settings['rounds']} rounds, "
        f"{settings['replicates']} replicates, seed {settings['seed']}"
    )
    rows = [
        [
            entry["name"],
            entry["budget"],
            entry["mean_reward"],
            entry["std_reward"],
            *(entry["regret"].get(against) for against in ("best_arm", "best_subset", "top")),
        ]
        for entry in summary["learners"]
    ]
    columns = (
        "learner",
        "B",
        "mean reward",
        "std",
        "regret to best arm",
        "best subset",
        "top B",
    )
    return table(title, columns, rows)


def hindsight_table(summary: Mapping[str, Any]) -> RichTable:
    """What `pickbest hindsight` prints."""
    labels = {
        "best_subset": "best subset",
        "greedy": "greedy subset",
        "top": "top arms",
        "best_arm": "best arm",
    }
    rows = [
        [
            label,
            summary[key]["mean_reward"],
            summary[key]["mean_cost"],
            ", ".join(summary[key]["arms"]),
        ]
        for key, label in labels.items()
    ]
    proven = summary["best_subset"]["proven"]
    note = "" if proven else f" (not proven: at most {summary['best_subset']['gap']:.2g} better)"
    title = (
        f"{summary['environment']}: {summary['rounds']} rounds, {summary['n_arms']} arms, "
        f"budget {summary['budget']}{note}"
    )
    return table(title, ("in hindsight", "mean reward", "mean cost", "arms"), rows)


def bounds_table(summary: Mapping[str, Any]) -> RichTable:
    """What `pickbest bounds` prints."""
    rows = [[row["statement"], row["says"], row["value"]] for row in summary["bounds"]]
    if "budget_for_regret" in summary:
        wanted = summary["budget_for_regret"]
        says = f"smallest budget with regret at most {wanted['regret']:g}"
        rows.append(["Theorem 2", says, wanted["budget"]])
    title = f"N = {summary['n_arms']} arms, B = {summary['budget']}, T = {summary['rounds']} rounds"
    return table(title, ("statement", "says", "value"), rows)


def learners_table(summary: Mapping[str, Any]) -> RichTable:
    """What `pickbest learners` prints."""
    rows = [
        [
            row["name"],
            row["summary"],
            row["feedback"],
            ", ".join(row["tunings"]) or "-",
            ", ".join(row["options"]) or "-",
        ]
        for row in summary["learners"]
    ]
    return table("Learners", ("name", "what it does", "sees", "tunings", "options"), rows)


def environments_table(summary: Mapping[str, Any]) -> RichTable:
    """What `pickbest environments` prints."""
    rows = [
        [row["name"], row["summary"], row["n_arms"], row["rounds"]]
        for row in summary["environments"]
    ]
    return table("Environments", ("name", "what happens", "arms", "rounds"), rows)


def feasible_table(summary: Mapping[str, Any]) -> RichTable:
    """What `pickbest feasible` prints."""
    verdicts = {
        "feasible": f"feasible: no constraint is violated by more than {summary['epsilon']:g}",
        "infeasible": "infeasible: no x in the set satisfies every constraint",
        "undecided": "not decided within the calls allowed",
    }
    rows: list[list[object]] = [
        ["oracle calls", f"{summary['calls']:,} (at most {summary['calls_bound']:,} needed)"],
        ["width", f"{summary['width']:.6g}"],
    ]
    if summary["samples"] is not None:
        rows.append(["draws for each law", f"{summary['samples']:,}"])
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
    size = f"{summary['n_constraints']:,} constraints, {summary['dimension']:,} variables"
    return table(
        f"{verdicts[summary['status']]} ({size})", ("", "B = " + str(summary["budget"])), rows
    )
