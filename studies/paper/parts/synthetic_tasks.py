"""The synthetic tasks of the appendix, and task 2 with a change of regime."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product

from pickbest.catalog import make_environment
from pickbest.report.document import Cell, Figure, Series, Table, Verdict, alike
from pickbest.simulation.result import Simulation
from studies.paper.estimates import Estimate, z_score
from studies.paper.experiment import Found, Setting, hindsight_reward, plot, reward_of
from studies.paper.parts.recorded_tables import play_rows, tuning_columns
from studies.paper.printed import (
    AS_RUN,
    BEST,
    EXP3,
    FPML,
    GREEDY,
    HINDSIGHT,
    OG,
    OURS,
    TABLE_6,
    TOP,
    TUNINGS,
    hybrid,
    is_hybrid,
)
from studies.report.sections import listed

HYBRID = "OG_hybrid(B, 1)"
KINDS = (FPML, HYBRID, OG)
Estimates = Mapping[tuple[str, str, int], Estimate]
# What the paper says of each environment: (who, compared with whom, whether it should win).
CLAIMS = {
    "task-1": ("Task 1: FPML does not outperform the greedy algorithms", False),
    "task-2": ("Task 2: FPML outperforms the greedy algorithms", True),
}


def task(setting: Setting, *, environment: str, budgets: Sequence[int], rounds: int) -> Found:
    """Performance against the budget: learners as run, and subsets chosen in hindsight."""
    game = make_environment(environment, rounds=rounds)
    estimates: dict[tuple[str, str, int], Estimate] = {}
    against_greedy: dict[tuple[str, int], tuple[float, float]] = {}
    over_random: dict[int, tuple[Estimate, Estimate]] = {}
    for budget in budgets:
        rows = _rows(budget)
        simulation, found = play_rows(setting, game, budget, product(rows, TUNINGS))
        estimates |= {(_kind(row), how, budget): one for (row, how), one in found.items()}
        for row, against in HINDSIGHT.items():
            estimates[row, AS_RUN, budget] = hindsight_reward(simulation, against, budget)
        for tuning in (AS_RUN, OURS):
            against_greedy[tuning, budget] = _lead_over_greedy(simulation, rows, tuning)
        random = setting.play_specs(game, budget, "uniform")
        over_random[budget] = reward_of(random, "uniform"), estimates[FPML, AS_RUN, budget]
    verdict, findings = _best_of(estimates, budgets), []
    if environment in CLAIMS:
        verdict = _verdict(environment, against_greedy, over_random, budgets)
        if not verdict.holds:
            text = f"{verdict.statement}: not what we see. {verdict.text}"
            findings = [f"{text} [Details](#{environment})"]
    return Found(
        [
            verdict,
            _figure(environment, estimates, budgets, AS_RUN),
            _figure(environment, estimates, budgets, OURS),
            _table(environment, estimates, budgets),
        ],
        findings,
    )


def _rows(budget: int) -> list[str]:
    return [FPML, EXP3] if budget == 1 else [FPML, hybrid(budget, 1), OG]


def _kind(row: str) -> str:
    """What a row counts as where budgets are compared."""
    return HYBRID if is_hybrid(row) else OG if row == EXP3 else row


def _lead_over_greedy(
    simulation: Simulation, rows: Sequence[str], tuning: str
) -> tuple[float, float]:
    """FPML's reward minus that of the better greedy learner, paired: (mean, standard error)."""
    rivals = [f"{row} {tuning}" for row in rows if row != FPML]
    best = min(rivals, key=simulation.mean_cost)
    gap = simulation.difference(best, f"{FPML} {tuning}")
    return gap.mean, gap.standard_error


def _verdict(
    environment: str,
    leads: Mapping[tuple[str, int], tuple[float, float]],
    over_random: Mapping[int, tuple[Estimate, Estimate]],
    budgets: Sequence[int],
) -> Verdict:
    """Where FPML should win, it must also learn: be ahead of arms at random."""
    statement, should_win = CLAIMS[environment]
    several = [budget for budget in budgets if budget > 1]
    texts, holds = [], {}
    for tuning in (AS_RUN, OURS):
        ahead = [b for b in several if leads[tuning, b][0] > 2 * leads[tuning, b][1]]
        behind = [b for b in several if leads[tuning, b][0] < -2 * leads[tuning, b][1]]
        texts.append(
            f"{tuning}, FPML is ahead of the better of OG and OG_hybrid(B, 1) at "
            f"{_budgets(ahead)} and behind it at {_budgets(behind)}"
        )
        holds[tuning] = len(ahead) == len(several) if should_win else not ahead
    text = f"{'; '.join(texts)} (by more than 2 standard errors, paired runs, B ≥ 2)."
    learned = [
        b for b in several
        if (gap := over_random[b][1].mean - over_random[b][0].mean)
        > 2 * math.hypot(over_random[b][0].error, over_random[b][1].error) and gap > 0
    ]  # fmt: skip
    text += f" {AS_RUN}, FPML is ahead of arms at random at {_budgets(learned)}."
    kept = holds[AS_RUN] and (not should_win or len(learned) == len(several))
    return Verdict(statement, text[0].upper() + text[1:], kept)


