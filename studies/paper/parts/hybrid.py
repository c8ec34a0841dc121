"""Theorem 6: OG_hybrid with full feedback against the best B' arms."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pickbest import theory
from pickbest.catalog import make_learner
from pickbest.report.document import Cell, Figure, Series, Table, Text, Verdict, alike
from pickbest.simulation.simulate import simulate
from studies.paper import cost_sequences
from studies.paper.estimates import NEAR, Estimate, slope
from studies.paper.experiment import Found, Setting, against_rounds, shaded


def hybrid(
    setting: Setting,
    *,
    n_arms: int,
    target_budget: int,
    slot_budgets: Sequence[int],
    horizons: Sequence[Sequence[int]],
) -> Found:
    """Regret against OPT(B') by slot budget and T, where only B' arms are ever good, in turn.

    horizons: the numbers of rounds of each slot budget. The verdict fails where a mean is above the
    bound or grows faster than it, and where the last T of a slot budget cannot tell: a bound that
    is not below T, or that as many arms at random do not exceed.
    """
    series = {
        b: [_point(setting, n_arms, target_budget, b, length) for length in lengths]
        for b, lengths in zip(slot_budgets, horizons, strict=True)
    }
    points = [point for own in series.values() for point in own]
    share = max(point.regret.mean / point.bound for point in points)
    telling = [p for p in points if p.bound < min(p.rounds, p.control.mean)]
    steep = max((_slope(own) or 0.0) - 1 / (b + 1) for b, own in series.items())
    ends = ", ".join(
        f"{own[-1].regret.mean:.1f} with b = {b} (bound {own[-1].bound:,.0f}, T = "
        f"{own[-1].rounds:,})"
        for b, own in series.items()
    )
    text = (
        f"Regret against OPT({target_budget}) is at most {share:.1%} of the bound at "
        f"{len(points)} points: {ends}. At {len(telling)} of them the bound is below T and as many "
        f"arms at random exceed it. No fitted slope is more than {max(steep, 0.0):.2f} above "
        "1/(b+1)."
    )
    statement = (
        "Theorem 6: regret against OPT(B') ≤ B' ln T · 2 T^(1/(b+1)) (1 + ln N)^(b/(b+1)) + 1"
    )
    help_text = (
        f"N = {n_arms} arms, of which {target_budget} take turns at costing 0 while all others "
        "cost 1, so OPT(B') pays nothing and extra arms do not help by luck. Slots pick "
        "independently, as in Algorithm 2; b is the slot budget B̃. Costs are fixed in advance."
    )
    told = all(own[-1] in telling for own in series.values())
    return Found(
        [
            Verdict(statement, text, share <= 1.0 and told and steep <= NEAR),
            Text(help_text),
            _figure(target_budget, series),
            _table(series),
        ]
    )


class Point(NamedTuple):
    """One game of Theorem 6. control: the regret of as many distinct arms at random."""

    rounds: int
    budget: int
    regret: Estimate
    control: Estimate
    bound: float


def _point(
    setting: Setting, n_arms: int, target_budget: int, slot_budget: int, rounds: int
) -> Point:
    goal = {"target_budget": target_budget, "slot_budget": slot_budget, "rounds": rounds}
    budget = theory.hybrid_budget(**goal)
    learner = make_learner(
        "og-hybrid", n_arms, budget, rounds, "theorem_2",
        slot_budget=slot_budget, feedback="full", slots="independent",
    )  # fmt: skip
    environment = cost_sequences.turns(n_arms, rounds, target_budget)
    # OPT(B') pays nothing here.
    paid = setting.play({"hybrid": learner}, environment).costs("hybrid").sum(axis=1)
    idle = simulate({"control": make_learner("uniform", n_arms, budget)}, environment, 2)
    control = Estimate.of(idle.costs("control").sum(axis=1))
    bound = theory.hybrid_regret_bound(n_arms=n_arms, **goal)
    return Point(rounds, budget, Estimate.of(paid), control, bound)


def _slope(points: Sequence[Point]) -> float | None:
    return slope([p.rounds for p in points], [p.regret.mean for p in points])


def _figure(target_budget: int, points: Mapping[int, Sequence[Point]]) -> Figure:
    series = []
    for look, (b, own) in shaded(points.items()):
        x = [p.rounds for p in own]
        series.append(Series(f"b = {b}", x, [p.regret.mean for p in own], look))
        series.append(Series(f"bound, b = {b}", x, [p.bound for p in own], look, "dotted", ""))
    return against_rounds(
        "hybrid",
        f"Regret of OG_hybrid against OPT({target_budget}), with budget ⌈B' ln T⌉ b.",
        series,
        f"regret against OPT({target_budget})",
    )


def _table(points: Mapping[int, Sequence[Point]]) -> Table:
    rows: list[list[Cell]] = [
        [b, p.rounds, p.budget, p.regret.mean, p.regret.error, p.bound, p.control.mean,
         _slope(own) if p is own[-1] else None, 1 / (b + 1)]
        for b, own in points.items()
        for p in own
    ]  # fmt: skip
    columns = [
        *alike("slot budget b", "T", "budget B"),
        *alike("regret", "standard error", "bound", "random arms", digits=1),
        *alike("slope", "1/(b+1)", digits=2),
    ]
    return Table("hybrid", "Theorem 6, point by point", columns, rows)
