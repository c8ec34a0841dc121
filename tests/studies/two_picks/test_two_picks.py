"""The page of two picks: as its functions say, and as its measurements say."""

import json
from functools import partial

import numpy as np
import pytest

from studies.two_picks import measure, page, probing


def test_the_page_is_what_its_functions_and_measurements_say():
    """After a change: python -m studies two-picks."""
    assert page.page() == page.PAGE.read_text(encoding="utf-8")


def test_no_measured_mean_is_above_its_bound():
    found = json.loads(measure.KEPT.read_text(encoding="utf-8"))
    assert len(found) > 60
    for name, rows in found.items():
        for mean, error, *bound in rows:
            assert not bound or mean <= bound[0] + 3 * error, name


def test_measured_cells_are_kept(tmp_path, monkeypatch):
    kept, played = tmp_path / "cells.json", []

    def play(name, replicates):
        played.append(name)
        return [[1.0, 0.1, replicates]]

    def cells(most):
        yield from ((name, partial(play, name)) for name in "ab"[:most])

    monkeypatch.setattr(measure, "cells", cells)
    measure.measure(1, 5, kept)
    measure.measure(2, 7, kept)
    assert played == ["a", "b"]
    assert json.loads(kept.read_text()) == {"a": [[1.0, 0.1, 5]], "b": [[1.0, 0.1, 7]]}


def test_all_names_of_cells_are_different():
    names = [name for name, _ in measure.cells(10**6)]
    assert len(names) == len(set(names)) > 70


@pytest.mark.slow
def test_watched_races_are_bounded_where_winners_teach_too_little():
    """All arms succeed or fail together: races whose losers are stopped, replayed as recorded."""
    ours, winners = (
        measure.race_cell(racer, 20_000, 8)[0]
        for racer in ("hedge-partial, half watched", "fpml-partial, winners only")
    )
    assert ours[0] <= ours[2]
    assert winners[0] > 1.4 * ours[0]


def test_guans_law_and_regret():
    scaled = np.random.default_rng(0).exponential(size=(50, 9)) * 10.0
    np.testing.assert_allclose((probing.tsallis_roots(scaled) ** 2).sum(axis=1), 1.0, rtol=1e-9)
    costs = np.ones(4)
    costs[2] = 0.0
    paid = probing.guan_costs(costs, 3_000, 20, seed=0)
    assert paid[:, -500:].mean() < 0.05
    assert paid.sum(axis=1).mean() < 32 * (4 - 2)
