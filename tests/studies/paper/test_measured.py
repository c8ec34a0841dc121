"""The paper's findings on our own measurements: beside the printed numbers, judged by them."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

from pickbest.environments import Table as Costs
from pickbest.report.document import Table, Text, Verdict
from studies.paper.estimates import Estimate
from studies.paper.experiment import Setting
from studies.paper.parts.measured_tables import CLAIMS, measured, unlearned_reward
from studies.paper.parts.recorded_tables import recorded
from studies.paper.printed import BEST, FPML, OG, TABLE_2, hybrid
from studies.paper.recorded_rewards import MEASURED, PUBLISHED, find_rewards, measured_rewards


def blocks_of(found, kind):  # type: ignore[no-untyped-def]
    return [block for block in found.blocks if isinstance(block, kind)]


def test_without_a_file_the_papers_own_rewards_are_played() -> None:
    rewards = find_rewards()
    assert rewards.papers
    assert not rewards.ours
    says = PUBLISHED.with_suffix(".md").read_text(encoding="utf-8")
    assert f"SHA-256: {rewards.digest}" in says, "not a digit was changed"
    assert "Licence: MIT (d-falck/blackboxbandits)" in says


def test_tables_1_and_2_show_printed_numbers_without_judging_ours() -> None:
    found = recorded(Setting(0, 3, find_rewards(MEASURED)), budgets=[4], figure=False)
    (verdict,), (table,) = blocks_of(found, Verdict), blocks_of(found, Table)
    assert verdict.holds is None
    assert [row[1] for row in table.rows[:2]] == [0.836, 0.813]
    assert all(row[5] is None for row in table.rows), "no z on other tasks"
    assert not table.marked


def test_our_table_stands_beside_the_printed_numbers() -> None:
    found = measured(Setting(0, 3, find_rewards(MEASURED)), budgets=[1, 2, 6])
    rewards, optimisers = blocks_of(found, Table)
    sources = ["printed", "measured, as run", "measured, ours"]
    assert [column.label for column in rewards.columns] == ["B", "learner", *sources, *sources]
    best = next(row for row in rewards.rows if row[0] == 6)
    costs = measured_rewards().costs_table
    assert best[2] == TABLE_2[6][BEST].mean
    assert float(best[3]) < 1 - costs.min(axis=1).mean() + 1e-12
    fpml = next(row for row in rewards.rows if row[:2] == [6, "FPML-partial"])
    assert float(fpml[6]) == pytest.approx(float(best[3]) - float(fpml[3]))
    assert len(optimisers.rows) == 9
    assert float(optimisers.rows[0][1]) == pytest.approx(1 - costs.mean(axis=0).min())
    verdicts = blocks_of(found, Verdict)
    assert all(verdict.holds is not None for verdict in verdicts)
    starts = [verdict.text.split(";")[0] for verdict in verdicts]
    assert starts[:3] == [f"Pairs: printed {n} of {n}" for n in (7, 4, 4)]
    assert len(starts) == 4


def test_verdicts_follow_the_numbers() -> None:
    """Where one arm is always best, slots that learn it first win."""
    rng = np.random.default_rng(0)
    costs = np.clip(np.linspace(0.2, 0.9, 9) + 0.05 * rng.normal(size=(300, 9)), 0, 1)
    ours = replace(find_rewards(MEASURED), table=Costs(costs))
    found = measured(Setting(0, 20, ours), budgets=[1, 2])
    first, *_, gaps = blocks_of(found, Verdict)
    assert first.holds
    assert "printed 3 of 3; measured, as run 3 of 3" in first.text
    assert gaps.holds
    # Two arms that are good in turn are better than the two that are best alone.
    costs = np.full((300, 9), 0.9)
    costs[:, :2] = 0.4
    costs[::2, 2], costs[1::2, 2] = 0.0, 1.0
    costs[1::2, 3], costs[::2, 3] = 0.0, 1.0
    ours = replace(find_rewards(MEASURED), table=Costs(costs))
    top, *_ = blocks_of(measured(Setting(0, 5, ours), budgets=[1, 2]), Text)
    assert "60.0% on ours (B = 2)" in top.text


@pytest.mark.parametrize(("row", "slots"), [(FPML, [2]), (OG, [1, 1])])
def test_slots_without_learning_by_brute_force(row: str, slots: list[int]) -> None:
    table = measured_rewards()
    fills = [list(combinations(range(9), size)) for size in slots]
    costs = [
        table.costs_table[:, sorted(set().union(*chosen))].min(axis=1).mean()
        for chosen in product(*fills)
    ]
    assert unlearned_reward(table, row, 2) == pytest.approx(1 - np.mean(costs))


def test_a_claim_counts_pairs_by_two_standard_errors() -> None:
    ahead, level, behind = (Estimate(mean, 0.1, 100) for mean in (0.6, 0.5, 0.49))
    strict, lenient = CLAIMS[0], CLAIMS[1]
    rows = {FPML: ahead, hybrid(2, 1): level, OG: behind}
    assert strict.kept({2: rows}) == [True, True]
    assert strict.kept({2: {**rows, FPML: level}}) == [False, False]
    assert lenient.kept({2: {**rows, hybrid(2, 1): behind, OG: level}}) == [True]
    assert lenient.kept({2: {**rows, hybrid(2, 1): behind, OG: ahead}}) == [False]


def test_the_published_rewards_are_replayed_beside_ours(paper_rewards: Path) -> None:
    found = measured(Setting(0, 20, find_rewards(paper_rewards)), budgets=[1, 2])
    rewards, _ = blocks_of(found, Table)
    assert rewards.columns[3].label == "published, as run"
    text = blocks_of(found, Verdict)[0].text
    assert text.startswith("Pairs: printed 3 of 3; published, as run 3 of 3; measured, as run")
    best = rewards.rows[0]
    assert best[2] == pytest.approx(best[3], abs=0.0005)
    assert best[4] != pytest.approx(best[3], abs=0.0005)
