"""Tables 1 and 2: learners choose black-box optimisers, on recorded rewards."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from pickbest.core import Environment
from pickbest.report.document import Block, Cell, Column, Figure, Series, Table, Text, Verdict
from pickbest.simulation.result import Simulation
from studies.paper.estimates import Estimate, z_score
from studies.paper.experiment import Found, Setting, hindsight_reward, plot, reward_of
from studies.paper.printed import (
    AS_RUN,
    BEST,
    EXP3,
    FPML,
    GREEDY,
    HINDSIGHT,
    OG,
    OURS,
    TABLE_2,
    THOMPSON,
    TOP,
    TUNINGS,
    UNIFORM,
    UNTUNED,
    hybrid,
    learner_rows,
    make_row,
)
from studies.paper.recorded_rewards import Rewards
from studies.report.sections import listed

FAR = 4.0
EXTRA_ROWS = (UNIFORM, THOMPSON, GREEDY, TOP)
# OG_hybrid with one arm in each slot, whose label has the budget in it.
SINGLE_SLOTS = "OG_hybrid(B, 1)"


@dataclass(frozen=True)
class BudgetResult:
    """All rows at one budget: estimates by (row, tuning); untuned rows count as ours.

    papers: whether the rewards are those of the printed numbers, so that they should be met.
    """

    budget: int
    estimates: Mapping[tuple[str, str], Estimate]
    printed: Mapping[str, Estimate]
    papers: bool

    def rows(self) -> list[str]:
        return [BEST, *learner_rows(self.budget), *EXTRA_ROWS]

    def z(self, row: str) -> float | None:
        """Of the tuning as run against the printed mean."""
        ours = self.estimates.get((row, AS_RUN))
        if not self.papers or row not in self.printed or ours is None:
            return None
        return z_score(ours, self.printed[row])


def recorded(setting: Setting, *, budgets: Sequence[int], figure: bool) -> Found:
    """Every learner at every budget, next to the printed numbers."""
    rewards = setting.rewards
    usable = [budget for budget in budgets if budget < rewards.table.n_arms]
    results = [play_budget(setting, rewards, budget) for budget in usable]
    name = "table-2" if figure else "table-1"
    blocks: list[Block] = [_verdict(results, name)]
    if figure:
        blocks.append(_figure(results))
    blocks.append(Text(_reading_help(rewards)))
    blocks += [_table(result, name) for result in results]
    return Found(blocks, _findings(results) if figure else [])


def play_rows(
    setting: Setting, game: Environment, budget: int, rows: Iterable[tuple[str, str]]
) -> tuple[Simulation, dict[tuple[str, str], Estimate]]:
    """Learners by label and tuning, which are named "label tuning", and their mean rewards."""
    size = (game.n_arms, budget, game.rounds)
    learners = {f"{row} {how}": (row, how) for row, how in rows}
    made = {name: make_row(*key, *size) for name, key in learners.items()}
    simulation = setting.play(made, game)
    return simulation, {key: reward_of(simulation, name) for name, key in learners.items()}


def play_budget(
    setting: Setting, rewards: Rewards, budget: int, tunings: Sequence[str] = tuple(TUNINGS)
) -> BudgetResult:
    """Every learner in every one of the tunings on the rewards."""
    rows = [*product(learner_rows(budget), tunings), *product(UNTUNED, [OURS])]
    simulation, estimates = play_rows(setting, rewards.table, budget, rows)
    for row, against in HINDSIGHT.items():
        fixed = hindsight_reward(simulation, against, budget)
        estimates[row, AS_RUN if row == BEST else OURS] = fixed
    printed = TABLE_2.get(budget, {}) if rewards.papers or rewards.ours else {}
    return BudgetResult(budget, estimates, printed, rewards.papers)


def _reading_help(rewards: Rewards) -> str:
    help_text = (
        "**as run**: the tunings that give the printed tables (resampled weights, slots that "
        "may repeat an arm). **as written**: the tunings of the text. **ours**: exact weights, "
        "distinct slots, corrected γ. z is the distance of our mean, as run, from the printed "
        "one in standard errors of both, beyond the rounding of the printed number (±.0005)."
    )
    if rewards.ours:
        help_text += (
            f" The {rewards.table.rounds} rounds here are tuning tasks that pickbest measured "
            "itself, other ones than the paper's 368: orders and gaps can be compared with the "
            "printed numbers (`python -m studies reproduce measured`), the numbers cannot."
        )
    elif not rewards.papers:
        help_text += (
            f" The rewards in {rewards.source} are not the paper's own, so there is nothing "
            "printed to compare them with."
        )
    return help_text


def tuning_columns() -> list[Column]:
    """Of a table of learners: mean and deviation as printed and in each tuning; z as run."""
    columns = [Column("learner")]
    for group in ("printed", *TUNINGS):
        columns += [Column("mean", 3, group=group), Column("std", 4, group=group)]
        if group == AS_RUN:
            columns.append(Column("z", 1, signed=True, group=group))
    return columns


def _table(result: BudgetResult, name: str) -> Table:
    columns = tuning_columns()
    rows: list[list[Cell]] = []
    marked = []
    for row in result.rows():
        printed = result.printed.get(row)
        z = result.z(row)
        cells: list[Cell] = [row]
        cells += [printed.mean, printed.std or None] if printed else [None, None]
        for tuning in TUNINGS:
            estimate = result.estimates.get((row, tuning))
            cells += [estimate.mean, estimate.std or None] if estimate else [None, None]
            if tuning == AS_RUN:
                cells.append(None if z is None or math.isinf(z) else z)
        if z is not None and abs(z) >= FAR:
            marked.append((len(rows), 5))
        rows.append(cells)
    title = f"Budget B = {result.budget}"
    return Table(f"{name}-b{result.budget}", title, columns, rows, "", marked)


def _verdict(results: Sequence[BudgetResult], name: str) -> Verdict:
    statement = f"{name.replace('-', ' ').capitalize()}: printed means, as run"
    compared = [(r, row, z) for r in results for row in r.rows() if (z := r.z(row)) is not None]
    if not compared:
        return Verdict(statement, "The rewards are not the paper's own: nothing to compare.")
    largest = max(compared, key=lambda cell: abs(cell[2]))
    far = [cell for cell in compared if abs(cell[2]) >= FAR]
    # A learner that is a little off everywhere shows in the sum: z of all cells together.
    played = [z for _, row, z in compared if row != BEST]
    together = sum(played) / math.sqrt(len(played))
    text = f"{len(compared) - len(far)} of {len(compared)} printed means are met within |z| < 4"
    if far:
        text += f"; not met: {listed([_cell_text(*cell) for cell in far])}."
    else:
        text += f"; the farthest is {_cell_text(*largest)}."
    text += f" Together the learners are {together:+.1f} standard errors off."
    return Verdict(statement, text, not far and abs(together) < FAR)


def _cell_text(result: BudgetResult, row: str, z: float) -> str:
    ours, printed = result.estimates[row, AS_RUN].mean, result.printed[row].mean
    return (
        f"{row} at B = {result.budget} "
        f"({ours:.4f} against {printed:.3f}, off by {ours - printed:+.4f}, z = {z:+.1f})"
    )


def _figure(results: Sequence[BudgetResult]) -> Figure:
    papers = all(result.papers for result in results)

    def line(label: str, row: str, tuning: str, look: str, style: str = "solid") -> Series:
        shown = [(r, _row_at(row, r.budget)) for r in results if _has(row, r.budget)]
        y = [r.estimates[own, tuning].mean for r, own in shown]
        return Series(label, [r.budget for r, _ in shown], y, look, style, "o")

    series = [
        line("best in hindsight", BEST, AS_RUN, "best"),
        line("FPML-partial, as run", FPML, AS_RUN, "fpml"),
        line(f"{SINGLE_SLOTS}, as run", SINGLE_SLOTS, AS_RUN, "og-hybrid"),
        line("OG, as run", OG, AS_RUN, "og"),
        line("OG, ours", OG, OURS, "og", "dashed"),
        line("random distinct arms", UNIFORM, OURS, "uniform", "dotted"),
    ]
    for row, look in ((FPML, "fpml"), (SINGLE_SLOTS, "og-hybrid"), (OG, "og")):
        shown = [r for r in results if papers and _has(row, r.budget)]
        y = [r.printed[_row_at(row, r.budget)].mean for r in shown]
        series.append(Series("", [r.budget for r in shown], y, look, "none", "s"))
    how = " Lines: our runs; hollow squares: the printed means." if papers else ""
    return plot(
        "rewards-by-budget",
        f"Mean reward against the budget.{how}",
        "budget B",
        "mean reward of a round",
        series,
    )


def _has(row: str, budget: int) -> bool:
    return row != SINGLE_SLOTS or budget > 1


def _row_at(row: str, budget: int) -> str:
    if row == SINGLE_SLOTS:
        return hybrid(budget, 1)
    return EXP3 if row == OG and budget == 1 else row


def _findings(results: Sequence[BudgetResult]) -> list[str]:
    """How OG as run compares with arms at random, and what our tunings change."""
    several = [r for r in results if r.budget > 1]
    if not several:
        return []
    pairs = [(r.estimates[UNIFORM, OURS].mean, r.estimates[OG, AS_RUN].mean) for r in several]
    last, (random, og) = several[-1], pairs[-1]
    gains = [
        f"{row} {last.estimates[row, AS_RUN].mean:.3f} → {last.estimates[row, OURS].mean:.3f}"
        for row in learner_rows(last.budget)
    ]
    return [
        "B distinct arms at random, without any learning, beat OG as run at "
        f"{sum(one > other for one, other in pairs)} of {len(several)} budgets above 1 "
        f"(at B = {last.budget}: {random:.3f} against {og:.3f}).",
        f"With exact weights, distinct slots and the corrected γ, at B = {last.budget}: "
        f"{', '.join(gains)}.",
    ]
