"""What section 4 says about the learners, checked on rewards that we measured ourselves.

The tasks are other ones than the paper's, so orders and gaps are compared, not numbers.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pickbest.environments import Table as Recorded
from pickbest.hindsight import best_subset
from pickbest.report.document import (
    Block,
    Cell,
    Column,
    Figure,
    Series,
    Table,
    Text,
    Verdict,
    alike,
)
from studies.paper.estimates import Estimate
from studies.paper.experiment import Found, Setting, plot
from studies.paper.parts.recorded_tables import BudgetResult, play_budget
from studies.paper.printed import (
    AS_RUN,
    BEST,
    EXP3,
    FPML,
    HINDSIGHT,
    OG,
    OURS,
    SLOT_BUDGETS,
    TABLE_2,
    TOP,
    UNIFORM,
    UNTUNED,
    is_hybrid,
    learner_rows,
)
from studies.paper.recorded_rewards import (
    MEASURED,
    Rewards,
    find_rewards,
    measured_rewards,
    measured_tasks,
)
from studies.report.sections import listed

NEAR = 0.95
HERE = "On our tasks, "
PRINTED, REPLAYED = "printed", "published, as run"
ON_OURS = {AS_RUN: "measured, as run", OURS: "measured, ours"}

Means = Mapping[int, Mapping[str, Estimate]]
"""budget → label → mean reward."""
Sources = Mapping[str, Means]
Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper about pairs of rows at a budget.

    pairs: the first row of each should be ahead of the second, or not behind it, by more than
        two standard errors. An order of learners says nothing where nobody learns, so the first
        should also be ahead of the same slots filled at random.
    """

    statement: str
    pairs: Callable[[int], Pairs]
    strict: bool = True

    def kept(self, means: Means) -> list[bool]:
        """Whether each pair of each budget is as the paper says."""
        return [
            self._holds(rows[first], rows[second])
            for budget, rows in means.items()
            for first, second in self.pairs(budget)
        ]

    def learned(self, means: Means, table: Recorded) -> list[bool]:
        """Whether the first of each pair of each budget is ahead of itself without learning."""
        return [
            self.ahead(rows[first], Estimate(unlearned_reward(table, first, budget), 0.0, 1))
            for budget, rows in means.items()
            for first, _ in self.pairs(budget)
        ]

    def _holds(self, first: Estimate, second: Estimate) -> bool:
        return self.ahead(first, second) if self.strict else not self.ahead(second, first)

    @staticmethod
    def ahead(first: Estimate, second: Estimate) -> bool:
        """By more than two standard errors."""
        return first.mean - second.mean > 2 * math.hypot(first.error, second.error)


