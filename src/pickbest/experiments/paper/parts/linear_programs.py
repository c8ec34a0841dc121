"""Proposition 8: how many oracle calls linear programs take, by budget and accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pickbest.experiments.paper.experiment import Found, Setting
from pickbest.report.document import Cell, Column, Figure, Series, Table, Verdict


def linear_programs(setting: Setting) -> Found:
    """Calls against accuracy, verdicts beside an exact solver, and two applications."""
    from pickbest.experiments.linear_programs.experiment import lp_experiment

    measured = lp_experiment(setting.seed, setting.replicates)
    calls, slopes = measured["calls"], measured["slopes"]
    kept = all(row["calls"] <= row["calls_bound"] for row in calls)
    wrong = measured["verdicts"]["wrong"]
    fitted = [row for row in slopes if row["slope"] is not None]
    near = ", ".join(
        f"B = {row['budget']}: {row['slope']:.2f} (theory {row['theory']:.2f})" for row in fitted
    )
    text = (
        f"Calls stay within the bound on {sum(r['calls'] <= r['calls_bound'] for r in calls)} of "
        f"{len(calls)} solves, and grow with 1/ε to the power {near}. Of "
        f"{measured['verdicts']['problems']} mixed problems {wrong} verdicts contradict an exact "
        "solver."
    )
    statement = "Proposition 8: (4ρ/ε)^((B+1)/B) (1 + ln n) oracle calls suffice"
    return Found(
        [
            Verdict(statement, text, kept and wrong == 0),
            _figure(calls, [row["budget"] for row in slopes]),
            _slopes(slopes),
            _applications(measured["applications"]),
            _two_draws(measured["two_draws"]),
        ]
    )


def _two_draws(measured: Mapping[str, Any]) -> Verdict:
    """Beyond the paper: the product law of two draws beside Proposition 8's own tuning."""
    rows = measured["calls"]
    kept = all(
        row["product"]["verified"] and row["product"]["calls"] <= row["product"]["calls_bound"]
        for row in rows
    )
    fewer = min(row["proposition_8"]["calls_bound"] / row["product"]["calls_bound"] for row in rows)
    sums = {
        tuning: sum(row[tuning]["calls"] for row in rows)
        for tuning in ("product", "eager", "proposition_8")
    }
    slopes = [row["slope"] for row in measured["slopes"]]
    steepest = max(slopes, default=None)
    flat = steepest is not None and steepest <= 1.1
    text = (
        f"At ε = {rows[0]['epsilon']:g} on {len(rows)} problems the bound is at least "
        f"{fewer:.0f} times smaller than Proposition 8's. Calls made: {sums['product']:,}, with "
        f"FPML as in the proof {sums['proposition_8']:,}, with eager FPML {sums['eager']:,}. "
        + (f"They grow with 1/ε to the power {steepest:.2f} at most." if slopes else "")
    )
    holds = kept and flat and fewer >= 10.0 and 10 * sums["product"] <= sums["proposition_8"]
    statement = "Two draws: 2ρ ln n / (η_B ε) oracle calls suffice, at B = 2 a tenth or fewer"
    return Verdict(statement, text, holds)


def _figure(calls: Sequence[Mapping[str, Any]], budgets: Sequence[int]) -> Figure:
    series = []
    for index, budget in enumerate(budgets):
        own = sorted((1 / row["epsilon"], row["calls"]) for row in calls if row["budget"] == budget)
        x, y = [float(point[0]) for point in own], [float(point[1]) for point in own]
        series.append(Series(f"B = {budget}", x, y, f"shade {index + 1}/{len(budgets)}", "none"))
    return Figure(
        "linear-programs",
        "Oracle calls until A x ≥ b − ε, against 1/ε; one point per random problem and accuracy.",
        "Log-log scatter plot of oracle calls against 1/ε for budgets "
        f"{', '.join(str(budget) for budget in budgets)}.",
        "1/ε",
        "oracle calls",
        series,
        log_x=True,
        log_y=True,
    )


def _slopes(slopes: Sequence[Mapping[str, Any]]) -> Table:
    rows: list[list[Cell]] = [
        [row["budget"], row["slope"], row["low"], row["high"], row["theory"]] for row in slopes
    ]
    columns = [
        Column("B"),
        Column("slope", 2, group="measured"),
        Column("low", 2, group="measured"),
        Column("high", 2, group="measured"),
        Column("(B+1)/B", 2, group="theory"),
    ]
    note = "low and high: 95% confidence interval over problems."
    return Table("linear-programs-slopes", "How calls grow with 1/ε", columns, rows, note)


def _applications(applications: Sequence[Mapping[str, Any]]) -> Table:
    keys = ("name", "budget", "status", "calls", "calls_bound", "seconds", "highs_seconds")
    rows: list[list[Cell]] = [[row[key] for key in keys] for row in applications]
    columns = [
        Column("problem"),
        Column("B"),
        Column("verdict"),
        Column("calls"),
        Column("bound"),
        Column("ours", 2, group="seconds"),
        Column("HiGHS, exact", 3, group="seconds"),
    ]
    note = "An exact solver is faster on problems of this size: the point is the number of calls."
    faster = all(row["highs_seconds"] < row["seconds"] for row in applications)
    title = "Set cover and packing"
    return Table("linear-programs", title, columns, rows, note if faster else "")
