"""Boosting on a part of the data: margins of the mixtures, and fewer rounds with more draws."""

from __future__ import annotations

import numpy as np
import pytest

from studies.linear_programs.boosting import (
    adaboost,
    adaboost_margins,
    breast_cancer,
    by_draws,
    stump_margins,
)
from studies.linear_programs.exact import exact_value


@pytest.mark.slow
def test_draws_beside_adaboost() -> None:
    pytest.importorskip("sklearn")
    features, labels = breast_cancer()
    margins = stump_margins(features[:120, :8], labels[:120])
    best = exact_value(margins)
    assert best > 0.02
    ada = adaboost(margins, best - 0.02)
    one, two = (by_draws(margins, best, 0.02, budget) for budget in (1, 2))
    for row in (ada, one, two):
        assert row.to_no_error is not None
        assert row.to_margin is not None
        assert row.to_no_error <= row.to_margin
    assert two.to_margin is not None
    assert one.to_margin is not None
    assert two.to_margin < one.to_margin


def test_adaboost_normalises_its_vote() -> None:
    """Three stumps, each wrong on one example: every margin tends to 1/3."""
    margins = 1.0 - 2.0 * np.eye(3)
    votes = adaboost_margins(margins)
    last = [next(votes)[0] for _ in range(300)][-1]
    np.testing.assert_allclose(last, 1 / 3, atol=0.02)
