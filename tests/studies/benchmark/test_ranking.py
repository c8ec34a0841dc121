"""Paired comparisons and verdicts on made-up results."""

from __future__ import annotations

import math

import numpy as np
import pytest

from studies.benchmark.comparisons import (
    complete_learners,
    contrast,
    contrasts,
    mean_share_intervals,
)
from studies.benchmark.lineup import AUTO, YARDSTICK
from studies.benchmark.report import headline, picture, verdicts

ENVIRONMENTS = [f"w{index}" for index in range(12)]


@pytest.fixture
def cells(make_cell):  # type: ignore[no-untyped-def]
    """good wins everywhere by .2, even and odd take turns at the second place."""
    found = []
    for index, environment in enumerate(ENVIRONMENTS):
        for budget in (1, 2):
            second = index % 2
            found += [
                make_cell(environment, "good", [0.8, 0.8], budget),
                make_cell(environment, "even", [0.6 - 0.1 * second] * 2, budget),
                make_cell(environment, "odd", [0.5 + 0.1 * second] * 2, budget),
            ]
        found.append(make_cell(environment, "one arm", [0.9, 0.9]))
    return found


def test_only_learners_that_play_everywhere_are_compared(cells) -> None:  # type: ignore[no-untyped-def]
    assert complete_learners(cells) == ["good", "even", "odd"]
    assert [row[0] for row in headline(cells).rows] == ["good", "even", "odd"]


def test_share_intervals(cells) -> None:  # type: ignore[no-untyped-def]
    shares = mean_share_intervals(cells)
    assert shares["good"].mean == pytest.approx(0.8)
    assert shares["even"].mean == pytest.approx(0.55)
    assert 0.5 <= shares["even"].low < 0.55 < shares["even"].high <= 0.6
    alone = mean_share_intervals([cell for cell in cells if cell.place.name == "w0"])["good"]
    assert (alone.low, alone.high) == (None, None), "one environment has no interval"


def test_paired_comparison(make_cell) -> None:  # type: ignore[no-untyped-def]
    noise = np.random.default_rng(0).normal(0, 0.2, 50)
    tiny = np.random.default_rng(1).normal(0, 0.001, 50)
    first = make_cell("w", "a", 0.5 + noise)
    second = make_cell("w", "b", 0.51 + noise + tiny)
    found = contrast(first, second)
    # Unpaired, a difference of .01 would drown in a noise of .2.
    assert found.worse
    assert found.difference == pytest.approx(-0.01, abs=1e-3)
    assert contrast(second, first).better
    same = contrast(first, make_cell("w", "c", 0.5 + noise))
    assert same.z == 0.0
    assert contrast(make_cell("w", "a", [0.5, 0.5]), make_cell("w", "b", [0.6, 0.6])).z == -math.inf


def test_comparisons_skip_cells_in_which_one_does_not_play(cells) -> None:  # type: ignore[no-untyped-def]
    assert len(contrasts(cells, "one arm", "good")) == len(ENVIRONMENTS)
    assert all(each.better for each in contrasts(cells, "one arm", "good"))
    assert contrasts(cells, "good", "nobody") == []


@pytest.mark.parametrize(("reward", "kept"), [(0.7, [True, True, True]), (0.4, [False] * 3)])
def test_verdicts_on_auto(make_cell, reward: float, kept: list[bool]) -> None:  # type: ignore[no-untyped-def]
    found = []
    for environment in ENVIRONMENTS:
        found += [
            make_cell(environment, YARDSTICK, [0.42, 0.44]),
            make_cell(environment, "other", [0.6, 0.6]),
            make_cell(environment, AUTO, [reward - 0.01, reward + 0.01]),
        ]
    first, *promises = verdicts(found)
    assert first.holds is None
    assert [verdict.holds for verdict in promises] == kept
    _, *alone = verdicts([cell for cell in found if cell.place.name == ENVIRONMENTS[0]])
    assert len(alone) == 3
    for verdict in alone:
        assert verdict.holds is None
        assert verdict.text.startswith("Not judged: only one environment was played.")


def test_the_picture_has_a_curve_for_each_learner(cells) -> None:  # type: ignore[no-untyped-def]
    (figure,) = picture(cells)
    assert [line.label for line in figure.series] == ["good", "even", "odd"]
    assert figure.series[0].y == pytest.approx([0.8, 0.8])
    assert picture([cell for cell in cells if cell.budget == 1]) == []
