"""The experiment of section 5 as data: its keys, and what it must show."""

from __future__ import annotations

import json

import pytest

from studies.linear_programs.experiment import (
    BUDGETS,
    CALLS_ALLOWED,
    INFEASIBLE,
    POOLED,
    lp_experiment,
)
from studies.linear_programs.generated_problems import FAMILIES
from studies.linear_programs.two_draws import two_draws


def test_experiment() -> None:
    found = lp_experiment(seed=0, replicates=1)
    assert json.loads(json.dumps(found)) == found
    assert len(found["calls"]) == len(FAMILIES) * len(BUDGETS) * len(CALLS_ALLOWED)
    for row in found["calls"]:
        assert row["calls"] <= row["calls_bound"]
        assert row["status"] == "feasible" or row["family"] == INFEASIBLE
    pooled = [row for row in found["slopes"] if row["family"] == POOLED]
    assert [row["budget"] for row in pooled] == list(BUDGETS)
    for row in pooled:
        assert row["slope"] == pytest.approx(row["theory"], abs=0.5)
        assert row["low"] <= row["slope"] <= row["high"]
    assert found["verdicts"]["wrong"] == 0
    assert found["verdicts"]["undecided"] == 0
    for row in found["applications"]:
        assert row["calls"] <= row["calls_bound"]
        assert (row["status"] == "infeasible") <= (not row["exactly_feasible"])


def test_two_draws() -> None:
    """A tenth of the calls of Proposition 8's tuning, verified, growing like 1/ε."""
    measured = two_draws(seed=0, replicates=1)
    rows = measured["calls"]
    assert len(rows) == len(FAMILIES)
    for row in rows:
        assert row["epsilon"] == 0.01
        product, proof = row["product"], row["proposition_8"]
        assert product["verified"]
        assert product["calls"] <= product["calls_bound"] <= proof["calls_bound"] / 10
        if row["family"] != INFEASIBLE:
            assert product["calls"] <= proof["calls"] / 10
    assert len(measured["slopes"]) >= 3
    for row in measured["slopes"]:
        assert row["slope"] <= 1.1