def unlearned_reward(table: Recorded, row: str, budget: int) -> float:
    """The expected reward of a learner's slots, each filled with different arms at random."""
    size = 1 if row in (OG, EXP3) else budget if row == FPML else SLOT_BUDGETS[row]
    costs, n_arms = np.sort(table.costs_table, axis=1), table.n_arms
    # P(none of the k best arms is picked), k = 0 … N.
    missed = [(math.comb(n_arms - k, size) / math.comb(n_arms, size)) ** (budget // size)
              for k in range(n_arms + 1)]  # fmt: skip
    return 1.0 - float((costs @ -np.diff(missed)).mean())


def _against_all(budget: int) -> Pairs:
    first, *others = learner_rows(budget)
    return [(first, other) for other in others]


def _against_og(budget: int) -> Pairs:
    return [(row, OG) for row in learner_rows(budget) if is_hybrid(row)]


def _by_slot_budget(budget: int) -> Pairs:
    return list(pairwise(learner_rows(budget)[:-1]))


CLAIMS = (
    Claim("FPML-partial is ahead of OG and of every OG_hybrid", _against_all),
    Claim("OG_hybrid is at least as good as OG", _against_og, strict=False),
    Claim("more arms in a slot are better at the same budget", _by_slot_budget),
)


def measured(setting: Setting, *, budgets: Sequence[int]) -> Found:
    """The paper's findings: as printed, replayed where its rewards are given, and on ours."""
    ours = setting.rewards if setting.rewards.ours else find_rewards(MEASURED)
    results = [play_budget(setting, ours, budget, tuple(ON_OURS)) for budget in budgets]
    sources: dict[str, Means] = {PRINTED: {budget: TABLE_2[budget] for budget in budgets}}
    if setting.rewards.papers:
        replays = [play_budget(setting, setting.rewards, budget, [AS_RUN]) for budget in budgets]
        sources[REPLAYED] = means_of(replays, AS_RUN)
    sources |= {name: means_of(results, tuning) for tuning, name in ON_OURS.items()}
    verdicts = [*(_verdict(claim, sources, ours.table) for claim in CLAIMS), _gaps(sources)]
    text = (
        f"{ours.table.rounds} tuning tasks (classification sets of PMLB, two models) that pickbest "
        "measured itself, with the paper's nine optimisers; the table is part of the package. "
        "Verdicts are about the learners as the paper ran them; **ours** has exact weights, "
        "distinct slots and the corrected γ. Pairs count by more than two standard errors."
    )
    blocks: list[Block] = [*verdicts, _top(sources), Text(text), _figure(sources)]
    blocks += [_rewards_table(sources), optimisers_table(measured_rewards(), "measured-optimisers")]
    kept = [
        f"{v.statement.removeprefix(HERE)}: {'holds' if v.holds else 'does not hold'}"
        for v in verdicts
    ]
    finding = f"On {ours.table.rounds} tuning tasks that we measured ourselves: {'; '.join(kept)}."
    return Found(blocks, [f"{finding} {_random_arms(sources)} [Details](#measured)"])


def means_of(results: Sequence[BudgetResult], tuning: str) -> Means:
    """Learners in one tuning, and what does not depend on it."""
    untuned = (*HINDSIGHT, *UNTUNED)
    return {
        result.budget: {
            row: estimate
            for (row, how), estimate in result.estimates.items()
            if how == tuning or row in untuned
        }
        for result in results
    }


def _verdict(claim: Claim, sources: Sources, table: Recorded) -> Verdict:
    counts = {name: claim.kept(means) for name, means in sources.items()}
    learned = claim.learned(sources[ON_OURS[AS_RUN]], table)
    texts = [f"{name} {sum(kept)} of {len(kept)}" for name, kept in counts.items()]
    text = (
        f"Pairs: {'; '.join(texts)}. On ours the learner that should be ahead has also learned, "
        f"compared with the same slots filled at random, in {sum(learned)} of {len(learned)}."
    )
    kept = all(counts[ON_OURS[AS_RUN]]) and all(learned)
    return Verdict(f"{HERE}{claim.statement}", text, kept)


def _top(sources: Sources) -> Text:
    """What share of the best B's reward the B best single arms have."""
    texts, least = [], {}
    for name in (REPLAYED, ON_OURS[AS_RUN]):
        if name in sources:
            shares = {b: rows[TOP].mean / rows[BEST].mean for b, rows in sources[name].items()}
            where = min(shares, key=lambda budget: shares[budget])
            least[name] = shares[where]
            place = "on the published rewards" if name == REPLAYED else "on ours"
            texts.append(f"{shares[where]:.1%} {place} (B = {where})")
    near = least[ON_OURS[AS_RUN]] >= NEAR
    return Text(
        f"A property of the tables, not of a learner: the B best single arms are "
        f"{'nearly' if near else 'not nearly'} the best B. They have at least "
        f"{', '.join(texts)} of its reward; we call {NEAR:.0%} near."
    )


def _gaps(sources: Sources) -> Verdict:
    gaps = {name: [_gap(rows, FPML) for rows in means.values()] for name, means in sources.items()}
    ours = sources[ON_OURS[AS_RUN]].values()
    random = [_gap(rows, UNIFORM) for rows in ours]
    learned = all(Claim.ahead(rows[FPML], rows[UNIFORM]) for rows in ours)
    shrinks = all(later < earlier for earlier, later in pairwise(gaps[ON_OURS[AS_RUN]]))
    texts = [
        f"{name} {', '.join(f'{gap:.3f}' for gap in own)}"
        for name, own in {**gaps, "arms at random": random}.items()
    ]
    budgets = listed([str(budget) for budget in sources[PRINTED]])
    return Verdict(
        f"{HERE}FPML-partial comes closer to the best in hindsight with every arm more, and is "
        "closer than random arms",
        f"Gap for B = {budgets}: {'; '.join(texts)}.",
        shrinks and learned,
    )


def _gap(rows: Mapping[str, Estimate], row: str) -> float:
    return rows[BEST].mean - rows[row].mean


def _random_arms(sources: Sources) -> str:
    means = sources[ON_OURS[AS_RUN]]
    several = {b: rows for b, rows in means.items() if b > 1}
    beaten = [b for b, rows in several.items() if rows[UNIFORM].mean > rows[OG].mean]
    last = max(several)
    return (
        f"B distinct arms at random beat OG as run at {len(beaten)} of {len(several)} budgets "
        f"above 1 (B = {last}: {several[last][UNIFORM].mean:.3f} against "
        f"{several[last][OG].mean:.3f})."
    )


def _figure(sources: Sources) -> Figure:
    ours = sources[ON_OURS[AS_RUN]]
    idle = [_gap(rows, UNIFORM) for rows in ours.values()]
    series = [Series("random arms", [*ours], idle, "uniform", "dotted", "")]
    for label, learner, look in (("FPML", FPML, "fpml"), ("OG", OG, "og")):
        for name, line, marker, suffix in (
            (PRINTED, "none", "s", ""),
            (ON_OURS[AS_RUN], "solid", "o", ", as run"),
            (ON_OURS[OURS], "dashed", "", ", ours"),
        ):
            means = sources[name]
            y = [_gap(rows, learner if learner in rows else EXP3) for rows in means.values()]
            text = f"{label}{suffix}" if suffix else ""
            series.append(Series(text, [*means], y, look, line, marker))
    return plot(
        "measured-gaps",
        "How far learners stay below the best subset in hindsight, on a logarithmic axis. Lines: "
        "our measurements; hollow squares: the printed numbers of the same learner, on the paper's "
        "tasks. At B = 1 OG is Exp3.",
        "budget B",
        "mean reward below the best in hindsight",
        series,
        "y",
    )


def _rewards_table(sources: Sources) -> Table:
    columns = alike("B", "learner")
    for group in ("mean reward", "below the best in hindsight"):
        columns += alike(*sources, digits=3, group=group)
    rows: list[list[Cell]] = []
    for budget in sources[PRINTED]:
        for row in (BEST, TOP, *learner_rows(budget), UNIFORM):
            at_budget = [means[budget] for means in sources.values()]
            shown = [rows_of[row].mean if row in rows_of else None for rows_of in at_budget]
            gaps = [_gap(rows_of, row) if row in rows_of else None for rows_of in at_budget]
            rows.append([budget, row, *shown, *gaps])
    return Table("measured", "Tables 1 and 2 on our measurements", columns, rows)


def optimisers_table(table: Recorded, name: str) -> Table:
    """Mean rewards of the arms themselves, best first."""
    rewards = 1.0 - table.costs_table
    models = [task.split("-")[0] for task in measured_tasks()]
    kinds = list(dict.fromkeys(models))
    columns = [Column("optimiser"), Column("all tasks", 3)]
    columns += [Column(f"{models.count(kind)} of {kind}", 3) for kind in kinds]
    parts = [rewards, *(rewards[[model == kind for model in models]] for kind in kinds)]
    rows: list[list[Cell]] = [
        [name, *(float(part[:, arm].mean()) for part in parts)]
        for arm, name in enumerate(table.arm_names)
    ]
    rows.sort(key=lambda row: -float(row[1]))  # type: ignore[arg-type]
    return Table(name, "Mean reward of each optimiser", columns, rows)


def more_optimizers(setting: Setting, *, budgets: Sequence[int]) -> Found:
    """Which of the paper's sentences hold with fifteen arms, and whom the best sets hold."""
    table = measured_rewards(more=True)
    rewards = Rewards(table, "measured by pickbest", "", papers=False, ours=False)
    means = means_of([play_budget(setting, rewards, b, [AS_RUN]) for b in budgets], AS_RUN)
    kept = {claim.statement: claim.kept(means) for claim in CLAIMS}
    learned = all(Claim.ahead(rows[FPML], rows[UNIFORM]) for rows in means.values())
    counts = "; ".join(f"{said}: {sum(ok)} of {len(ok)}" for said, ok in kept.items())
    verdict = Verdict(
        f"{HERE}with six later optimisers next to the paper's nine, its order of learners stays",
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
        for row in (BEST, TOP, *learner_rows(budget), UNIFORM)
    ]
    columns = [*alike("B", "learner"), *alike("mean reward", "below best", digits=3)]
    caption = "Tables 1 and 2 with fifteen optimisers, learners as run"
    blocks: list[Block] = [verdict, Text(text), Table("more-optimizers", caption, columns, shown)]
    return Found([*blocks, optimisers_table(table, "more-optimisers")])
