"""Theorem 6 for jobs: OG_hybrid on coverage and other families, against OPT(B')."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pickbest.report.document import Cell, Figure, Series, Table, Text, Verdict, alike
from studies.jobs import N_ARMS, theorem6_experiment, unlearned
from studies.paper.experiment import Found, Setting, plot
from studies.report.sections import listed

# What the arms that are not hidden do, of what they do by default: little, so that a learner that
# has not found the hidden ones exceeds the bound.
OTHERS = 0.1
SLOT_BUDGET = 3
# Of the families' lines, which lie close together.
LOOKS = (("og-hybrid", "solid"), ("fpml", "dashed"), ("og", "dotted"), ("ucb", "solid"))


def hybrid_jobs(setting: Setting, *, target_budget: int, rounds: Sequence[int]) -> Found:
    """Regret against OPT(B') on four families of jobs, by slot budget.

    The verdict fails where a bound is exceeded, and where a family has no setting in which it could
    be: a bound below T that the same slots exceed without learning.
    """
    measure = partial(
        theorem6_experiment, setting.seed, target_budget=target_budget, horizons=rounds,
        slot_budget=SLOT_BUDGET, others=OTHERS,
    )  # fmt: skip
    measured = measure(replicates=setting.replicates, tamper=setting.sabotage.learner)
    control = measure(replicates=1, tamper=unlearned, only_hybrid=True)
    rows = measured["rows"]
    ours = [row for row in rows if row["learner"] == "OG_hybrid"]
    for row, idle in zip(ours, control["rows"], strict=True):
        row["control"] = idle["regret"]
    telling = [row for row in ours if row["bound"] < min(row["rounds"], row["control"])]
    families = {row["family"] for row in ours}
    told = {row["family"] for row in telling}
    share = max(row["regret"] / row["bound"] for row in ours)
    text = (
        f"Regret against OPT({target_budget}) is at most {share:.1%} of the bound in {len(ours)} "
        f"settings; in {len(telling)} of them the bound is below T and random arms in the same "
        f"slots exceed it, in {len(told)} of {len(families)} families at least once."
        if measured["all_under_bound"]
        else f"A bound is exceeded: OG_hybrid's regret is up to {share:.0%} of its bound."
    )
    help_text = (
        f"N = {N_ARMS} arms, of which {target_budget} hidden ones do the whole job "
        "together; jobs are fixed in advance. OG with as many slots as OPT has arms is promised "
        "only (1 − 1/e) OPT(B'); its last row in each group says what that leaves open against "
        "OPT(B') itself."
    )
    return Found(
        [
            Verdict(
                "Theorem 6 for monotone submodular jobs, under Assumption 1",
                text,
                measured["all_under_bound"] and told == families,
            ),
            Text(help_text),
            _figure(ours, target_budget),
            _table(rows),
        ]
    )


def _figure(rows: Sequence[Mapping[str, Any]], target_budget: int) -> Figure:
    """Regret against the slot budget at the last T, where it is above 0."""
    last = max(row["rounds"] for row in rows)
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: row["slot_budget"]):
        if row["rounds"] == last:
            found.setdefault(row["family"], []).append(row)
    first = next(iter(found.values()))
    slots, idle = [row["slot_budget"] for row in first], [row["control"] for row in first]
    series = [
        Series("Theorem 6", slots, [row["bound"] for row in first], "best", "dotted", ""),
        Series("random arms, coverage", slots, idle, "uniform", "dashed"),
    ]
    positive = [name for name, own in found.items() if min(row["regret"] for row in own) > 0]
    for (look, line), name in zip(LOOKS, positive, strict=False):
        series.append(Series(name, slots, [row["regret"] for row in found[name]], look, line))
    below = [name for name in found if name not in positive]
    omitted = f" On {listed(below)} regret is below 0." if below else ""
    return plot(
        "hybrid-jobs",
        f"Regret of OG_hybrid against OPT({target_budget}) by the arms in a slot, T = {last:,}, "
        f"and of random arms in the same slots.{omitted}",
        "arms in a slot b",
        f"regret against OPT({target_budget})",
        series,
        "y",
    )


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    columns = [
        *alike("family", "T", "learner", "slot budget b", "budget B", "against"),
        *alike("regret", "bound", "random arms", digits=1),
    ]
    keys = ("family", "rounds", "learner", "slot_budget", "budget", "against", "regret", "bound")
    cells: list[list[Cell]] = [[*(row[key] for key in keys), row.get("control")] for row in rows]
    return Table("hybrid-jobs", "Every setting", columns, cells)
