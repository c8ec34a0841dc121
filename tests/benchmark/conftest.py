"""Small worlds and made-up cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from pickbest.benchmark.cells import Result
from pickbest.benchmark.shares import Cell
from pickbest.benchmark.worlds import REAL, World
from pickbest.environments import Table

MakeCell = Callable[..., Cell]


@pytest.fixture
def table() -> Table:
    """12 rounds, 5 arms, no two rounds alike."""
    return Table(np.random.default_rng(0).random((12, 5)))


@pytest.fixture
def make_cell(table: Table) -> MakeCell:
    """A cell from its numbers."""

    def make(
        world: str,
        learner: str,
        rewards: Sequence[float],
        budget: int = 1,
        random: float = 0.0,
        best: float = 1.0,
        family: str | None = None,
        group: str = REAL,
    ) -> Cell:
        place = World(world, family or world, group, table)
        return Cell(
            place, budget, learner, Result(tuple(rewards), (best,), (random,), (best,), 0.1)
        )

    return make
