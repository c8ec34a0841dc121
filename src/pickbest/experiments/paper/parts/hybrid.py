"""Theorem 6: OG_hybrid with full feedback against the best B' arms."""

from __future__ import annotations

from collections.abc import Sequence

from pickbest import theory
from pickbest.catalog import make_learner
from pickbest.experiments.paper import cost_sequences
from pickbest.experiments.paper.estimates import Estimate, slope
from pickbest.experiments.paper.experiment import Found, Setting
from pickbest.report.document import Cell, Column, Figure, Series, Table, Text, Verdict


def hybrid(
    setting: Setting,
    *,
    n_arms: int,
    target_budget: int,
    slot_budgets: Sequence[int],
    rounds: Sequence[int],
) -> Found:
    """Regret against OPT(B') by slot budget and T, where only B' arms are ever good, in turn."""
    measured: dict[tuple[int, int], Estimate] = {}
    bounds: dict[tuple[int, int], float] = {}
    budgets: dict[tuple[int, int], int] = {}
    for slot_budget in slot_budgets:
        for length in rounds:
            key = slot_budget, length
            budgets[key] = theory.hybrid_budget(
                slot_budget=slot_budget, target_budget=target_budget, rounds=length
            )
            learner = make_learner(
                "og-hybrid", n_arms, budgets[key], length, "theorem_2",
                slot_budget=slot_budget, feedback="full", slots="independent",
            )  # fmt: skip
            environment = cost_sequences.turns(n_arms, length, target_budget)
            simulation = setting.play({"hybrid": learner}, environment)
            best = simulation.hindsight_costs("hybrid", "best_subset", target_budget)
            measured[key] = Estimate.of(simulation.costs("hybrid").sum(axis=1) - best)
            bounds[key] = theory.hybrid_regret_bound(
                n_arms=n_arms, slot_budget=slot_budget, target_budget=target_budget, rounds=length
            )
    kept = all(measured[key].mean <= bounds[key] for key in measured)
    share = max(measured[key].mean / bounds[key] for key in measured)
    last = rounds[-1]
    ends = ", ".join(f"{measured[b, last].mean:.1f} with b = {b}" for b in slot_budgets)
    text = (
        f"Regret against OPT({target_budget}) stays under the bound at all {len(measured)} points "
        f"(at most {share:.1%} of it). With more arms in a slot, at T = {last:,}: {ends}."
        if kept
        else f"The bound is exceeded: regret is up to {share:.0%} of it."
    )
    statement = (
        "Theorem 6: regret against OPT(B') ≤ B' ln T · 2 T^(1/(b+1)) (1 + ln N)^(b/(b+1)) + 1"
    )
    help_text = (
        f"N = {n_arms} arms, of which {target_budget} take turns at costing 0 while all others "
        "cost 1, so OPT(B') pays nothing and extra arms do not help by luck. Slots pick "
        "independently, as in Algorithm 2; b is the slot budget B̃."
    )
    return Found(
        [
            Verdict(statement, text, kept),
            Text(help_text),
            _figure(target_budget, slot_budgets, rounds, measured, bounds),
            _table(slot_budgets, rounds, measured, bounds, budgets),
        ]
    )


def _figure(
    target_budget: int,
    slot_budgets: Sequence[int],
    rounds: Sequence[int],
    measured: dict[tuple[int, int], Estimate],
    bounds: dict[tuple[int, int], float],
) -> Figure:
    x = [float(length) for length in rounds]
    series = []
    for index, b in enumerate(slot_budgets):
        look = f"shade {index + 1}/{len(slot_budgets)}"
        series.append(Series(f"b = {b}", x, [measured[b, t].mean for t in rounds], look))
        series.append(
            Series(f"bound, b = {b}", x, [bounds[b, t] for t in rounds], look, "dotted", "")
        )
    last = rounds[-1]
    return Figure(
        "hybrid",
        f"Regret of OG_hybrid against OPT({target_budget}), with budget ⌈B' ln T⌉ b.",
        f"Log-log plot of regret against rounds. At T = {last}: "
        + ", ".join(
            f"b = {b} {measured[b, last].mean:.1f} (bound {bounds[b, last]:.0f})"
            for b in slot_budgets
        ),
        "rounds T",
        f"regret against OPT({target_budget})",
        series,
        log_x=True,
        log_y=True,
    )


def _table(
    slot_budgets: Sequence[int],
    rounds: Sequence[int],
    measured: dict[tuple[int, int], Estimate],
    bounds: dict[tuple[int, int], float],
    budgets: dict[tuple[int, int], int],
) -> Table:
    last = rounds[-1]
    rows: list[list[Cell]] = []
    for b in slot_budgets:
        means = [measured[b, length].mean for length in rounds]
        fitted = slope(list(rounds), means)
        rows.append([b, budgets[b, last], means[-1], bounds[b, last], fitted, 1 / (b + 1)])
    columns = [
        Column("slot budget b"),
        Column("budget B"),
        Column("regret", 1),
        Column("bound", 1),
        Column("slope", 2),
        Column("1/(b+1)", 2),
    ]
    return Table("hybrid", f"At T = {last:,}", columns, rows)
