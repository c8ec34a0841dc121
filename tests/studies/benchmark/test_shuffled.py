"""Recorded tables whose rounds come in an order of their own in each replicate."""

from __future__ import annotations

import numpy as np

from pickbest.environments import Table
from pickbest.environments.tables import Shuffled
from pickbest.learners import Thompson
from pickbest.simulation.games import deal_all, play, play_dealt
from pickbest.simulation.simulate import simulate


def rows(table: np.ndarray) -> list[tuple[float, ...]]:
    return sorted(map(tuple, table.tolist()))


def test_every_replicate_plays_all_rounds_in_its_own_order(table: Table) -> None:
    dealt = deal_all(Shuffled(table), replicates=20, seed=3).table
    assert all(rows(each) == rows(table.costs_table) for each in dealt)
    assert len({each.tobytes() for each in dealt}) == 20
    assert not any(np.array_equal(each, table.costs_table) for each in dealt)


def test_order_follows_the_seed_and_the_replicate_alone(table: Table) -> None:
    whole = deal_all(Shuffled(table), 6, seed=1).table
    parts = [deal_all(Shuffled(table), 2, seed=1, first=first).table for first in (0, 2, 4)]
    np.testing.assert_array_equal(whole, np.concatenate(parts))
    assert not np.array_equal(whole, deal_all(Shuffled(table), 6, seed=2).table)


def test_round_by_round_and_workers_change_nothing(table: Table) -> None:
    environment, learner = Shuffled(table), Thompson(5, 2)
    whole = play_dealt(learner, deal_all(environment, 5, 7), 5, 7)
    np.testing.assert_array_equal(play(learner, environment, 5, 7).paid, whole.paid)
    split = simulate({"it": learner}, environment, replicates=5, seed=7, workers=2)
    np.testing.assert_array_equal(split.costs("it"), whole.paid)
