"""The share of the gap: the formula against brute force, and its averages."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from pickbest.environments import Chasing, Table, Task1
from pickbest.environments.tables import Shuffled
from pickbest.simulation.games import deal_all
from studies.benchmark.shares import best_reward, mean_shares, random_reward, references


@pytest.mark.parametrize("budget", [1, 2, 3, 4])
def test_random_and_best_equal_brute_force(table: Table, budget: int) -> None:
    costs = table.costs_table
    rewards = [
        1 - costs[:, list(arms)].min(axis=1).mean() for arms in combinations(range(5), budget)
    ]
    assert random_reward(costs, budget) == pytest.approx(np.mean(rewards))
    assert best_reward(costs, budget) == pytest.approx(max(rewards))


def test_references_do_not_depend_on_the_order(table: Table) -> None:
    in_order = references(table, 2, replicates=3, seed=0)
    assert references(Shuffled(table), 2, replicates=3, seed=0) == in_order
    assert len(in_order[0]) == len(in_order[1]) == 1


def test_references_follow_the_costs_of_each_replicate() -> None:
    environment = Task1(rounds=6)
    random, best = references(environment, 2, replicates=3, seed=4)
    dealt = deal_all(environment, 3, seed=4).table
    assert random == tuple(random_reward(each, 2) for each in dealt)
    assert best == tuple(best_reward(each, 2) for each in dealt)
    assert references(Chasing(4, 6, width=2), 2, replicates=3, seed=4) == ((), ())


def test_share_of_a_cell(make_cell) -> None:  # type: ignore[no-untyped-def]
    cell = make_cell("w", "x", [0.5, 0.7], random=0.4, best=0.8)
    assert cell.share == pytest.approx(0.5)
    assert cell.shares == pytest.approx([0.25, 0.75])
    assert cell.standard_error == pytest.approx(0.1)
    assert make_cell("w", "x", [0.5, 0.5], random=0.5, best=0.504).share is None


def test_a_family_counts_once(make_cell) -> None:  # type: ignore[no-untyped-def]
    cells = [
        make_cell("a", "x", [0.2, 0.2]),
        make_cell("a shuffled", "x", [0.6, 0.8], family="a"),
        make_cell("b", "x", [1.0, 1.0]),
        make_cell("too close", "x", [9.0, 9.0], random=0.5, best=0.5),
    ]
    assert mean_shares(cells) == pytest.approx([0.7, 0.75])
    assert mean_shares(cells[3:]) is None
