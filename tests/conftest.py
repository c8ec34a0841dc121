"""What tests share."""

from pathlib import Path

import numpy as np
import pytest

from pickbest.environments import Table


@pytest.fixture(scope="session")
def paper_rewards() -> Path:
    """The paper's recorded rewards."""
    from studies.paper.recorded_rewards import PUBLISHED

    return PUBLISHED


@pytest.fixture
def table():
    """12 rounds, 5 arms, no two rounds alike."""
    return Table(np.random.default_rng(0).random((12, 5)))


@pytest.fixture
def make_cell(table):
    """A cell of the benchmark from its numbers."""
    from studies.benchmark.environments import REAL, NamedEnvironment
    from studies.benchmark.shares import Cell, Result

    def make(
        environment, learner, rewards, budget=1, random=0.0, best=1.0, family=None, group=REAL
    ):
        place = NamedEnvironment(environment, family or environment, group, table)
        result = Result(tuple(rewards), (best,), (random,), (best,), 0.1)
        return Cell(place, budget, learner, result)

    return make
