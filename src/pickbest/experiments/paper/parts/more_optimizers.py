"""The paper's experiment with six later optimisers beside its nine, on our tasks."""

from collections.abc import Sequence

from pickbest.experiments.paper import lineup
from pickbest.experiments.paper.experiment import Found, Setting
from pickbest.experiments.paper.lineup import AS_RUN, BEST, FPML, TOP, UNIFORM
from pickbest.experiments.paper.parts.measured_tables import (
    CLAIMS,
    HERE,
    Claim,
    means_of,
    optimisers_table,
)
from pickbest.experiments.paper.parts.recorded_tables import play_budget
from pickbest.experiments.paper.recorded_rewards import Rewards, measured_rewards
from pickbest.hindsight import best_subset
from pickbest.report.document import Block, Cell, Table, Text, Verdict, alike, listed


def more_optimizers(setting: Setting, *, budgets: Sequence[int]) -> Found:
    """Which of the paper's sentences hold with fifteen arms, and whom the best sets hold."""
    table = measured_rewards(more=True)
    rewards = Rewards(table, "measured by pickbest", "", papers=False, ours=False)
    means = means_of([play_budget(setting, rewards, b, [AS_RUN]) for b in budgets], AS_RUN)
    kept = {claim.statement: claim.kept(means) for claim in CLAIMS}
    learned = all(Claim.ahead(rows[FPML], rows[UNIFORM]) for rows in means.values())
    counts = "; ".join(f"{said}: {sum(ok)} of {len(ok)}" for said, ok in kept.items())
    verdict = Verdict(
        f"{HERE}with six later optimisers beside the paper's nine, its order of learners stays",
        f"Pairs that differ by more than two standard errors: {counts}. FPML-partial is "
        f"{'ahead of' if learned else 'not always ahead of'} random arms.",
        learned and all(all(ok) for ok in kept.values()),
    )
    newcomers = table.arm_names[measured_rewards().n_arms :]
    sets = {b: best_subset(table.costs_table, b).arms for b in budgets}
    text = (
        f"{table.rounds} tasks, {table.n_arms} optimisers: {listed(list(newcomers))} were measured "
        "later, on the same tasks, with the same calls and the same pool of random evaluations. "
        "Rewards are relative to the best loss of all, so the nine have other ones than above. "
        "Best sets: "
        + "; ".join(
            f"B = {b}: {listed([table.arm_names[a] for a in arms])}" for b, arms in sets.items()
        )
        + "."
    )
    shown: list[list[Cell]] = [
        [budget, row, rows[row].mean, rows[BEST].mean - rows[row].mean]
        for budget, rows in means.items()
        for row in (BEST, TOP, *lineup.learner_rows(budget), UNIFORM)
    ]
    columns = [*alike("B", "learner"), *alike("mean reward", "below best", digits=3)]
    caption = "Tables 1 and 2 with fifteen optimisers, learners as run"
    blocks: list[Block] = [verdict, Text(text), Table("more-optimizers", caption, columns, shown)]
    return Found([*blocks, optimisers_table(table, "more-optimisers")])
