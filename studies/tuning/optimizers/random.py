"""Uniform random search."""

import numpy as np

from studies.tuning.optimizers.adapter import entries
from studies.tuning.space import Point, Space


class RandomSearch:
    """Independent points, uniform on the scales of the parameters."""

    def __init__(self, space: Space, seed: int, calls: int) -> None:
        self._space = space
        self._rng = np.random.default_rng(seed)

    def ask(self) -> Point:
        return self._space.sample(self._rng)

    def tell(self, point: Point, loss: float) -> None:
        """Random search learns nothing."""


OPTIMIZERS = entries(
    RandomSearch, ("random", "RandomSearch", "", "uniform random search"), paper=True
)
