"""cmaes: CMA-ES in the unit cube with the default population."""

import numpy as np

from pickbest.core import FloatArray
from studies.tuning.optimizers.adapter import Sandbox, entries, small_seed
from studies.tuning.space import Point, Space


class CmaEs:
    """Starts in the middle of the cube with a step of a quarter of its side."""

    def __init__(self, space: Space, seed: int, calls: int) -> None:
        self._space = space
        self._sandbox = Sandbox(seed)
        self._generation: list[tuple[FloatArray, float]] = []
        dim = len(space.parameters)
        with self._sandbox.entered():
            from cmaes import CMA

            bounds = np.tile([0.0, 1.0], (dim, 1))
            self._cma = CMA(np.full(dim, 0.5), 0.25, bounds, seed=small_seed(seed))

    def ask(self) -> Point:
        with self._sandbox.entered():
            self._asked: FloatArray = self._cma.ask()
        return self._space.from_unit(self._asked)

    def tell(self, point: Point, loss: float) -> None:
        self._generation.append((self._asked, loss))
        if len(self._generation) == self._cma.population_size:
            with self._sandbox.entered():
                self._cma.tell(self._generation)
            self._generation = []


OPTIMIZERS = entries(CmaEs, ("cmaes", "CMAES", "cmaes", "covariance matrix adaptation, unit cube"))