def _budgets(budgets: Sequence[int]) -> str:
    return f"B = {listed([str(b) for b in budgets])}" if budgets else "none"


def _best_of(estimates: Estimates, budgets: Sequence[int]) -> Verdict:
    texts = []
    for tuning in (AS_RUN, OURS):
        wins = Counter[str]()
        for b in budgets:
            means = {k: estimates[k, tuning, b].mean for k in KINDS if (k, tuning, b) in estimates}
            wins[max(means, key=means.__getitem__)] += 1
        texts.append(f"{tuning}: {', '.join(f'{name} is best at {n}' for name, n in wins.items())}")
    return Verdict("Change of regime", f"Of {len(budgets)} budgets, {'; '.join(texts)}.")


def _figure(environment: str, estimates: Estimates, budgets: Sequence[int], tuning: str) -> Figure:
    series = []
    shown = (
        (BEST, "best in hindsight", "best", "solid"),
        (GREEDY, "greedy in hindsight", "greedy", "dashed"),
        (TOP, "top B in hindsight", "top", "dashed"),
        (FPML, "FPML", "fpml", "solid"),
        (HYBRID, HYBRID, "og-hybrid", "solid"),
        (OG, OG, "og", "solid"),
    )
    for kind, label, look, line in shown:
        how, marker = (AS_RUN, "") if kind in HINDSIGHT else (tuning, "o")
        found = {b: estimates[kind, how, b] for b in budgets if (kind, how, b) in estimates}
        means, spread = zip(*((e.mean, e.std) for e in found.values()), strict=True)
        series.append(Series(label, [*found], means, look, line, marker, spread))
    suffix = "as-run" if tuning == AS_RUN else "ours"
    how = "as in the paper" if tuning == AS_RUN else "with our tunings"
    return plot(
        f"{environment}-{suffix}",
        f"Performance (1 − cost) against the budget, learners {how}; bars are one standard "
        "deviation over runs. At B = 1 OG is Exp3.",
        "budget B",
        "performance (1 − cost)",
        series,
    )


def _table(environment: str, estimates: Estimates, budgets: Sequence[int]) -> Table:
    columns = [*alike("learner", "tuning"), *alike(*(f"B = {b}" for b in budgets), digits=3)]
    rows: list[list[Cell]] = []
    for kind in (BEST, GREEDY, TOP, *KINDS):
        for tuning in [AS_RUN] if kind in HINDSIGHT else TUNINGS:
            found = [estimates.get((kind, tuning, budget)) for budget in budgets]
            shown = "" if kind in HINDSIGHT else tuning
            rows.append([kind, shown, *(e.mean if e else None for e in found)])
    return Table(f"{environment}-performance", "Mean performance", columns, rows)


def task_3(setting: Setting, *, budget: int, rounds: int) -> Found:
    """Table 6: the environment in which the greedy choice is worse than the top B."""
    rows = _rows(budget)
    game = make_environment("task-3", rounds=rounds)
    simulation, means = play_rows(setting, game, budget, product(rows, TUNINGS))
    table_rows: list[list[Cell]] = []
    z_scores = {}
    for row, against in HINDSIGHT.items():
        fixed = hindsight_reward(simulation, against, budget)
        printed = TABLE_6.get(row)
        head: list[Cell] = [row, printed.mean if printed else None, None]
        table_rows.append([*head, fixed.mean, *([None] * 6)])
    for row in rows:
        cells: list[Cell] = [row, TABLE_6[row].mean, TABLE_6[row].std]
        for tuning in TUNINGS:
            found = means[row, tuning]
            cells += [found.mean, found.std]
            if tuning == AS_RUN:
                z_scores[row] = z_score(found, TABLE_6[row])
                cells.append(z_scores[row])
        table_rows.append(cells)
    far = [row for row, z in z_scores.items() if abs(z) >= 4]
    texts = [f"{row} z = {z:+.1f}" for row, z in z_scores.items()]
    text = f"{len(rows) - len(far)} of {len(rows)} printed means are met within |z| < 4"
    verdict = Verdict("Table 6: printed means, as run", f"{text} ({', '.join(texts)}).", not far)
    note = "z is the distance from the printed mean in standard errors of both (50 runs printed)."
    return Found([verdict, Table("task-3", f"B = {budget}", tuning_columns(), table_rows, note)])
