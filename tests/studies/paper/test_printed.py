"""The paper's printed numbers against our runs on its own rewards (skipped without them)."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from pickbest.report.document import Table, Verdict
from studies.paper.estimates import Estimate, slope, z_score
from studies.paper.experiment import Setting
from studies.paper.parts.recorded_tables import recorded
from studies.paper.parts.synthetic_tasks import task_3
from studies.paper.printed import BEST, FPML, OG, TABLE_2, TABLE_6, TOP, hybrid
from studies.paper.recorded_rewards import find_rewards


def test_every_printed_mean_is_met(paper_rewards: Path) -> None:
    rewards = find_rewards(paper_rewards)
    assert rewards.papers
    found = recorded(Setting(0, 100, rewards), budgets=[1, 2, 3, 4, 5, 6], figure=True)
    tables = [block for block in found.blocks if isinstance(block, Table)]
    z_scores = [row[5] for table in tables for row in table.rows if row[5] is not None]
    assert len(z_scores) == sum(len(rows) for rows in TABLE_2.values()) == 26
    assert max(abs(float(z)) for z in z_scores) < 4
    (verdict,) = [block for block in found.blocks if isinstance(block, Verdict)]
    assert verdict.holds
    assert "26 of 26" in verdict.text
    # Random distinct arms beat the printed OG from B = 2 on.
    for table, budget in zip(tables, range(1, 7), strict=True):
        random = next(row for row in table.rows if row[0] == "B distinct arms at random")
        assert budget == 1 or float(random[8]) > TABLE_2[budget][OG].mean


def test_a_far_cell_is_named_with_its_distance(
    paper_rewards: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = {**TABLE_2[2], OG: Estimate(0.6, 0.0179, 100)}
    monkeypatch.setitem(TABLE_2, 2, wrong)
    rewards = find_rewards(paper_rewards)
    found = recorded(Setting(0, 100, rewards), budgets=[2], figure=False)
    verdict, table = found.blocks[0], found.blocks[-1]
    assert isinstance(verdict, Verdict)
    assert verdict.holds is False
    assert "3 of 4" in verdict.text
    assert "OG at B = 2" in verdict.text
    assert "off by -0.0" in verdict.text
    assert isinstance(table, Table)
    assert table.marked == [(3, 5)]


def test_table_6() -> None:
    found = task_3(Setting(0, 50, find_rewards()), budget=3, rounds=300)
    verdict = found.blocks[0]
    assert isinstance(verdict, Verdict)
    assert verdict.holds, verdict.text
    assert set(TABLE_6) == {BEST, TOP, FPML, hybrid(3, 1), OG}


def test_z_score_leaves_rounding_out() -> None:
    printed = Estimate(0.5, 0.01, 100)
    assert z_score(Estimate(0.5004, 0.01, 100), printed) == 0
    high, low = (z_score(Estimate(0.5 + d, 0.01, 100), printed) for d in (0.0033284, -0.0033284))
    assert high == -low == pytest.approx(2.0, abs=1e-3)
    assert z_score(Estimate(0.6, 0.0, 1), Estimate(0.5, 0.0, 1)) == math.inf


def test_slope_needs_positive_numbers() -> None:
    assert slope([1, 2, 4], [3, 6, 12]) == pytest.approx(1.0)
    assert slope([1, 2], [0, 1]) is None


def test_other_rewards_are_not_compared(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("a,b,c\n" + "0.1,0.5,0.9\n0.8,0.2,0.4\n" * 10)
    rewards = find_rewards(path)
    assert not rewards.papers
    found = recorded(Setting(0, 3, rewards), budgets=[1, 2, 5], figure=True)
    verdict = found.blocks[0]
    assert isinstance(verdict, Verdict)
    assert verdict.holds is None
    assert "not the paper's own" in verdict.text
    tables = [block for block in found.blocks if isinstance(block, Table)]
    assert [table.name for table in tables] == ["table-2-b1", "table-2-b2"]
