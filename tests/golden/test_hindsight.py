"""The best arms in hindsight are those of 0.1.0, at the same cost."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from pickbest import hindsight
from tests.golden.golden_assets import FOLDER, digest, make_table, read_json
from tests.golden.replay import assert_same_data, plain

ROWS = read_json(FOLDER / "hindsight.json")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(map(str, row["table"].values())))
def test_hindsight_is_what_it_was(row):
    table = make_table(**row["table"])[0]
    assert digest(table) == row["table_digest"]
    found = {"best_arm": asdict(hindsight.best_arm(table))}
    for budget in (1, 2, 3, 4):
        found[str(budget)] = {
            "best_subset": asdict(hindsight.best_subset(table, budget)),
            "greedy_subset": asdict(hindsight.greedy_subset(table, budget)),
            "top_arms": asdict(hindsight.top_arms(table, budget)),
            "first_arms_cost": hindsight.subset_cost(table, range(budget)),
        }
    expected = {name: value for name, value in row.items() if not name.startswith("table")}
    assert_same_data(plain(found), expected, row["table"])
