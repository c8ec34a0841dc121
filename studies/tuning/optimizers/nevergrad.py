"""Nevergrad: its automatic choice (NGOpt) and its portfolio."""

from typing import Any

import numpy as np

from studies.tuning.optimizers.adapter import Sandbox, decoded, dimensions, entries, small_seed
from studies.tuning.space import Point, Space


class Nevergrad:
    """The library chooses by the space and by the number of calls that are planned."""

    def __init__(self, optimizer: str, space: Space, seed: int, calls: int) -> None:
        self._space = space
        self._sandbox = Sandbox(seed)
        self._told: tuple[Any, float] | None = None
        with self._sandbox.entered():
            import nevergrad
            from nevergrad.optimization import recaster

            # A thread that waits for one more loss must not keep the process from ending.
            recaster._MessagingThread.daemon = True
            kinds = nevergrad.p
            parts = dimensions(
                space,
                choice=lambda p: kinds.Choice(p.choices),
                integer=lambda p: kinds.Scalar(lower=p.low, upper=p.high).set_integer_casting(),
                unit=lambda p: kinds.Scalar(lower=0.0, upper=1.0),
            )
            box = kinds.Tuple(*parts)
            box.random_state = np.random.RandomState(small_seed(seed))
            # A random start: from the middle, the automatic choice is the same for every seed.
            start = box.sample()
            self._optimizer = nevergrad.optimizers.registry[optimizer](start, budget=calls)

    def ask(self) -> Point:
        with self._sandbox.entered():
            # Some optimizers work on in a thread once they are told: it must stay inside.
            if self._told is not None:
                self._optimizer.tell(*self._told)
            self._candidate = self._optimizer.ask()
        return decoded(self._space, self._candidate.value)

    def tell(self, point: Point, loss: float) -> None:
        self._told = (self._candidate, loss)


OPTIMIZERS = entries(
    Nevergrad,
    ("nevergrad-ngopt", "Nevergrad-NGOpt", "nevergrad",
     "an optimizer chosen by the space and the number of calls", "NGOpt"),
    ("nevergrad-portfolio", "Nevergrad-Portfolio", "nevergrad", "several optimizers in turn",
     "Portfolio"),
)  # fmt: skip
